module drag_mod

  use argument_mod
  use grid_mod
  use kernel_mod
  use kind_params_mod

  implicit none

  type, extends(kernel_type) :: drag
    type(go_arg), dimension(4) :: meta_args = (/ &
        go_arg(GO_WRITE, GO_CU, GO_POINTWISE), &
        go_arg(GO_READ, GO_CU, GO_POINTWISE), &
        go_arg(GO_READ, GO_R_SCALAR, GO_POINTWISE), &
        go_arg(GO_READ, GO_GRID_AREA_T) &
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => drag_code
  end type drag

contains

  subroutine drag_code(i, j, a, b, c, area)
    integer, intent(in) :: i, j
    real(go_wp), dimension(:,:), intent(inout) :: a
    real(go_wp), dimension(:,:), intent(in) :: b, area
    real(go_wp), intent(in) :: c

    a(i, j) = b(i, j)

  end subroutine drag_code

end module drag_mod
