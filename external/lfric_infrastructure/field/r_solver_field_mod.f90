!> The fields of kind r_solver.
module r_solver_field_mod

  use precision_fields_mod, only: r_solver_field_type, r_solver_field_proxy_type, &
                                  r_solver_field_pointer_type

  implicit none
  private

  public :: r_solver_field_type, r_solver_field_proxy_type, r_solver_field_pointer_type

end module r_solver_field_mod
