!> Set the vorticity at the south-western corners of cells.
module vorticity_sw_mod

  use argument_mod
  use grid_mod, only: go_offset_sw
  use kernel_mod
  use kind_params_mod, only: go_wp

  implicit none
  private

  type, public, extends(kernel_type) :: vorticity_sw
    type(go_arg) :: meta_args(5) = (/ &
        go_arg(GO_WRITE, GO_CF, GO_POINTWISE), &
        go_arg(GO_READ, GO_CU, GO_STENCIL(000,010,010)), &
        go_arg(GO_READ, GO_CV, GO_STENCIL(000,110,000)), &
        go_arg(GO_READ, GO_GRID_DX_V), &
        go_arg(GO_READ, GO_GRID_DY_U) &
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_SW
  contains
    procedure, nopass :: code => vorticity_sw_code
  end type vorticity_sw

  public :: vorticity_sw_code

contains

  !> Compute one point.
  subroutine vorticity_sw_code(i, j, curl, u, v, dx, dy)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: curl(:, :)
    real(go_wp), intent(in) :: u(:, :)
    real(go_wp), intent(in) :: v(:, :)
    real(go_wp), intent(in) :: dx(:, :)
    real(go_wp), intent(in) :: dy(:, :)

    curl(i, j) = (v(i, j) - v(i - 1, j)) / dx(i, j) - (u(i, j) - u(i, j - 1)) / dy(i, j)
  end subroutine vorticity_sw_code

end module vorticity_sw_mod
