!-----------------------------------------------------------------------------
! Restrict, correct and prolong again.
!-----------------------------------------------------------------------------
module intergrid_down_and_up_alg_mod

  use field_mod, only : field_type
  use prolong_tracer_kernel_mod, only : prolong_tracer_kernel_type
  use restrict_tracer_kernel_mod, only : restrict_tracer_kernel_type
  use intergrid_down_and_up_alg_mod_psy, only: invoke_0

  implicit none

  private
  public :: intergrid_down_and_up_alg

contains

  !> @brief Restrict, correct and prolong again.
  subroutine intergrid_down_and_up_alg(coarse_q, fine_q, coarse_r)

    implicit none

    type(field_type), intent(inout) :: coarse_q, fine_q, coarse_r

    call invoke_0(coarse_q, fine_q, coarse_r)

  end subroutine intergrid_down_and_up_alg

end module intergrid_down_and_up_alg_mod
