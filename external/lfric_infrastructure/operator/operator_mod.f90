!> The operators of kind r_def, and hands on those of the other kinds.
module operator_mod

  use operator_real64_mod, only: &
    operator_type => operator_real64_type, &
    operator_proxy_type => operator_real64_proxy_type
  use precision_operators_mod, only: r_solver_operator_type, r_solver_operator_proxy_type, &
                                     r_tran_operator_type, r_tran_operator_proxy_type

  implicit none
  private

  public :: operator_type, operator_proxy_type
  public :: r_solver_operator_type, r_solver_operator_proxy_type
  public :: r_tran_operator_type, r_tran_operator_proxy_type

end module operator_mod
