!> Spreads two spots over a biperiodic plane, by multigrid cycles on four meshes, on any number of
!> ranks.
!>
!> Prints the sum of what was spread and the norm of the residual after each cycle; the sum is that
!> of the spots, and every cycle takes the same share of the residual, however fine the mesh.
!> Writes what there is after a cycle to a file of each rank, `spread_<cycle>.<rank>`: x, y, value.
program multigrid

  use constants_mod, only: i_def, r_def
  use extrusion_mod, only: PRIME_EXTRUSION, uniform_extrusion_type
  use field_mod, only: field_proxy_type, field_type
  use fs_continuity_mod, only: W3
  use function_space_collection_mod, only: function_space_collection, &
                                           function_space_collection_type
  use lfric_mpi_mod, only: create_comm, destroy_comm, global_mpi, lfric_comm_type
  use local_mesh_mod, only: local_mesh_type
  use mesh_collection_mod, only: mesh_collection, mesh_collection_type
  use mesh_mod, only: mesh_type
  use multigrid_alg_mod, only: cycle_once, level_type, measure

  implicit none

  !> A pointer to a mesh, for an array of them.
  type :: mesh_holder_type
    type(mesh_type), pointer :: mesh => null()
  end type mesh_holder_type

  integer(i_def), parameter :: cells = 64, depth_of_halo = 2
  integer, parameter :: number_of_levels = 4, cycles = 16
  real(r_def), parameter :: width = 1000.0_r_def, radius = 20000.0_r_def  ! in metres

  type(lfric_comm_type) :: comm
  type(mesh_holder_type) :: meshes(number_of_levels)
  type(level_type) :: levels(number_of_levels)
  integer :: number

  call create_comm(comm)
  call global_mpi%initialise(comm)
  call make_meshes()
  call make_levels()
  call place_spots()

  call print_state(0)
  do number = 1, cycles
    call cycle_once(levels, 1)
    call print_state(number)
    call write_result(number)
  end do
  call destroy_comm()

contains

  !> Make the meshes, each with cells twice as wide as the one before, and the maps between them.
  subroutine make_meshes()
    type(local_mesh_type), pointer :: plane
    integer(i_def) :: together
    integer :: level
    character(8) :: name

    allocate (mesh_collection, source=mesh_collection_type())
    allocate (function_space_collection, source=function_space_collection_type())
    do level = 1, number_of_levels
      together = 2_i_def**(number_of_levels - level)
      write (name, '(a, i0)') 'level', level
      allocate (plane)
      plane = local_mesh_type(trim(name), cells / 2**(level - 1), cells / 2**(level - 1), &
                              width * 2**(level - 1), width * 2**(level - 1), &
                              halo_depth=depth_of_halo, cells_together=together)
      meshes(level)%mesh => mesh_collection%get_mesh(mesh_collection%add_new_mesh( &
        mesh_type(plane, uniform_extrusion_type(0.0_r_def, 1.0_r_def, 1_i_def, PRIME_EXTRUSION))))
    end do
    do level = 1, number_of_levels - 1
      call meshes(level)%mesh%add_mesh_map(meshes(level + 1)%mesh)
      call meshes(level + 1)%mesh%add_mesh_map(meshes(level)%mesh)
    end do
  end subroutine make_meshes

  !> Make the fields of all levels.
  subroutine make_levels()
    integer :: level

    do level = 1, number_of_levels
      associate (here => levels(level))
        here%c = (radius / (width * 2**(level - 1)))**2
        call new_field(here%x, meshes(level)%mesh)
        call new_field(here%better, meshes(level)%mesh)
        call new_field(here%b, meshes(level)%mesh)
        call new_field(here%residual, meshes(level)%mesh)
      end associate
    end do
  end subroutine make_levels

  !> Make a field of zeros on W3.
  subroutine new_field(field, mesh)
    type(field_type), intent(inout) :: field
    type(mesh_type), pointer, intent(in) :: mesh
    type(field_proxy_type) :: proxy

    call field%initialise(function_space_collection%get_fs(mesh, 0_i_def, 0_i_def, W3), &
                          halo_depth=depth_of_halo)
    proxy = field%get_proxy()
    proxy%data = 0.0_r_def
  end subroutine new_field

  !> Put 1 into one cell and 2 into another, in owned cells: what others own is left to exchanges.
  subroutine place_spots()
    type(field_proxy_type) :: proxy
    integer(i_def), pointer :: map(:)
    integer(i_def) :: cell
    real(r_def) :: place(3)

    proxy = levels(1)%b%get_proxy()
    do cell = 1, meshes(1)%mesh%get_last_edge_cell()
      call meshes(1)%mesh%get_cell_centre_coords(cell, place)
      map => proxy%vspace%get_cell_dofmap(cell)
      if (is_at(place, 12.0_r_def, 20.0_r_def)) proxy%data(map(1)) = 1.0_r_def
      if (is_at(place, 45.0_r_def, 39.0_r_def)) proxy%data(map(1)) = 2.0_r_def
    end do
    call proxy%set_dirty()
  end subroutine place_spots

  !> Return whether a cell, by its centre, holds the point just beyond so many widths.
  logical function is_at(place, x, y)
    real(r_def), intent(in) :: place(3), x, y

    is_at = all(abs(place(:2) / width - [x, y] - 0.5_r_def) < 0.5_r_def)
  end function is_at

  !> Print how far the cycles have come.
  subroutine print_state(after)
    integer, intent(in) :: after

    real(r_def) :: total_x, total_b, norm

    call measure(levels(1), total_x, total_b, norm)
    if (global_mpi%get_comm_rank() == 0) &
      print '(a, i3, 3(a, es23.16))', 'cycle', after, '  sum', total_x, '  of', total_b, &
        '  residual', sqrt(norm)
  end subroutine print_state

  !> Write the result.
  subroutine write_result(after)
    integer, intent(in) :: after

    type(field_proxy_type) :: proxy
    integer(i_def), pointer :: map(:)
    character(32) :: file_name
    integer(i_def) :: cell
    integer :: unit
    real(r_def) :: place(3)

    proxy = levels(1)%x%get_proxy()
    call proxy%bring_to_host()
    write (file_name, '(a, i3.3, a, i0)') 'spread_', after, '.', global_mpi%get_comm_rank()
    open (newunit=unit, file=file_name, action='write', status='replace')
    do cell = 1, meshes(1)%mesh%get_last_edge_cell()
      call meshes(1)%mesh%get_cell_centre_coords(cell, place)
      map => proxy%vspace%get_cell_dofmap(cell)
      write (unit, '(2f9.1, es25.16e3)') place(:2), proxy%data(map(1))
    end do
    close (unit)
  end subroutine write_result

end program multigrid
