!-----------------------------------------------------------------------------
! A built-in writes what an incrementing kernel reads.
!-----------------------------------------------------------------------------
module halo_builtin_then_increment_alg_mod

  use constants_mod, only : r_def
  use field_mod, only : field_type
  use wind_tendency_kernel_mod, only : wind_tendency_kernel_type
  use halo_builtin_then_increment_alg_mod_psy, only: invoke_0

  implicit none

  private
  public :: halo_builtin_then_increment_alg

contains

  !> @brief A built-in writes what an incrementing kernel reads.
  subroutine halo_builtin_then_increment_alg(du, u, exner, theta, dt)

    implicit none

    type(field_type), intent(inout) :: du, u, exner, theta
    real(kind=r_def), intent(in) :: dt

    call invoke_0(u, exner, du, theta, dt)

  end subroutine halo_builtin_then_increment_alg

end module halo_builtin_then_increment_alg_mod
