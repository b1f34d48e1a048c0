!> The mesh of `../fortran/lfric/bench.f90` with lfric_core itself, which builds no tiles for it.
module bench_mesh_mod

  use constants_mod, only: i_def, r_def
  use mesh_mod, only: mesh_type
  use plane_mod, only: finish, make_mesh, start

  implicit none
  private

  public :: finish_bench, start_bench

contains

  !> Start MPI and LFRic, and make a periodic plane; the program's first argument is its size.
  subroutine start_bench(cells, layers, reach, mesh)
    integer(i_def), intent(in) :: cells, layers, reach
    type(mesh_type), pointer, intent(out) :: mesh

    call start('bench')
    call make_mesh(layers, 1.0_r_def, mesh)
    if (mesh%get_ncells_2d() /= cells**2) error stop 'the program is for one rank'
    if (mesh%get_halo_depth() < reach) error stop 'the halo is too narrow'
  end subroutine start_bench

  !> Finish LFRic and MPI.
  subroutine finish_bench()
    call finish()
  end subroutine finish_bench

end module bench_mesh_mod
