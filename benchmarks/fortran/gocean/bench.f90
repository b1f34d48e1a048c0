!> Times the step of the shallow-water example on a grid of any size, and prints the least
!> milliseconds, by the clock and of processors, and a number that follows from all it has computed.
!> Then the same for a triad over as many bytes as the step works on. Usage: bench points runs
program bench

  use, intrinsic :: iso_fortran_env, only : real64
  use basin_mod, only : add_hill, basin
  use bench_alg_mod, only : advance
  use field_mod, only : go_t_points, go_u_points, go_v_points, r2d_field
  use gocean_mod, only : gocean_finalise, gocean_initialise
  use grid_mod, only : grid_type
  use kind_params_mod, only : go_wp
  use parallel_utils_mod, only : global_sum
  use timing_mod, only : now, number, report, time_triad

  implicit none

  real(go_wp), parameter :: distance = 10.0e3_go_wp

  type(grid_type), target :: grid
  type(r2d_field) :: height, depth_u, depth_v, u, v, u_at_v, v_at_u
  real(real64) :: start(2), least(2)
  real(go_wp) :: total
  integer :: run

  call gocean_initialise()
  grid = basin(number(1), distance)
  height = r2d_field(grid, go_t_points)
  u = r2d_field(grid, go_u_points)
  v = r2d_field(grid, go_v_points)
  depth_u = r2d_field(grid, go_u_points)
  depth_v = r2d_field(grid, go_v_points)
  u_at_v = r2d_field(grid, go_v_points)
  v_at_u = r2d_field(grid, go_u_points)
  depth_u%data = 100.0_go_wp
  depth_v%data = 100.0_go_wp
  call add_hill(height)

  least = huge(least)
  do run = 1, number(2)
    start = now()
    call advance(height, u, v, u_at_v, v_at_u, depth_u, depth_v)
    least = min(least, now() - start)
  end do
  total = total_of(height) + total_of(u)
  call global_sum(total)
  call report('shallow water', least, total)
  call time_triad('shallow water', 7 * size(height%data), number(2))
  call gocean_finalise()

contains

  !> Return the sum of what this rank computes of a field, without signs.
  real(go_wp) function total_of(field)
    type(r2d_field), intent(in) :: field

    associate (own => field%internal)
      total_of = sum(abs(field%data(own%xstart:own%xstop, own%ystart:own%ystop)))
    end associate
  end function total_of

end program bench
