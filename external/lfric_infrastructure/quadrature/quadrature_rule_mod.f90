!> The type that every rule for integrals over [0, 1] extends.
module quadrature_rule_mod

  use constants_mod, only: i_def, r_def

  implicit none
  private

  !> A family of rules, one for each number of points.
  type, abstract, public :: quadrature_rule_type
  contains
    procedure(quadrature_rule_interface), public, deferred :: quadrature_rule
  end type quadrature_rule_type

  abstract interface
    !> Return the (:, 1) points in [0, 1] and (:, 2) weights of the rule with this many points.
    function quadrature_rule_interface(self, nqp_1d)
      import :: i_def, quadrature_rule_type, r_def
      class(quadrature_rule_type), intent(in) :: self
      integer(i_def), intent(in) :: nqp_1d
      real(r_def) :: quadrature_rule_interface(nqp_1d, 2)
    end function quadrature_rule_interface
  end interface

end module quadrature_rule_mod
