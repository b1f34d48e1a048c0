!> What falls to the ground in the sea, and what is blown from land.
module settle_mod

  use argument_mod
  use grid_mod, only: go_offset_ne
  use kernel_mod
  use kind_params_mod, only: go_wp

  implicit none
  private

  type, public, extends(kernel_type) :: settle
    type(go_arg) :: meta_args(3) = (/ &
        go_arg(GO_READWRITE, GO_CT, GO_POINTWISE), &
        go_arg(GO_READ, GO_CT, GO_POINTWISE), &
        go_arg(GO_READ, GO_GRID_MASK_T) &
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => settle_code
  end type settle

  public :: settle_code

contains

  !> Compute one point.
  subroutine settle_code(i, j, dust, depth, tmask)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: dust(:, :)
    real(go_wp), intent(in) :: depth(:, :)
    integer, intent(in) :: tmask(:, :)
    real(go_wp) :: new

    if (tmask(i, j) > 0) then
      new = 0.3_go_wp * dust(i, j) + dust(i, j) * depth(i, j) * 0.37_go_wp
      dust(i, j) = new + (depth(i, j) - 0.7_go_wp) * (0.25_go_wp - new) - 0.125_go_wp / depth(i, j)
    else
      dust(i, j) = 0.3_go_wp * dust(i, j) + 0.1_go_wp
    end if
  end subroutine settle_code

end module settle_mod
