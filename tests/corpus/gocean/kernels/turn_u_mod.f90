!> Turn the flow by the rotation of the earth.
module turn_u_mod

  use argument_mod
  use grid_mod, only: go_offset_ne
  use kernel_mod
  use kind_params_mod, only: go_wp

  implicit none
  private

  type, public, extends(kernel_type) :: turn_u
    type(go_arg) :: meta_args(4) = (/ &
        go_arg(GO_READWRITE, GO_CU, GO_POINTWISE), &
        go_arg(GO_READ, GO_CV, GO_STENCIL(000,011,011)), &
        go_arg(GO_READ, GO_R_SCALAR, GO_POINTWISE), &
        go_arg(GO_READ, GO_GRID_LAT_U) &
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => turn_u_code
  end type turn_u

  public :: turn_u_code

contains

  !> Compute one point.
  subroutine turn_u_code(i, j, u, v, time_step, latitude)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: u(:, :)
    real(go_wp), intent(in) :: v(:, :)
    real(go_wp), intent(in) :: time_step
    real(go_wp), intent(in) :: latitude(:, :)

    u(i, j) = u(i, j) + time_step * 1.458e-4_go_wp * sin(0.01745_go_wp * latitude(i, j)) &
        * 0.25_go_wp * (v(i, j) + v(i + 1, j) + v(i, j - 1) + v(i + 1, j - 1))
  end subroutine turn_u_code

end module turn_u_mod
