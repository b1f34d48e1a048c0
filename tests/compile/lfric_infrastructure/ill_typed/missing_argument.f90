! expect: Missing actual argument
! set_clean needs a depth.
subroutine missing_argument(f)
  use field_mod, only: field_type, field_proxy_type

  implicit none
  type(field_type), intent(in) :: f
  type(field_proxy_type) :: f_proxy

  f_proxy = f%get_proxy()
  call f_proxy%set_clean()
end subroutine missing_argument
