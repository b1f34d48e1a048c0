!> Owns which field type stands for r_solver and for r_tran, whose kinds differ: the uniform set.
!>
!> Agrees with precision_kinds_mod of the same folder, which it cannot check by itself: a name
!> cannot be chosen by the value of a constant in Fortran, which is why there is a module of
!> this kind for each set.
module precision_fields_mod

  use field_real64_mod, only: &
    r_solver_field_type => field_real64_type, &
    r_solver_field_proxy_type => field_real64_proxy_type, &
    r_solver_field_pointer_type => field_real64_pointer_type, &
    r_tran_field_type => field_real64_type, &
    r_tran_field_proxy_type => field_real64_proxy_type, &
    r_tran_field_pointer_type => field_real64_pointer_type

  implicit none
  private

  public :: r_solver_field_type
  public :: r_solver_field_proxy_type
  public :: r_solver_field_pointer_type
  public :: r_tran_field_type
  public :: r_tran_field_proxy_type
  public :: r_tran_field_pointer_type

end module precision_fields_mod
