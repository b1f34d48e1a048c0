! expect: Cannot convert TYPE
! The proxy of an integer field is not that of a real field.
subroutine wrong_proxy(n)
  use field_mod, only: field_proxy_type
  use integer_field_mod, only: integer_field_type

  implicit none
  type(integer_field_type), intent(in) :: n
  type(field_proxy_type) :: n_proxy

  n_proxy = n%get_proxy()
end subroutine wrong_proxy
