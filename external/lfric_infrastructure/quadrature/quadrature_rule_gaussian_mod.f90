!> The Gauss-Legendre rules: n points integrate polynomials of degree 2n - 1.
module quadrature_rule_gaussian_mod

  use constants_mod, only: i_def, PI, r_def
  use legendre_mod, only: legendre
  use quadrature_rule_mod, only: quadrature_rule_type

  implicit none
  private

  !> Enough for Newton's method to reach rounding from the usual estimates of the zeros.
  integer, parameter :: newton_iterations = 8

  !> The Gauss-Legendre rules.
  type, extends(quadrature_rule_type), public :: quadrature_rule_gaussian_type
  contains
    procedure, public :: quadrature_rule
  end type quadrature_rule_gaussian_type

contains

  !> Return the points and weights of the rule with this many points.
  function quadrature_rule(self, nqp_1d)
    class(quadrature_rule_gaussian_type), intent(in) :: self
    integer(i_def), intent(in) :: nqp_1d
    real(r_def) :: quadrature_rule(nqp_1d, 2)

    real(r_def) :: derivative, value, x
    integer(i_def) :: i, iteration

    do i = 1, nqp_1d
      x = -cos(PI * (real(i, r_def) - 0.25_r_def) / (real(nqp_1d, r_def) + 0.5_r_def))
      do iteration = 1, newton_iterations
        call legendre(nqp_1d, x, value, derivative)
        x = x - value / derivative
      end do
      call legendre(nqp_1d, x, value, derivative)
      quadrature_rule(i, :) = [0.5_r_def * (1.0_r_def + x), &
                               1.0_r_def / ((1.0_r_def - x * x) * derivative**2)]
    end do
  end function quadrature_rule

end module quadrature_rule_gaussian_mod
