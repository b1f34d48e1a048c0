!> Set each point to the mean of the nine points around it.
module smooth_corners_mod

  use argument_mod
  use grid_mod, only: go_offset_ne
  use kernel_mod
  use kind_params_mod, only: go_wp

  implicit none
  private

  type, public, extends(kernel_type) :: smooth_corners
    type(go_arg) :: meta_args(2) = (/ &
        go_arg(GO_WRITE, GO_CT, GO_POINTWISE), &
        go_arg(GO_READ, GO_CT, GO_STENCIL(111,111,111)) &
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => smooth_corners_code
  end type smooth_corners

  public :: smooth_corners_code

contains

  !> Compute one point.
  subroutine smooth_corners_code(i, j, new, old)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: new(:, :)
    real(go_wp), intent(in) :: old(:, :)

    new(i, j) = sum(old(i - 1:i + 1, j - 1:j + 1)) / 9.0_go_wp
  end subroutine smooth_corners_code

end module smooth_corners_mod
