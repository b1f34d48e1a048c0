!> Run steps of NEMOLite2D in a closed basin with an open boundary in the south, and write all fields.
!>
!> The words of the command line: the number of points in each direction, the number of steps, and the
!> file for the values of all fields in their internal regions, one field behind the other. What
!> storages have moved is printed before and behind the output. At the end stand the least milliseconds
!> of a step, by the clock and of processors, with a number that follows from all fields, and the
!> seconds of a step on average.
program main

  use, intrinsic :: iso_fortran_env, only: int64, real64
  use field_mod, only: go_t_points, go_u_points, go_v_points, r2d_field
  use gocean_mod, only: gocean_finalise, gocean_initialise
  use grid_mod, only: go_arakawa_c, go_bc_external, go_bc_none, go_offset_ne, grid_init, grid_type
  use kind_params_mod, only: go_wp
  use storage_statistics_mod, only: print_statistics

  implicit none

  interface
    subroutine step(istp, ua, va, un, vn, sshn_t, sshn_u, sshn_v, ssha_t, ssha_u, ssha_v, hu, hv, ht)
      import :: r2d_field
      integer, intent(inout) :: istp
      type(r2d_field), intent(inout) :: un, vn, sshn_t, sshn_u, sshn_v
      type(r2d_field), intent(inout) :: ua, va, ssha_t, ssha_u, ssha_v
      type(r2d_field), intent(inout) :: hu, hv, ht
    end subroutine step
  end interface

  type(grid_type), target :: grid
  type(r2d_field), target :: ua, va, un, vn, sshn_t, sshn_u, sshn_v, ssha_t, ssha_u, ssha_v
  type(r2d_field), target :: hu, hv, ht
  real(real64) :: start(2), taken(2), least(2), all_taken
  real(go_wp) :: total
  integer :: file, number, points, steps
  character(256) :: word

  call get_command_argument(1, word)
  read (word, *) points
  call get_command_argument(2, word)
  read (word, *) steps
  call gocean_initialise()
  call make_grid()
  call make_fields()
  ! The first step is not timed: it is where memory is first touched.
  number = 1
  call one_step()
  least = huge(least)
  all_taken = 0
  do number = 2, steps
    start = now()
    call one_step()
    taken = now() - start
    least = min(least, taken)
    all_taken = all_taken + taken(1)
  end do
  call print_statistics('computed')
  call get_command_argument(3, word)
  open (newunit=file, file=word, access='stream', form='unformatted', action='write', &
      status='replace')
  total = 0
  call write_fields()
  close (file)
  call print_statistics('written')
  print '(a, ":", 2f12.4, es24.16)', 'step', 1e3 * least, total
  print '(a, es12.5)', 'seconds a step: ', all_taken / max(1, steps - 1)
  call gocean_finalise()

contains

  !> Do the step of this number.
  subroutine one_step()
    integer :: istp

    istp = number
    call step(istp, ua, va, un, vn, sshn_t, sshn_u, sshn_v, ssha_t, ssha_u, ssha_v, hu, hv, ht)
  end subroutine one_step

  !> Make a grid of sea, with land on three sides and an open boundary in the south.
  subroutine make_grid()
    integer, allocatable :: mask(:, :)

    grid = grid_type(go_arakawa_c, [go_bc_external, go_bc_external, go_bc_none], go_offset_ne)
    call grid%decompose(points, points)
    associate (inside => grid%subdomain%internal, all => grid%subdomain%global)
      allocate (mask(all%nx, all%ny), source=0)
      mask(inside%xstart:inside%xstop, inside%ystart:inside%ystop) = 1
      mask(:, :inside%ystart - 1) = -1
    end associate
    call grid_init(grid, 1000.0_go_wp, 1000.0_go_wp, mask)
  end subroutine make_grid

  !> Make all fields: water at rest, 100 metres deep.
  subroutine make_fields()
    ua = r2d_field(grid, go_u_points)
    va = r2d_field(grid, go_v_points)
    un = r2d_field(grid, go_u_points)
    vn = r2d_field(grid, go_v_points)
    sshn_t = r2d_field(grid, go_t_points)
    sshn_u = r2d_field(grid, go_u_points)
    sshn_v = r2d_field(grid, go_v_points)
    ssha_t = r2d_field(grid, go_t_points)
    ssha_u = r2d_field(grid, go_u_points)
    ssha_v = r2d_field(grid, go_v_points)
    hu = r2d_field(grid, go_u_points)
    hv = r2d_field(grid, go_v_points)
    ht = r2d_field(grid, go_t_points)
    hu%data = 100.0_go_wp
    hv%data = 100.0_go_wp
    ht%data = 100.0_go_wp
  end subroutine make_fields

  !> Return the time in seconds, by the clock and of all processors.
  function now() result(seconds)
    real(real64) :: seconds(2)
    integer(int64) :: count, rate

    call system_clock(count, rate)
    seconds(1) = real(count, real64) / real(rate, real64)
    call cpu_time(seconds(2))
  end function now

  !> Write all fields, and add up their values.
  subroutine write_fields()
    call write_field(ua)
    call write_field(va)
    call write_field(un)
    call write_field(vn)
    call write_field(sshn_t)
    call write_field(sshn_u)
    call write_field(sshn_v)
    call write_field(ssha_t)
    call write_field(ssha_u)
    call write_field(ssha_v)
  end subroutine write_fields

  !> Write the internal region of a field, and add its values to the total.
  subroutine write_field(field)
    type(r2d_field), target, intent(inout) :: field

    real(go_wp), pointer :: values(:, :)

    values => field%get_data()
    total = total + sum(abs(values))
    associate (inside => field%internal)
      write (file) values(inside%xstart:inside%xstop, inside%ystart:inside%ystop)
    end associate
  end subroutine write_field

end program main
