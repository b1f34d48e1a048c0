! expect: Type mismatch in argument
! A halo depth is an integer.
subroutine real_depth(f)
  use field_mod, only: field_type, field_proxy_type

  implicit none
  type(field_type), intent(in) :: f
  type(field_proxy_type) :: f_proxy

  f_proxy = f%get_proxy()
  call f_proxy%halo_exchange(depth=1.0)
end subroutine real_depth
