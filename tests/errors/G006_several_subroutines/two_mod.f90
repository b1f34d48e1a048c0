module two_mod
  use argument_mod
  use grid_mod, only: go_offset_ne
  use kernel_mod, only: kernel_type
  implicit none
  type, extends(kernel_type) :: two
    type(go_arg), dimension(1) :: meta_args = (/ go_arg(GO_WRITE, GO_CT, GO_POINTWISE) /)
    integer :: ITERATES_OVER = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => two_code
  end type two
  interface two_code
    module procedure :: a_code, b_code
  end interface
contains
  subroutine a_code(i, j, h)
    integer, intent(in) :: i, j
    real(kind(1.0)), dimension(:,:), intent(out) :: h
    h(i, j) = 1.0
  end subroutine a_code
  subroutine b_code(i, j, h)
    integer, intent(in) :: i, j
    real, dimension(:,:), intent(out) :: h
    h(i, j) = 0.0
  end subroutine b_code
end module two_mod
