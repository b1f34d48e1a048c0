subroutine multiplied(y, x, matrix)
  use field_mod, only: field_type
  use multiply_mod, only: multiply_type
  use operator_mod, only: operator_type
  use multiplied_psy, only: invoke_0_multiply_type
  type(field_type), intent(inout) :: y
  type(field_type), intent(in) :: x
  type(operator_type), intent(in) :: matrix

  call invoke_0_multiply_type(y, x, matrix)
end subroutine multiplied
