!> What the model calls of its timing library: nothing is timed.
module dl_timer

  use, intrinsic :: iso_fortran_env, only: int64

  implicit none
  public

  integer, parameter :: i_def64 = int64

contains

  !> Do nothing.
  subroutine timer_init()
  end subroutine timer_init

  !> Do nothing.
  subroutine timer_start(index, label, num_repeats)
    integer, intent(inout) :: index
    character(*), intent(in), optional :: label
    integer(i_def64), intent(in), optional :: num_repeats
  end subroutine timer_start

  !> Do nothing.
  subroutine timer_stop(index)
    integer, intent(in) :: index
  end subroutine timer_stop

  !> Do nothing.
  subroutine timer_report()
  end subroutine timer_report

end module dl_timer
