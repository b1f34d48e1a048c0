!> Run steps of NEMOLite2D in a closed basin with an open boundary in the south, and write all fields.
!>
!> The words of the command line: the number of points in each direction, the number of steps, and the
!> file for the values of all fields in their internal regions, one field behind the other. What
!> storages have moved is printed before and behind the output.
program main

  use, intrinsic :: iso_fortran_env, only: int64
  use bay_mod, only: make_fields, make_grid, one_step, ssha_t, ssha_u, ssha_v, sshn_t, sshn_u, &
      sshn_v, ua, un, va, vn
  use field_mod, only: r2d_field
  use gocean_mod, only: gocean_finalise, gocean_initialise
  use kind_params_mod, only: go_wp
  use storage_statistics_mod, only: print_statistics

  implicit none

  integer :: file, number, points, steps
  integer(int64) :: start, finish, rate
  character(256) :: word

  call get_command_argument(1, word)
  read (word, *) points
  call get_command_argument(2, word)
  read (word, *) steps
  call gocean_initialise()
  call make_grid(points)
  call make_fields()
  ! The first step is not timed: it is where memory is first touched.
  number = 1
  call one_step(number)
  call system_clock(start, rate)
  do number = 2, steps
    call one_step(number)
  end do
  call system_clock(finish)
  call print_statistics('computed')
  call get_command_argument(3, word)
  open (newunit=file, file=word, access='stream', form='unformatted', action='write', &
      status='replace')
  call write_fields()
  close (file)
  call print_statistics('written')
  print '(a, es12.5)', 'seconds a step: ', &
      real(finish - start, go_wp) / real(rate, go_wp) / max(1, steps - 1)
  call gocean_finalise()

contains

  !> Write all fields.
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

  !> Write the internal region of a field.
  subroutine write_field(field)
    type(r2d_field), target, intent(inout) :: field

    real(go_wp), pointer :: values(:, :)

    values => field%get_data()
    associate (inside => field%internal)
      write (file) values(inside%xstart:inside%xstop, inside%ystart:inside%ystop)
    end associate
  end subroutine write_field

end program main
