!> Owns a procedure that does nothing, in a file of its own so that no compiler sees that.
module nothing_mod

  implicit none
  private

  public :: nothing

contains

  !> Do nothing with a number.
  subroutine nothing(number)
    integer, intent(in) :: number

    if (number < 0) error stop
  end subroutine nothing

end module nothing_mod
