! expect: Keyword argument
! The argument is depth.
subroutine misspelt_argument(f)
  use field_mod, only: field_type, field_proxy_type

  implicit none
  type(field_type), intent(in) :: f
  type(field_proxy_type) :: f_proxy

  f_proxy = f%get_proxy()
  print *, f_proxy%is_dirty(halo=1)
end subroutine misspelt_argument
