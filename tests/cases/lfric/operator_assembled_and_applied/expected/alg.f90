!-----------------------------------------------------------------------------
! Assemble, scale and apply in one invoke.
!-----------------------------------------------------------------------------
module operator_assemble_then_apply_alg_mod

  use constants_mod, only : r_def
  use field_mod, only : field_type
  use operator_mod, only : operator_type
  use apply_divergence_kernel_mod, only : apply_divergence_kernel_type
  use assemble_divergence_kernel_mod, only : assemble_divergence_kernel_type
  use scale_operator_kernel_mod, only : scale_operator_kernel_type
  use operator_assemble_then_apply_alg_mod_psy, only: invoke_0

  implicit none

  private
  public :: operator_assemble_then_apply_alg

contains

  !> @brief Assemble, scale and apply in one invoke.
  subroutine operator_assemble_then_apply_alg(chi, panel_id, div_u, flux, div)

    implicit none

    type(field_type), intent(inout) :: chi(3), panel_id, div_u, flux
    type(operator_type), intent(inout) :: div

    call invoke_0(div, chi, panel_id, div_u, flux)

  end subroutine operator_assemble_then_apply_alg

end module operator_assemble_then_apply_alg_mod
