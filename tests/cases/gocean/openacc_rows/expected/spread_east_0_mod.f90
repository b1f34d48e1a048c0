! psyclone-storage: changed for psy.f90
!> Spread what a row has to the east, point by point.
module spread_east_0_mod

  use argument_mod
  use grid_mod, only: go_offset_ne
  use kernel_mod
  use kind_params_mod, only: go_wp

  implicit none
  private

  type, public, extends(kernel_type) :: spread_east_0_type
    type(go_arg) :: meta_args(1) = (/ &
        go_arg(GO_READWRITE, GO_CT, GO_STENCIL(000,110,000)) &
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => spread_east_0_code
  end type spread_east_0_type

  public :: spread_east_0_code

contains

  !> Compute one point.
  subroutine spread_east_0_code(i, j, height)
    integer, intent(in) :: i, j
    real(kind=go_wp), intent(inout) :: height(:, :)
    !$acc routine seq

    height(i, j) = 0.5_go_wp * (height(i - 1, j) + height(i, j))
  end subroutine spread_east_0_code

end module spread_east_0_mod
