!> Owns which operator type stands for r_solver and for r_tran, whose kinds differ: the mixed set.
!>
!> Agrees with precision_kinds_mod of the same folder, which it cannot check by itself: a name
!> cannot be chosen by the value of a constant in Fortran, which is why there is a module of
!> this kind for each set.
module precision_operators_mod

  use operator_real32_mod, only: &
    r_solver_operator_type => operator_real32_type, &
    r_solver_operator_proxy_type => operator_real32_proxy_type, &
    r_tran_operator_type => operator_real32_type, &
    r_tran_operator_proxy_type => operator_real32_proxy_type

  implicit none
  private

  public :: r_solver_operator_type
  public :: r_solver_operator_proxy_type
  public :: r_tran_operator_type
  public :: r_tran_operator_proxy_type

end module precision_operators_mod
