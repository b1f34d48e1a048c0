!> Stop the flow through the coast.
module wall_u_mod

  use argument_mod
  use grid_mod, only: go_offset_ne
  use kernel_mod
  use kind_params_mod, only: go_wp

  implicit none
  private

  type, public, extends(kernel_type) :: wall_u
    type(go_arg) :: meta_args(2) = (/ &
        go_arg(GO_WRITE, GO_CU, GO_POINTWISE), &
        go_arg(GO_READ, GO_GRID_MASK_T) &
        /)
    integer :: iterates_over = GO_ALL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => wall_u_code
  end type wall_u

  public :: wall_u_code

contains

  !> Compute one point.
  subroutine wall_u_code(i, j, u, mask)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: u(:, :)
    integer, intent(in) :: mask(:, :)

    if (mask(i, j) * mask(min(i + 1, size(mask, 1)), j) == 0) u(i, j) = 0.0_go_wp
  end subroutine wall_u_code

end module wall_u_mod
