!> Force the surface outside of an open boundary.
module tide_mod

  use argument_mod
  use grid_mod, only: go_offset_ne
  use kernel_mod
  use kind_params_mod, only: go_wp

  implicit none
  private

  type, public, extends(kernel_type) :: tide
    type(go_arg) :: meta_args(4) = (/ &
        go_arg(GO_READ, GO_I_SCALAR, GO_POINTWISE), &
        go_arg(GO_READWRITE, GO_CT, GO_POINTWISE), &
        go_arg(GO_READ, GO_R_SCALAR, GO_POINTWISE), &
        go_arg(GO_READ, GO_GRID_MASK_T) &
        /)
    integer :: iterates_over = GO_ALL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => tide_code
  end type tide

  public :: tide_code

contains

  !> Compute one point.
  subroutine tide_code(i, j, step, height, amplitude, mask)
    integer, intent(in) :: i, j
    integer, intent(in) :: step
    real(go_wp), intent(inout) :: height(:, :)
    real(go_wp), intent(in) :: amplitude
    integer, intent(in) :: mask(:, :)

    if (mask(i, j) < 0) then
      height(i, j) = height(i, j) + amplitude * sin(0.01_go_wp * real(step, go_wp))
    end if
  end subroutine tide_code

end module tide_mod
