!> Operator types for r_solver and r_tran: the uniform set.
!>
!> Must agree with precision_kinds_mod in the same folder; Fortran cannot select a type by the value
!> of a constant, so that there is one module per set.
module precision_operators_mod

  use operator_real64_mod, only: &
    r_solver_operator_type => operator_real64_type, &
    r_solver_operator_proxy_type => operator_real64_proxy_type, &
    r_tran_operator_type => operator_real64_type, &
    r_tran_operator_proxy_type => operator_real64_proxy_type

  implicit none
  private

  public :: r_solver_operator_type
  public :: r_solver_operator_proxy_type
  public :: r_tran_operator_type
  public :: r_tran_operator_proxy_type

end module precision_operators_mod
