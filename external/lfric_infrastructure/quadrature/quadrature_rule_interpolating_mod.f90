!> The weights that integrate the polynomial through given points.
module quadrature_rule_interpolating_mod

  use constants_mod, only: i_def, r_def

  implicit none
  private

  public :: interpolating_weights

contains

  !> Return the integrals over [0, 1] of the Lagrange polynomials of some points.
  pure function interpolating_weights(points) result(weights)
    real(r_def), intent(in) :: points(:)
    real(r_def) :: weights(size(points))

    ! Coefficients of a Lagrange polynomial, of the powers from 0
    real(r_def) :: coefficients(0:size(points))
    integer(i_def) :: i, j, power

    do i = 1, size(points, kind=i_def)
      coefficients = 0.0_r_def
      coefficients(0) = 1.0_r_def
      do j = 1, size(points, kind=i_def)
        if (j == i) cycle
        coefficients = (eoshift(coefficients, -1) - points(j) * coefficients) / &
                       (points(i) - points(j))
      end do
      weights(i) = sum([(coefficients(power) / real(power + 1, r_def), &
                         power=0, size(points, kind=i_def))])
    end do
  end function interpolating_weights

end module quadrature_rule_interpolating_mod
