!> A biperiodic plane of 6 by 4 cells and 5 layers, for the programs beside this file.
module small_plane_mod

  use constants_mod, only: i_def, r_def
  use extrusion_mod, only: PRIME_EXTRUSION, uniform_extrusion_type
  use function_space_collection_mod, only: function_space_collection, &
                                           function_space_collection_type
  use function_space_mod, only: function_space_type
  use local_mesh_mod, only: local_mesh_type
  use mesh_collection_mod, only: mesh_collection, mesh_collection_type
  use mesh_mod, only: mesh_type

  implicit none
  private

  public :: check, new_mesh, space

contains

  !> Return a mesh of this many cells, in the collection of meshes.
  function new_mesh(name, cells_x, cells_y) result(mesh)
    character(*), intent(in) :: name
    integer(i_def), intent(in) :: cells_x, cells_y
    type(mesh_type), pointer :: mesh

    type(local_mesh_type), pointer :: plane

    if (.not. allocated(mesh_collection)) then
      allocate (mesh_collection, source=mesh_collection_type())
      allocate (function_space_collection, source=function_space_collection_type())
    end if
    allocate (plane)
    plane = local_mesh_type(name, cells_x, cells_y, 1000.0_r_def, 1000.0_r_def)
    mesh => mesh_collection%get_mesh(mesh_collection%add_new_mesh( &
      mesh_type(plane, uniform_extrusion_type(0.0_r_def, 500.0_r_def, 5, PRIME_EXTRUSION))))
  end function new_mesh

  !> Return a space of lowest order over a mesh.
  function space(mesh, fs)
    type(mesh_type), pointer, intent(in) :: mesh
    integer(i_def), intent(in) :: fs
    type(function_space_type), pointer :: space

    space => function_space_collection%get_fs(mesh, 0_i_def, 0_i_def, fs)
  end function space

  !> Stop the program if something does not hold.
  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what

    if (holds) return
    print '(2a)', 'does not hold: ', what
    error stop 1
  end subroutine check

end module small_plane_mod
