module counter_mod

  use constants_mod, only : r_def

  implicit none

  private
  public :: count_call

  integer :: calls = 0

contains

  subroutine count_call(x)
    real(r_def), intent(inout) :: x

    call advance(x)
  end subroutine count_call

  subroutine advance(x)
    real(r_def), intent(inout) :: x

    calls = calls + 1
    x = x + calls
  end subroutine advance

end module counter_mod
