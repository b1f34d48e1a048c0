!> Set the flux through the northern face of each cell.
module flux_v_mod

  use argument_mod
  use grid_mod, only: go_offset_ne
  use kernel_mod
  use kind_params_mod, only: go_wp

  implicit none
  private

  type, public, extends(kernel_type) :: flux_v
    type(go_arg) :: meta_args(3) = (/ &
        go_arg(GO_WRITE, GO_CV, GO_POINTWISE), &
        go_arg(GO_READ, GO_CT, GO_STENCIL(010,010,000)), &
        go_arg(GO_READ, GO_CV, GO_POINTWISE) &
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => flux_v_code
  end type flux_v

  public :: flux_v_code

contains

  !> Compute one point.
  subroutine flux_v_code(i, j, flux, height, v)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: flux(:, :)
    real(go_wp), intent(in) :: height(:, :)
    real(go_wp), intent(in) :: v(:, :)

    flux(i, j) = 0.5_go_wp * (height(i, j) + height(i, j + 1)) * v(i, j)
  end subroutine flux_v_code

end module flux_v_mod
