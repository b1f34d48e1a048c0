!> Set each point to a mean with its four neighbours.
module smooth_mod

  use argument_mod
  use grid_mod, only: go_offset_ne
  use kernel_mod
  use kind_params_mod, only: go_wp

  implicit none
  private

  type, public, extends(kernel_type) :: smooth
    type(go_arg) :: meta_args(2) = (/ &
        go_arg(GO_WRITE, GO_CT, GO_POINTWISE), &
        go_arg(GO_READ, GO_CT, GO_STENCIL(010,111,010)) &
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => smooth_code
  end type smooth

  public :: smooth_code

contains

  !> Compute one point.
  subroutine smooth_code(i, j, new, old)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: new(:, :)
    real(go_wp), intent(in) :: old(:, :)

    new(i, j) = 0.5_go_wp * old(i, j) &
        + 0.125_go_wp * (old(i - 1, j) + old(i + 1, j) + old(i, j - 1) + old(i, j + 1))
  end subroutine smooth_code

end module smooth_mod
