!> The operators of kind r_tran.
module r_tran_operator_mod

  use precision_operators_mod, only: r_tran_operator_type, r_tran_operator_proxy_type

  implicit none
  private

  public :: r_tran_operator_type, r_tran_operator_proxy_type

end module r_tran_operator_mod
