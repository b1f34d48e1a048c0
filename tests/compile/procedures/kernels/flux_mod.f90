!> Procedures that kernels call from another file.
module flux_mod

  use kind_params_mod, only: wp => go_wp

  implicit none
  private

  real(wp), parameter, public :: steepest = 2.0_wp

  public :: add_flux, limited

contains

  !> Return a slope that is no steeper than may be.
  pure function limited(left, right) result(slope)
    real(wp), intent(in) :: left, right
    real(wp) :: slope

    slope = 0.0_wp
    if (left * right <= 0.0_wp) return
    slope = sign(min(steepest * abs(left), steepest * abs(right), 0.5_wp * abs(left + right)), left)
  end function limited

  !> Add what flows between two points with the slopes around them.
  pure subroutine add_flux(total, before, here, behind, speed)
    real(wp), intent(inout) :: total
    real(wp), intent(in) :: before, here, behind, speed
    real(wp) :: edge

    edge = here + 0.5_wp * (1.0_wp - speed) * limited(here - before, behind - here)
    total = total - speed * edge
  end subroutine add_flux

end module flux_mod
