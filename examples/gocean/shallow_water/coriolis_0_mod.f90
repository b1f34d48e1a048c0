!> The other component of the velocity, where a component is.
module coriolis_0_mod

  use argument_mod
  use grid_mod, only: go_offset_ne
  use kernel_mod
  use kind_params_mod, only: go_wp

  implicit none
  private

  type, public, extends(kernel_type) :: average_u
    type(go_arg) :: meta_args(2) = (/ &
        go_arg(GO_WRITE, GO_CV, GO_POINTWISE), &                  ! u at v points
        go_arg(GO_READ, GO_CU, GO_STENCIL(110,110,000)) &         ! u
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => average_u_code
  end type average_u

  type, public, extends(kernel_type) :: average_v_0_type
    type(go_arg) :: meta_args(2) = (/ &
        go_arg(GO_WRITE, GO_CU, GO_POINTWISE), &                  ! v at u points
        go_arg(GO_READ, GO_CV, GO_STENCIL(000,011,011)) &         ! v
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => average_v_0_code
  end type average_v_0_type

  public :: average_u_code, average_v_0_code

contains

  !> Set u at one v point to the mean of the four u points around it.
  subroutine average_u_code(i, j, u_at_v, u)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: u_at_v(:, :)
    real(go_wp), intent(in) :: u(:, :)

    u_at_v(i, j) = 0.25_go_wp * (u(i - 1, j) + u(i, j) + u(i - 1, j + 1) + u(i, j + 1))
  end subroutine average_u_code

  !> Set v at one u point to the mean of the four v points around it.
  subroutine average_v_0_code(i, j, v_at_u, v)
    integer, intent(in) :: i, j
    real(kind=go_wp), intent(inout) :: v_at_u(:, :)
    real(kind=go_wp), intent(in) :: v(:, :)
    !$acc routine seq

    v_at_u(i, j) = 0.25_go_wp * (v(i, j - 1) + v(i + 1, j - 1) + v(i, j) + v(i + 1, j))
  end subroutine average_v_0_code

end module coriolis_0_mod
