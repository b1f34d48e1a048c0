!> Owns the operators of kind r_def, and hands on those of the other kinds.
module operator_mod

  use precision_operators_mod, only: operator_type, operator_proxy_type, &
                                     r_solver_operator_type, r_solver_operator_proxy_type, &
                                     r_tran_operator_type, r_tran_operator_proxy_type

  implicit none
  private

  public :: operator_type, operator_proxy_type
  public :: r_solver_operator_type, r_solver_operator_proxy_type
  public :: r_tran_operator_type, r_tran_operator_proxy_type

end module operator_mod
