!> Take from each cell what flows out of it.
module diverge_mod

  use argument_mod
  use grid_mod, only: go_offset_ne
  use kernel_mod
  use kind_params_mod, only: go_wp

  implicit none
  private

  type, public, extends(kernel_type) :: diverge
    type(go_arg) :: meta_args(7) = (/ &
        go_arg(GO_READWRITE, GO_CT, GO_POINTWISE), &
        go_arg(GO_READ, GO_CU, GO_STENCIL(000,110,000)), &
        go_arg(GO_READ, GO_CV, GO_STENCIL(000,010,010)), &
        go_arg(GO_READ, GO_R_SCALAR, GO_POINTWISE), &
        go_arg(GO_READ, GO_GRID_DX_T), &
        go_arg(GO_READ, GO_GRID_DY_T), &
        go_arg(GO_READ, GO_GRID_AREA_T) &
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => diverge_code
  end type diverge

  public :: diverge_code

contains

  !> Compute one point.
  subroutine diverge_code(i, j, height, flux_u, flux_v, time_step, dx, dy, area)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: height(:, :)
    real(go_wp), intent(in) :: flux_u(:, :)
    real(go_wp), intent(in) :: flux_v(:, :)
    real(go_wp), intent(in) :: time_step
    real(go_wp), intent(in) :: dx(:, :)
    real(go_wp), intent(in) :: dy(:, :)
    real(go_wp), intent(in) :: area(:, :)

    height(i, j) = height(i, j) - time_step / area(i, j) * ( &
        dy(i, j) * (flux_u(i, j) - flux_u(i - 1, j)) + dx(i, j) * (flux_v(i, j) - flux_v(i, j - 1)))
  end subroutine diverge_code

end module diverge_mod
