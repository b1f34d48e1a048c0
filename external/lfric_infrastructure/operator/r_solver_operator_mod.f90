!> The operators of kind r_solver.
module r_solver_operator_mod

  use precision_operators_mod, only: r_solver_operator_type, r_solver_operator_proxy_type

  implicit none
  private

  public :: r_solver_operator_type, r_solver_operator_proxy_type

end module r_solver_operator_mod
