! expect: Different types in pointer assignment
! The data of a solver field are of kind r_solver.
subroutine wrong_kind(s)
  use constants_mod, only: r_def
  use r_solver_field_mod, only: r_solver_field_type, r_solver_field_proxy_type

  implicit none
  type(r_solver_field_type), intent(in) :: s
  type(r_solver_field_proxy_type) :: s_proxy
  real(r_def), pointer :: s_data(:)

  s_proxy = s%get_proxy()
  s_data => s_proxy%data
end subroutine wrong_kind
