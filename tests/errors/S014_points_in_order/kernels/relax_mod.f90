module relax_mod

  use argument_mod
  use grid_mod, only: go_offset_ne
  use kernel_mod
  use kind_params_mod, only: go_wp

  implicit none
  private

  type, public, extends(kernel_type) :: relax
    type(go_arg) :: meta_args(1) = (/ &
        go_arg(GO_READWRITE, GO_CT, GO_STENCIL(100,010,000)) &
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => relax_code
  end type relax

  public :: relax_code

contains

  subroutine relax_code(i, j, height)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: height(:, :)

    height(i, j) = 0.5_go_wp * (height(i, j) + height(i - 1, j + 1))
  end subroutine relax_code

end module relax_mod
