!> Water is driven down the slope of the surface and turned by the rotation of the earth.
module momentum_0_mod

  use argument_mod
  use grid_mod, only: go_offset_ne
  use kernel_mod
  use kind_params_mod, only: go_wp

  implicit none
  private

  type, public, extends(kernel_type) :: momentum_u_0_type
    type(go_arg) :: meta_args(8) = (/ &
        go_arg(GO_READWRITE, GO_CU, GO_POINTWISE), &              ! u
        go_arg(GO_READ, GO_CT, GO_STENCIL(000,011,000)), &        ! height
        go_arg(GO_READ, GO_CU, GO_POINTWISE), &                   ! v at u points
        go_arg(GO_READ, GO_R_SCALAR, GO_POINTWISE), &             ! time step
        go_arg(GO_READ, GO_R_SCALAR, GO_POINTWISE), &             ! gravity
        go_arg(GO_READ, GO_R_SCALAR, GO_POINTWISE), &             ! Coriolis parameter
        go_arg(GO_READ, GO_GRID_DX_U), &
        go_arg(GO_READ, GO_GRID_MASK_T) &
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => momentum_u_0_code
  end type momentum_u_0_type

  type, public, extends(kernel_type) :: momentum_v
    type(go_arg) :: meta_args(8) = (/ &
        go_arg(GO_READWRITE, GO_CV, GO_POINTWISE), &              ! v
        go_arg(GO_READ, GO_CT, GO_STENCIL(010,010,000)), &        ! height
        go_arg(GO_READ, GO_CV, GO_POINTWISE), &                   ! u at v points
        go_arg(GO_READ, GO_R_SCALAR, GO_POINTWISE), &             ! time step
        go_arg(GO_READ, GO_R_SCALAR, GO_POINTWISE), &             ! gravity
        go_arg(GO_READ, GO_R_SCALAR, GO_POINTWISE), &             ! Coriolis parameter
        go_arg(GO_READ, GO_GRID_DY_V), &
        go_arg(GO_READ, GO_GRID_MASK_T) &
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => momentum_v_code
  end type momentum_v

  public :: momentum_u_0_code, momentum_v_code

contains

  !> Advance u at one point, which lies between the T points (i, j) and (i+1, j).
  subroutine momentum_u_0_code(i, j, u, height, v_at_u, time_step, gravity, coriolis, dx, mask)
    integer, intent(in) :: i, j
    real(kind=go_wp), intent(inout) :: u(:, :)
    real(kind=go_wp), intent(in) :: height(:, :), v_at_u(:, :), dx(:, :), time_step, gravity, &
        coriolis
    integer, intent(in) :: mask(:, :)
    real(kind=go_wp) :: slope
    !$acc routine seq

    if (mask(i, j) == 1 .and. mask(i + 1, j) == 1) then
      slope = (height(i + 1, j) - height(i, j)) / dx(i, j)
      u(i, j) = u(i, j) + time_step * (coriolis * v_at_u(i, j) - gravity * slope)
    else
      u(i, j) = 0.0_go_wp
    end if
  end subroutine momentum_u_0_code

  !> Advance v at one point, which lies between the T points (i, j) and (i, j+1).
  subroutine momentum_v_code(i, j, v, height, u_at_v, time_step, gravity, coriolis, dy, mask)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: v(:, :)
    real(go_wp), intent(in) :: height(:, :), u_at_v(:, :), dy(:, :)
    real(go_wp), intent(in) :: time_step, gravity, coriolis
    integer, intent(in) :: mask(:, :)
    real(go_wp) :: slope

    if (mask(i, j) == 1 .and. mask(i, j + 1) == 1) then
      slope = (height(i, j + 1) - height(i, j)) / dy(i, j)
      v(i, j) = v(i, j) - time_step * (coriolis * u_at_v(i, j) + gravity * slope)
    else
      v(i, j) = 0.0_go_wp
    end if
  end subroutine momentum_v_code

end module momentum_0_mod
