!> Exchanges of depth 1 between two halves of an LFRic plane, on W3, of which both send as much.
program lfric

  use, intrinsic :: iso_fortran_env, only: int64
  use bare_mod, only: report
  use constants_mod, only: i_def, r_def
  use extrusion_mod, only: PRIME_EXTRUSION, uniform_extrusion_type
  use field_mod, only: field_proxy_type, field_type
  use fs_continuity_mod, only: W3
  use function_space_mod, only: function_space_type
  use halo_statistics_mod, only: get_halo_statistics, halo_statistics_type, reset_halo_statistics
  use lfric_mpi_mod, only: create_comm, destroy_comm, global_mpi, lfric_comm_type
  use local_mesh_mod, only: local_mesh_type
  use function_space_collection_mod, only: function_space_collection, &
      function_space_collection_type
  use mesh_collection_mod, only: mesh_collection, mesh_collection_type
  use mesh_mod, only: mesh_type

  implicit none

  integer(i_def), parameter :: layers = 32
  type(lfric_comm_type) :: comm
  type(field_proxy_type) :: proxy
  integer :: n

  call create_comm(comm)
  call global_mpi%initialise(comm)
  allocate (mesh_collection, source=mesh_collection_type())
  allocate (function_space_collection, source=function_space_collection_type())
  do n = 0, 5
    call measure(int(8 * 2**n, i_def))
  end do
  call destroy_comm()

contains

  !> Time exchanges of a row of so many cells, with all their layers.
  subroutine measure(cells)
    integer(i_def), intent(in) :: cells
    type(local_mesh_type), pointer :: plane
    type(mesh_type), pointer :: mesh
    type(field_type) :: field
    type(halo_statistics_type) :: once
    character(32) :: mesh_name

    write (mesh_name, '(a, i0)') 'plane', cells
    allocate (plane)
    plane = local_mesh_type(trim(mesh_name), cells, cells, 1.0_r_def, 1.0_r_def, &
        .false., .false., halo_depth=1_i_def)
    mesh => mesh_collection%get_mesh(mesh_collection%add_new_mesh(mesh_type(plane, &
        uniform_extrusion_type(0.0_r_def, real(layers, r_def), layers, PRIME_EXTRUSION))))
    call field%initialise(function_space_collection%get_fs(mesh, 0_i_def, 0_i_def, W3))
    proxy = field%get_proxy()
    call exchange()
    call reset_halo_statistics()
    call exchange()
    once = get_halo_statistics()
    call report('lfric W3', once%bytes, exchange)
  end subroutine measure

  subroutine exchange()
    call proxy%halo_exchange(depth=1)
  end subroutine exchange

end program lfric
