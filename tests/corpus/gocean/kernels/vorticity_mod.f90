!> Set the vorticity at the corners of cells.
module vorticity_mod

  use argument_mod
  use grid_mod, only: go_offset_ne
  use kernel_mod
  use kind_params_mod, only: go_wp

  implicit none
  private

  type, public, extends(kernel_type) :: vorticity
    type(go_arg) :: meta_args(5) = (/ &
        go_arg(GO_WRITE, GO_CF, GO_POINTWISE), &
        go_arg(GO_READ, GO_CU, GO_STENCIL(010,010,000)), &
        go_arg(GO_READ, GO_CV, GO_STENCIL(000,011,000)), &
        go_arg(GO_READ, GO_GRID_DX_CONST), &
        go_arg(GO_READ, GO_GRID_DY_CONST) &
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => vorticity_code
  end type vorticity

  public :: vorticity_code

contains

  !> Compute one point.
  subroutine vorticity_code(i, j, curl, u, v, dx, dy)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: curl(:, :)
    real(go_wp), intent(in) :: u(:, :)
    real(go_wp), intent(in) :: v(:, :)
    real(go_wp), intent(in) :: dx
    real(go_wp), intent(in) :: dy

    curl(i, j) = (v(i + 1, j) - v(i, j)) / dx - (u(i, j + 1) - u(i, j)) / dy
  end subroutine vorticity_code

end module vorticity_mod
