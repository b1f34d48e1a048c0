!> Scalar types for each named precision: the uniform set.
!>
!> Must agree with precision_kinds_mod in the same folder; Fortran cannot select a type by the value
!> of a constant, so that there is one module per set.
module precision_scalars_mod

  use scalar_real64_mod, only: &
    scalar_type => scalar_real64_type, &
    r_solver_scalar_type => scalar_real64_type, &
    r_tran_scalar_type => scalar_real64_type, &
    r_bl_scalar_type => scalar_real64_type

  implicit none
  private

  public :: scalar_type
  public :: r_solver_scalar_type
  public :: r_tran_scalar_type
  public :: r_bl_scalar_type

end module precision_scalars_mod
