!> Times the step of the shallow-water example on a grid of any size, and prints the least
!> milliseconds, by the clock and of processors, and a number that follows from all it has computed.
!> Then the same for a triad over as many bytes as the step works on. Usage: bench points runs
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
  real(real64) :: start(2), least(2)
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
  call report('shallow water', least, sum(abs(height%data)) + sum(abs(u%data)))
  call time_triad('shallow water', 7 * size(height%data))
  call gocean_finalise()

contains

  !> Return the whole number that is an argument of the command.
  integer function number(position)
    integer, intent(in) :: position
    character(16) :: text

    call get_command_argument(position, text)
    read (text, *) number
  end function number

  !> Time `z = x + a y`, on three arrays of so many numbers together; the number that is
  !> printed is how many bytes that moves.
  subroutine time_triad(name, numbers)
    character(*), intent(in) :: name
    integer, intent(in) :: numbers
    real(go_wp), allocatable :: x(:), y(:), z(:)
    integer :: length

    length = numbers / 3
    allocate (x(length), y(length), z(length))
    x = 1.0_go_wp
    y = 2.0_go_wp
    z = 0.0_go_wp
    least = huge(least)
    do run = 1, number(2)
      start = now()
      call add(z, x, y, length)
      least = min(least, now() - start)
    end do
    if (sum(z) < 0.0_go_wp) error stop 'a triad has gone wrong'
    call report('triad of '//name, least, 24.0_go_wp * length)
  end subroutine time_triad

  !> Set z to x + a y.
  subroutine add(z, x, y, length)
    integer, intent(in) :: length
    real(go_wp), intent(inout) :: z(length)
    real(go_wp), intent(in) :: x(length), y(length)
    integer :: at

    !$omp parallel do
    do at = 1, length
      z(at) = x(at) + 0.01_go_wp * y(at)
    end do
  end subroutine add

  !> Return the time in seconds, by the clock and of all processors.
  function now() result(seconds)
    real(real64) :: seconds(2)
    integer(int64) :: count, rate

    call system_clock(count, rate)
    seconds(1) = real(count, real64) / real(rate, real64)
    call cpu_time(seconds(2))
  end function now

  !> Print the milliseconds of a case, and its number.
  subroutine report(name, seconds, value)
    character(*), intent(in) :: name
    real(real64), intent(in) :: seconds(2)
    real(go_wp), intent(in) :: value

    print '(a, ":", 2f12.4, es24.16)', name, 1e3 * seconds, value
  end subroutine report

end program bench
