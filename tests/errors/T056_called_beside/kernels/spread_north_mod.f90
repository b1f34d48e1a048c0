!> A kernel, and a loop that calls it without a compiler's help.
module spread_north_mod

  use argument_mod
  use grid_mod, only: go_offset_ne
  use kernel_mod
  use kind_params_mod, only: go_wp

  implicit none
  private

  type, public, extends(kernel_type) :: spread_north
    type(go_arg) :: meta_args(1) = (/ &
        go_arg(GO_READWRITE, GO_CT, GO_STENCIL(000,010,010)) &
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => spread_north_code
  end type spread_north

  public :: spread_all, spread_north_code

contains

  !> Compute all points.
  subroutine spread_all(height)
    real(go_wp), intent(inout) :: height(:, :)
    integer :: i, j

    do j = 2, size(height, 2)
      do i = 1, size(height, 1)
        call spread_north_code(i, j, height)
      end do
    end do
  end subroutine spread_all

  !> Compute one point.
  subroutine spread_north_code(i, j, height)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: height(:, :)

    height(i, j) = 0.5_go_wp * (height(i, j - 1) + height(i, j))
  end subroutine spread_north_code

end module spread_north_mod
