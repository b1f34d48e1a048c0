!> Move a tracer to the east, with two points upwind.
module advect_west_mod

  use argument_mod
  use grid_mod, only: go_offset_ne
  use kernel_mod
  use kind_params_mod, only: go_wp

  implicit none
  private

  type, public, extends(kernel_type) :: advect_west
    type(go_arg) :: meta_args(3) = (/ &
        go_arg(GO_WRITE, GO_CT, GO_POINTWISE), &
        go_arg(GO_READ, GO_CT, GO_STENCIL(000,210,000)), &
        go_arg(GO_READ, GO_R_SCALAR, GO_POINTWISE) &
        /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => advect_west_code
  end type advect_west

  public :: advect_west_code

contains

  !> Compute one point.
  subroutine advect_west_code(i, j, new, old, courant)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: new(:, :)
    real(go_wp), intent(in) :: old(:, :)
    real(go_wp), intent(in) :: courant

    new(i, j) = old(i, j) - courant * (1.5_go_wp * old(i, j) - 2.0_go_wp * old(i - 1, j) &
        + 0.5_go_wp * old(i - 2, j))
  end subroutine advect_west_code

end module advect_west_mod
