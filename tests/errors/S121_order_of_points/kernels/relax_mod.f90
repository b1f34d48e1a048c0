module relax_mod

  use argument_mod
  use kernel_mod
  use kind_params_mod

  implicit none

  type, extends(kernel_type) :: relax
    type(go_arg), dimension(1) :: meta_args = (/ &
        go_arg(GO_READWRITE, GO_CT, GO_STENCIL(000,110,000)) /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_ANY
  contains
    procedure, nopass :: code => relax_code
  end type relax

contains

  subroutine relax_code(i, j, a)
    integer, intent(in) :: i, j
    real(go_wp), dimension(:,:), intent(inout) :: a

    a(i, j) = 0.5_go_wp * (a(i, j) + a(i - 1, j))

  end subroutine relax_code

end module relax_mod
