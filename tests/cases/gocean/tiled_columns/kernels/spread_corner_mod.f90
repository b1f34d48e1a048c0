!> Spread what a diagonal has to the north-east, point by point.
module spread_corner_mod

  use argument_mod
  use grid_mod, only: go_offset_ne
  use kernel_mod
  use kind_params_mod, only: go_wp

  implicit none
  private

  type, public, extends(kernel_type) :: spread_corner
    type(go_arg) :: meta_args(1) = (/ &
        go_arg(GO_READWRITE, GO_CT, GO_STENCIL(000,010,100)) &
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => spread_corner_code
  end type spread_corner

  public :: spread_corner_code

contains

  !> Compute one point.
  subroutine spread_corner_code(i, j, height)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: height(:, :)

    height(i, j) = 0.5_go_wp * (height(i - 1, j - 1) + height(i, j))
  end subroutine spread_corner_code

end module spread_corner_mod
