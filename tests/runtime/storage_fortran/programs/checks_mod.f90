!> Owns how the programs of the tests say what is wrong: a line for each, and a status at the end.
module checks_mod

  use, intrinsic :: iso_c_binding, only: c_int

  implicit none
  private

  public :: check, check_code, finish

  integer, save :: failures = 0

contains

  !> Say what does not hold.
  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what

    if (holds) return
    failures = failures + 1
    print '(2a)', 'not so: ', what
  end subroutine check

  !> Say which code came in place of the expected one.
  subroutine check_code(code, expected, what)
    integer(c_int), intent(in) :: code
    integer(c_int), intent(in) :: expected
    character(*), intent(in) :: what

    if (code == expected) return
    failures = failures + 1
    print '(2a, 2(a, i0))', 'not so: ', what, ' gave ', code, ', not ', expected
  end subroutine check_code

  !> Stop with the status that says whether all was right.
  subroutine finish()
    if (failures > 0) error stop 1
  end subroutine finish

end module checks_mod
