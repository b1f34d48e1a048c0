!> What the programs of `generated.py` share: arguments, clocks, and a triad to compare with.
module timing_mod

  use, intrinsic :: iso_fortran_env, only: int64, real64

  implicit none
  private

  public :: now, number, report, time_triad

contains

  !> Return the integer that is an argument of the command.
  integer function number(position)
    integer, intent(in) :: position
    character(16) :: text

    call get_command_argument(position, text)
    read (text, *) number
  end function number

  !> Return the time in seconds, by the clock and of all processors of this rank.
  function now() result(seconds)
    real(real64) :: seconds(2)
    integer(int64) :: count, rate

    call system_clock(count, rate)
    seconds(1) = real(count, real64) / real(rate, real64)
    call cpu_time(seconds(2))
  end function now

  !> Print the milliseconds of a case, and its number. Each rank does.
  subroutine report(name, seconds, value)
    character(*), intent(in) :: name
    real(real64), intent(in) :: seconds(2)
    real(real64), intent(in) :: value

    print '(a, ":", 2f12.4, es24.16)', name, 1e3 * seconds, value
  end subroutine report

  !> Time `z = x + a y`, on three arrays of so many numbers together; the number that is
  !> printed is how many bytes that moves.
  subroutine time_triad(name, numbers, runs)
    character(*), intent(in) :: name
    integer, intent(in) :: numbers, runs
    real(real64), allocatable :: x(:), y(:), z(:)
    real(real64) :: start(2), least(2)
    integer :: run, length

    length = numbers / 3
    allocate (x(length), y(length), z(length))
    x = 1.0_real64
    y = 2.0_real64
    z = 0.0_real64
    least = huge(least)
    do run = 1, runs
      start = now()
      call add(z, x, y, length)
      least = min(least, now() - start)
    end do
    if (sum(z) < 0.0_real64) error stop 'a triad has gone wrong'
    call report('triad of '//name, least, 24.0_real64 * length)
  end subroutine time_triad

  !> Set z to x + a y.
  subroutine add(z, x, y, length)
    integer, intent(in) :: length
    real(real64), intent(inout) :: z(length)
    real(real64), intent(in) :: x(length), y(length)
    integer :: at

    !$omp parallel do
    do at = 1, length
      z(at) = x(at) + 0.01_real64 * y(at)
    end do
  end subroutine add

end module timing_mod
