!> Owns what the programs of this folder have in common: a start, meshes, checks and answers.
!>
!> A check that fails stops the program. An answer is printed by the first rank and must not depend
!> on the number of ranks.
module checks_mod

  use constants_mod, only: i_def, l_def, r_def
  use extrusion_mod, only: PRIME_EXTRUSION, uniform_extrusion_type
  use function_space_collection_mod, only: function_space_collection, &
                                           function_space_collection_type
  use function_space_mod, only: function_space_type
  use lfric_mpi_mod, only: create_comm, destroy_comm, global_mpi, lfric_comm_type
  use local_mesh_mod, only: local_mesh_type
  use mesh_collection_mod, only: mesh_collection, mesh_collection_type
  use mesh_mod, only: mesh_type

  implicit none
  private

  public :: start_checks, finish_checks
  public :: new_mesh, new_sphere, space
  public :: check, answer

  integer(i_def), parameter, public :: layers = 3
  integer(i_def), parameter, public :: deepest = 3

contains

  !> Start to pass messages.
  subroutine start_checks()
    type(lfric_comm_type) :: comm

    call create_comm(comm)
    call global_mpi%initialise(comm)
    allocate (mesh_collection, source=mesh_collection_type())
    allocate (function_space_collection, source=function_space_collection_type())
  end subroutine start_checks

  !> Stop to pass messages.
  subroutine finish_checks()
    call destroy_comm()
  end subroutine finish_checks

  !> Return a mesh of cells of a metre, in tiles of single cells unless a size is given, of `layers`
  !> unless `height` says how many.
  function new_mesh(name, periodic, cells_x, cells_y, tile_size, inner_halo_tiles, height) &
      result(mesh)
    character(*), intent(in) :: name
    logical(l_def), intent(in) :: periodic
    integer(i_def), intent(in) :: cells_x, cells_y
    integer(i_def), optional, intent(in) :: tile_size(2)
    logical(l_def), optional, intent(in) :: inner_halo_tiles
    integer(i_def), optional, intent(in) :: height
    type(mesh_type), pointer :: mesh

    type(local_mesh_type), pointer :: plane
    integer(i_def) :: number

    number = layers
    if (present(height)) number = height
    allocate (plane)
    plane = local_mesh_type(name, cells_x, cells_y, 1.0_r_def, 1.0_r_def, periodic, periodic, &
                            halo_depth=deepest)
    mesh => mesh_collection%get_mesh(mesh_collection%add_new_mesh( &
      mesh_type(plane, uniform_extrusion_type(0.0_r_def, 3.0_r_def, number, PRIME_EXTRUSION), &
                tile_size=tile_size, inner_halo_tiles=inner_halo_tiles)))
  end function new_mesh

  !> Return a mesh of a sphere of a radius of 1.
  function new_sphere(name, edge_cells, tile_size, inner_halo_tiles, cells_together) result(mesh)
    character(*), intent(in) :: name
    integer(i_def), intent(in) :: edge_cells
    integer(i_def), optional, intent(in) :: tile_size(2)
    logical(l_def), optional, intent(in) :: inner_halo_tiles
    integer(i_def), optional, intent(in) :: cells_together
    type(mesh_type), pointer :: mesh

    type(local_mesh_type), pointer :: globe

    allocate (globe)
    globe = local_mesh_type(name, edge_cells, deepest, cells_together)
    mesh => mesh_collection%get_mesh(mesh_collection%add_new_mesh( &
      mesh_type(globe, uniform_extrusion_type(1.0_r_def, 3.0_r_def, layers, PRIME_EXTRUSION), &
                tile_size=tile_size, inner_halo_tiles=inner_halo_tiles)))
  end function new_sphere

  !> Return a space of an order in the horizontal and in the vertical, the lowest unless given.
  function space(mesh, fs, orders)
    type(mesh_type), pointer, intent(in) :: mesh
    integer(i_def), intent(in) :: fs
    integer(i_def), optional, intent(in) :: orders(2)
    type(function_space_type), pointer :: space

    integer(i_def) :: h_and_v(2)

    h_and_v = 0
    if (present(orders)) h_and_v = orders
    space => function_space_collection%get_fs(mesh, h_and_v(1), h_and_v(2), fs)
  end function space

  !> Stop the program if something does not hold.
  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what

    if (holds) return
    print '(a, i0, 2a)', 'rank ', global_mpi%get_comm_rank(), ': does not hold: ', what
    error stop 1
  end subroutine check

  !> Print a value with all its bits.
  subroutine answer(name, value)
    character(*), intent(in) :: name
    real(r_def), intent(in) :: value

    if (global_mpi%get_comm_rank() == 0) print '(2a, 1x, z16.16)', 'answer ', name, value
  end subroutine answer

end module checks_mod
