!> Spread what is there to the north-east, point by point.
module sweep_mod

  use argument_mod
  use grid_mod, only: go_offset_ne
  use kernel_mod
  use kind_params_mod, only: go_wp

  implicit none
  private

  type, public, extends(kernel_type) :: sweep
    type(go_arg) :: meta_args(1) = (/ &
        go_arg(GO_READWRITE, GO_CT, GO_STENCIL(000,110,010)) &
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => sweep_code
  end type sweep

  public :: sweep_code

contains

  !> Compute one point.
  subroutine sweep_code(i, j, height)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: height(:, :)

    height(i, j) = 0.5_go_wp * (height(i - 1, j) + height(i, j - 1))
  end subroutine sweep_code

end module sweep_mod
