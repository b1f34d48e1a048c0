!> The mesh of `bench.f90` with this project's infrastructure.
module bench_mesh_mod

  use constants_mod, only: i_def, r_def
  use extrusion_mod, only: PRIME_EXTRUSION, uniform_extrusion_type
  use function_space_collection_mod, only: function_space_collection, &
                                           function_space_collection_type
  use lfric_mpi_mod, only: create_comm, destroy_comm, global_mpi, lfric_comm_type
  use local_mesh_mod, only: local_mesh_type
  use mesh_collection_mod, only: mesh_collection, mesh_collection_type
  use mesh_mod, only: mesh_type

  implicit none
  private

  public :: finish_bench, start_bench

  integer(i_def), parameter :: rows_of_tiles = 8
  type(lfric_comm_type) :: comm

contains

  !> Start MPI, and make a periodic plane with tiles of complete rows of cells.
  subroutine start_bench(cells, layers, reach, mesh)
    integer(i_def), intent(in) :: cells, layers, reach
    type(mesh_type), pointer, intent(out) :: mesh
    type(local_mesh_type), pointer :: plane

    call create_comm(comm)
    call global_mpi%initialise(comm)
    allocate (mesh_collection, source=mesh_collection_type())
    allocate (function_space_collection, source=function_space_collection_type())
    allocate (plane)
    plane = local_mesh_type('plane', cells, cells, 1.0_r_def, 1.0_r_def, halo_depth=reach)
    mesh => mesh_collection%get_mesh(mesh_collection%add_new_mesh( &
      mesh_type(plane, uniform_extrusion_type(0.0_r_def, 1.0_r_def, layers, PRIME_EXTRUSION), &
                tile_size=[cells, max(1_i_def, cells / rows_of_tiles)])))
  end subroutine start_bench

  !> Finish MPI.
  subroutine finish_bench()
    call destroy_comm()
  end subroutine finish_bench

end module bench_mesh_mod
