! expect: Rank mismatch in argument
! A kernel that expects the data of a field is handed the matrices of an operator.
subroutine wrong_rank(op)
  use constants_mod, only: r_def
  use operator_mod, only: operator_type, operator_proxy_type

  implicit none
  type(operator_type), intent(in) :: op
  type(operator_proxy_type) :: op_proxy

  op_proxy = op%get_proxy()
  call kernel_code(op_proxy%local_stencil)

contains

  subroutine kernel_code(x)
    real(r_def), intent(in) :: x(:)
    print *, x(1)
  end subroutine kernel_code

end subroutine wrong_rank
