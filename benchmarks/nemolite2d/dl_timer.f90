!> What routines beside the kernels, which nobody calls here, need to be compiled.
module dl_timer

  use, intrinsic :: iso_fortran_env, only: int64

  implicit none
  public

  integer, parameter :: i_def64 = int64

contains

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

end module dl_timer
