!> The Gauss-Lobatto rules: the ends are among the n points, which integrate degree 2n - 3.
module quadrature_rule_gauss_lobatto_mod

  use constants_mod, only: i_def, PI, r_def
  use legendre_mod, only: legendre
  use quadrature_rule_interpolating_mod, only: interpolating_weights
  use quadrature_rule_mod, only: quadrature_rule_type

  implicit none
  private

  !> Enough for Newton's method to reach rounding from the zeros of a cosine.
  integer, parameter :: newton_iterations = 8

  !> The Gauss-Lobatto rules, of two points or more.
  type, extends(quadrature_rule_type), public :: quadrature_rule_gauss_lobatto_type
  contains
    procedure, public :: quadrature_rule
  end type quadrature_rule_gauss_lobatto_type

contains

  !> Return the points and weights of the rule with this many points: the inner ones are the zeros
  !> of the derivative of a Legendre polynomial, found with the help of its differential equation.
  function quadrature_rule(self, nqp_1d)
    class(quadrature_rule_gauss_lobatto_type), intent(in) :: self
    integer(i_def), intent(in) :: nqp_1d
    real(r_def) :: quadrature_rule(nqp_1d, 2)

    real(r_def) :: curvature, derivative, value, x
    integer(i_def) :: degree, i, iteration

    if (nqp_1d < 2) error stop 'quadrature_rule_gauss_lobatto: the rule needs two points'
    degree = nqp_1d - 1
    quadrature_rule(1, 1) = 0.0_r_def
    quadrature_rule(nqp_1d, 1) = 1.0_r_def
    do i = 2, nqp_1d - 1
      x = -cos(PI * real(i - 1, r_def) / real(degree, r_def))
      do iteration = 1, newton_iterations
        call legendre(degree, x, value, derivative)
        curvature = (2.0_r_def * x * derivative - real(degree * (degree + 1), r_def) * value) / &
                    (1.0_r_def - x * x)
        x = x - derivative / curvature
      end do
      quadrature_rule(i, 1) = 0.5_r_def * (1.0_r_def + x)
    end do
    quadrature_rule(:, 2) = interpolating_weights(quadrature_rule(:, 1))
  end function quadrature_rule

end module quadrature_rule_gauss_lobatto_mod
