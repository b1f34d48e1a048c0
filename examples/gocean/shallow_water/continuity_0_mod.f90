!> The surface rises where more water flows in than out.
module continuity_0_mod

  use argument_mod
  use grid_mod, only: go_offset_ne
  use kernel_mod
  use kind_params_mod, only: go_wp

  implicit none
  private

  type, public, extends(kernel_type) :: continuity_0_type
    type(go_arg) :: meta_args(9) = (/ &
        go_arg(GO_READWRITE, GO_CT, GO_POINTWISE), &              ! height
        go_arg(GO_READ, GO_CU, GO_STENCIL(000,110,000)), &        ! u
        go_arg(GO_READ, GO_CV, GO_STENCIL(000,010,010)), &        ! v
        go_arg(GO_READ, GO_CU, GO_STENCIL(000,110,000)), &        ! depth at u points
        go_arg(GO_READ, GO_CV, GO_STENCIL(000,010,010)), &        ! depth at v points
        go_arg(GO_READ, GO_R_SCALAR, GO_POINTWISE), &             ! time step
        go_arg(GO_READ, GO_GRID_DX_CONST), &
        go_arg(GO_READ, GO_GRID_DY_CONST), &
        go_arg(GO_READ, GO_GRID_AREA_T) &
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => continuity_0_code
  end type continuity_0_type

  public :: continuity_0_code

contains

  !> Add to the height of one cell what flows in through its four faces.
  subroutine continuity_0_code(i, j, height, u, v, depth_u, depth_v, time_step, dx, dy, area)
    integer, intent(in) :: i, j
    real(kind=go_wp), intent(inout) :: height(:, :)
    real(kind=go_wp), intent(in) :: u(:, :), v(:, :), depth_u(:, :), depth_v(:, :), time_step, dx, &
        dy, area(:, :)
    real(kind=go_wp) :: inflow
    !$acc routine seq

    inflow = dy * (depth_u(i - 1, j) * u(i - 1, j) - depth_u(i, j) * u(i, j)) + dx * &
        (depth_v(i, j - 1) * v(i, j - 1) - depth_v(i, j) * v(i, j))
    height(i, j) = height(i, j) + time_step * inflow / area(i, j)
  end subroutine continuity_0_code

end module continuity_0_mod
