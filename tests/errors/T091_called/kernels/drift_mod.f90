!> What speeds up and slows down a column of the sea; land has no depth.
module drift_mod

  use argument_mod
  use grid_mod, only: go_offset_ne
  use kernel_mod
  use kind_params_mod, only: go_wp

  implicit none
  private

  real(go_wp), parameter :: drag = 0.25_go_wp

  type, public, extends(kernel_type) :: drift
    type(go_arg) :: meta_args(4) = (/ &
        go_arg(GO_READWRITE, GO_CT, GO_POINTWISE), &
        go_arg(GO_READ, GO_CT, GO_STENCIL(010,111,010)), &
        go_arg(GO_READ, GO_GRID_MASK_T), &
        go_arg(GO_READ, GO_GRID_AREA_T) &
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => drift_code
  end type drift

  public :: drift_code

contains

  !> Compute one point.
  subroutine drift_code(i, j, speed, depth, tmask, area)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: speed(:, :)
    real(go_wp), intent(in) :: depth(:, :), area(:, :)
    integer, intent(in) :: tmask(:, :)
    real(go_wp) :: last, alike, push

    if (tmask(i, j) <= 0) return
    last = speed(i, j) * exp(-drag * area(i, j)) + 1.0_go_wp / depth(i, j)
    if (tmask(i + 1, j) <= 0 .or. tmask(i - 1, j) <= 0) then
      push = 0.0_go_wp
    else if (tmask(i, j + 1) > 0 .and. tmask(i, j - 1) > 0) then
      alike = (depth(i + 1, j) - depth(i - 1, j)) / (depth(i + 1, j) + depth(i - 1, j))
      push = alike * (depth(i, j + 1) - depth(i, j - 1)) / (depth(i, j + 1) + depth(i, j - 1))
      push = push + 0.5_go_wp * sqrt(depth(i, j)) + last * depth(i, j)
    else
      push = last * depth(i, j) * 0.5_go_wp
    end if
    speed(i, j) = last * (1.0_go_wp + push) + push * exp(-drag * area(i, j))
  end subroutine drift_code

end module drift_mod
