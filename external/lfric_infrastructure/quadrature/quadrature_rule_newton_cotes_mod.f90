!> The Newton-Cotes rules: equally spaced points, the ends among them.
module quadrature_rule_newton_cotes_mod

  use constants_mod, only: i_def, r_def
  use quadrature_rule_interpolating_mod, only: interpolating_weights
  use quadrature_rule_mod, only: quadrature_rule_type

  implicit none
  private

  !> The Newton-Cotes rules; the rule of one point takes the middle.
  type, extends(quadrature_rule_type), public :: quadrature_rule_newton_cotes_type
  contains
    procedure, public :: quadrature_rule
  end type quadrature_rule_newton_cotes_type

contains

  !> Return the points and weights of the rule with this many points.
  function quadrature_rule(self, nqp_1d)
    class(quadrature_rule_newton_cotes_type), intent(in) :: self
    integer(i_def), intent(in) :: nqp_1d
    real(r_def) :: quadrature_rule(nqp_1d, 2)

    integer(i_def) :: i

    quadrature_rule(1, 1) = 0.5_r_def
    if (nqp_1d > 1) quadrature_rule(:, 1) = &
      [(real(i - 1, r_def) / real(nqp_1d - 1, r_def), i=1, nqp_1d)]
    quadrature_rule(:, 2) = interpolating_weights(quadrature_rule(:, 1))
  end function quadrature_rule

end module quadrature_rule_newton_cotes_mod
