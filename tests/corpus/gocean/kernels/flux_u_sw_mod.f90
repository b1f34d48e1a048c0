!> Set the flux through the western face of each cell.
module flux_u_sw_mod

  use argument_mod
  use grid_mod, only: go_offset_sw
  use kernel_mod
  use kind_params_mod, only: go_wp

  implicit none
  private

  type, public, extends(kernel_type) :: flux_u_sw
    type(go_arg) :: meta_args(3) = (/ &
        go_arg(GO_WRITE, GO_CU, GO_POINTWISE), &
        go_arg(GO_READ, GO_CT, GO_STENCIL(000,110,000)), &
        go_arg(GO_READ, GO_CU, GO_POINTWISE) &
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_SW
  contains
    procedure, nopass :: code => flux_u_sw_code
  end type flux_u_sw

  public :: flux_u_sw_code

contains

  !> Compute one point.
  subroutine flux_u_sw_code(i, j, flux, height, u)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: flux(:, :)
    real(go_wp), intent(in) :: height(:, :)
    real(go_wp), intent(in) :: u(:, :)

    flux(i, j) = 0.5_go_wp * (height(i - 1, j) + height(i, j)) * u(i, j)
  end subroutine flux_u_sw_code

end module flux_u_sw_mod
