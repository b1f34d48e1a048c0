!> Times the step of the shallow-water example on a grid of any size, and prints the milliseconds of
!> the fastest and a number that follows from all it has computed. Usage: bench points runs
program bench

  use, intrinsic :: iso_fortran_env, only : int64, real64
  use basin_mod, only : add_hill, basin
  use bench_alg_mod, only : advance
  use field_mod, only : go_t_points, go_u_points, go_v_points, r2d_field
  use gocean_mod, only : gocean_finalise, gocean_initialise
  use grid_mod, only : grid_type
  use kind_params_mod, only : go_wp

  implicit none

  real(go_wp), parameter :: distance = 10.0e3_go_wp

  type(grid_type), target :: grid
  type(r2d_field) :: height, depth_u, depth_v, u, v, u_at_v, v_at_u
  real(real64) :: start, least
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
  print '(a, f12.4, es24.16)', 'shallow water:', 1e3 * least, sum(abs(height%data)) + sum(abs(u%data))
  call gocean_finalise()

contains

  !> Return the whole number that is an argument of the command.
  integer function number(position)
    integer, intent(in) :: position
    character(16) :: text

    call get_command_argument(position, text)
    read (text, *) number
  end function number

  !> Return the time in seconds.
  real(real64) function now()
    integer(int64) :: count, rate

    call system_clock(count, rate)
    now = real(count, real64) / real(rate, real64)
  end function now

end program bench
