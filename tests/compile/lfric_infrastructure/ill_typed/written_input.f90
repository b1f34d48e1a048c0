! expect: variable definition context
! initialise changes the field, which may not be INTENT(IN).
subroutine written_input(f, g)
  use field_mod, only: field_type
  use function_space_mod, only: function_space_type

  implicit none
  type(field_type), intent(in) :: f, g
  type(function_space_type), pointer :: space

  space => g%get_function_space()
  call f%initialise(space)
end subroutine written_input
