!> A kernel that calls procedures of another file and of its own.
module advect_mod

  use argument_mod, only: go_arg, go_ct, go_r_scalar, go_read, go_stencil, go_write
  use flux_mod, only: add_flux
  use grid_mod, only: go_offset_ne
  use kernel_mod, only: go_internal_pts, go_pointwise, kernel_type
  use kind_params_mod, only: go_wp

  implicit none
  private

  public :: advect, advect_code

  type, extends(kernel_type) :: advect
    type(go_arg), dimension(3) :: meta_args = [ &
        go_arg(go_write, go_ct, go_pointwise), &
        go_arg(go_read, go_ct, go_stencil(010, 111, 010)), &
        go_arg(go_read, go_r_scalar, go_pointwise)]
    integer :: iterates_over = go_internal_pts
    integer :: index_offset = go_offset_ne
  contains
    procedure, nopass :: code => advect_code
  end type advect

contains

  subroutine advect_code(i, j, new, old, speed)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: new(:, :)
    real(go_wp), intent(in) :: old(:, :)
    real(go_wp), intent(in) :: speed
    real(go_wp) :: edge

    edge = old(i, j)
    call add_flux(edge, old(i - 1, j), old(i, j), old(i + 1, j), speed)
    call add_flux(edge, old(i, j - 1), old(i, j), old(i, j + 1), speed * slower())
    new(i, j) = edge
  end subroutine advect_code

  !> Return how much slower it goes along columns.
  pure real(go_wp) function slower()
    slower = 0.5_go_wp
  end function slower

end module advect_mod
