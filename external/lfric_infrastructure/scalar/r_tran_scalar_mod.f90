!> The scalars of kind r_tran.
module r_tran_scalar_mod

  use precision_scalars_mod, only: r_tran_scalar_type

  implicit none
  private

  public :: r_tran_scalar_type

end module r_tran_scalar_mod
