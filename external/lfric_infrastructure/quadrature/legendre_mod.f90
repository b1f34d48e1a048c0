!> The Legendre polynomials, from whose zeros the Gaussian rules are made.
module legendre_mod

  use constants_mod, only: i_def, r_def

  implicit none
  private

  public :: legendre

contains

  !> Set the value at x of the Legendre polynomial of a degree, and its derivative; |x| < 1.
  pure subroutine legendre(degree, x, value, derivative)
    integer(i_def), intent(in) :: degree
    real(r_def), intent(in) :: x
    real(r_def), intent(out) :: value
    real(r_def), intent(out) :: derivative

    real(r_def) :: before, before_that
    integer(i_def) :: n

    before = 0.0_r_def
    value = 1.0_r_def
    do n = 1, degree
      before_that = before
      before = value
      value = (real(2 * n - 1, r_def) * x * before - real(n - 1, r_def) * before_that) / &
              real(n, r_def)
    end do
    derivative = real(degree, r_def) * (before - x * value) / (1.0_r_def - x * x)
  end subroutine legendre

end module legendre_mod
