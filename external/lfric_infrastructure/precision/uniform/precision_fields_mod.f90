!> Field types for r_solver and r_tran: the uniform set.
!>
!> Must agree with precision_kinds_mod in the same folder; Fortran cannot select a type by the value
!> of a constant, so that there is one module per set.
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
