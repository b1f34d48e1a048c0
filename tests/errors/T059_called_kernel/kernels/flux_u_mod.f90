!> Set the flux through the eastern face of each cell.
module flux_u_mod

  use argument_mod
  use grid_mod, only: go_offset_ne
  use kernel_mod
  use kind_params_mod, only: go_wp

  implicit none
  private

  type, public, extends(kernel_type) :: flux_u
    type(go_arg) :: meta_args(3) = (/ &
        go_arg(GO_WRITE, GO_CU, GO_POINTWISE), &
        go_arg(GO_READ, GO_CT, GO_STENCIL(000,011,000)), &
        go_arg(GO_READ, GO_CU, GO_POINTWISE) &
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => flux_u_code
  end type flux_u

  public :: flux_u_code

contains

  !> Compute one point.
  subroutine flux_u_code(i, j, flux, height, u)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: flux(:, :)
    real(go_wp), intent(in) :: height(:, :)
    real(go_wp), intent(in) :: u(:, :)

    flux(i, j) = 0.5_go_wp * (height(i, j) + height(i + 1, j)) * u(i, j)
  end subroutine flux_u_code

end module flux_u_mod
