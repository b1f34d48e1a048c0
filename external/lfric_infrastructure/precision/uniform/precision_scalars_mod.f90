!> Owns which scalar type stands for each named precision: the uniform set.
!>
!> Agrees with precision_kinds_mod of the same folder, which it cannot check by itself: a name
!> cannot be chosen by the value of a constant in Fortran, which is why there is a module of
!> this kind for each set.
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
