! expect: is not a member of
! The binding is halo_exchange.
subroutine misspelt_binding(f)
  use field_mod, only: field_type, field_proxy_type

  implicit none
  type(field_type), intent(in) :: f
  type(field_proxy_type) :: f_proxy

  f_proxy = f%get_proxy()
  call f_proxy%halo_exchage(depth=1)
end subroutine misspelt_binding
