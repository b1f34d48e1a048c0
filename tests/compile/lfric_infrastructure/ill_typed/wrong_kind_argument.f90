! expect: Type mismatch in argument
! A kernel for r_tran data is called with those of an r_def field.
subroutine wrong_kind(f)
  use constants_mod, only: r_tran
  use field_mod, only: field_type, field_proxy_type

  implicit none
  type(field_type), intent(in) :: f
  type(field_proxy_type) :: f_proxy

  f_proxy = f%get_proxy()
  call kernel_code(f_proxy%data)

contains

  subroutine kernel_code(x)
    real(r_tran), intent(in) :: x(:)
    print *, x(1)
  end subroutine kernel_code

end subroutine wrong_kind
