! expect: is a PRIVATE component
! Data are reached through the proxy, not the field.
subroutine private_component(f)
  use field_mod, only: field_type

  implicit none
  type(field_type), intent(inout) :: f

  f%data(1) = 0.0
end subroutine private_component
