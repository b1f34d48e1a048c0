!> Number the points of a rank.
module number_points_mod

  use argument_mod
  use grid_mod, only: go_offset_ne
  use kernel_mod
  use kind_params_mod, only: go_wp

  implicit none
  private

  type, public, extends(kernel_type) :: number_points
    type(go_arg) :: meta_args(4) = (/ &
        go_arg(GO_WRITE, GO_CT, GO_POINTWISE), &
        go_arg(GO_READ, GO_GRID_X_MIN_INDEX), &
        go_arg(GO_READ, GO_GRID_X_MAX_INDEX), &
        go_arg(GO_READ, GO_GRID_Y_MIN_INDEX) &
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => number_points_code
  end type number_points

  public :: number_points_code

contains

  !> Compute one point.
  subroutine number_points_code(i, j, number, first, last, bottom)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: number(:, :)
    integer, intent(in) :: first
    integer, intent(in) :: last
    integer, intent(in) :: bottom

    number(i, j) = real((j - bottom) * (last - first + 1) + i - first, go_wp)
  end subroutine number_points_code

end module number_points_mod
