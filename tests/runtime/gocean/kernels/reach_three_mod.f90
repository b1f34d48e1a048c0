!> A stencil that reaches three points to the west and to the north, and to a corner.
module reach_three_mod

  use argument_mod
  use grid_mod, only: go_offset_ne
  use kernel_mod
  use kind_params_mod, only: go_wp

  implicit none
  private

  type, public, extends(kernel_type) :: reach_three
    type(go_arg) :: meta_args(2) = (/ &
        go_arg(GO_WRITE, GO_CT, GO_POINTWISE), &
        go_arg(GO_READ, GO_CT, GO_STENCIL(030,310,003)) &
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => reach_three_code
  end type reach_three

  public :: reach_three_code

contains

  !> Set a point to a mean of four points.
  subroutine reach_three_code(i, j, new, old)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: new(:, :)
    real(go_wp), intent(in) :: old(:, :)

    new(i, j) = 0.25_go_wp * (old(i, j) + old(i - 3, j) + old(i, j + 3) + old(i + 3, j - 3))
  end subroutine reach_three_code

end module reach_three_mod
