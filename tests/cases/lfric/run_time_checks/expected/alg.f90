!-----------------------------------------------------------------------------
! GH_WRITE beside GH_INC: the increment decides.
!-----------------------------------------------------------------------------
module access_write_and_inc_alg_mod

  use field_mod, only : field_type
  use write_and_inc_kernel_mod, only : write_and_inc_kernel_type
  use access_write_and_inc_alg_mod_psy, only: invoke_0_write_and_inc_kernel_type

  implicit none

  private
  public :: access_write_and_inc_alg

contains

  !> @brief GH_WRITE beside GH_INC: the increment decides.
  subroutine access_write_and_inc_alg(u, p_node, rho)

    implicit none

    type(field_type), intent(inout) :: u, p_node, rho

    call invoke_0_write_and_inc_kernel_type(u, p_node, rho)

  end subroutine access_write_and_inc_alg

end module access_write_and_inc_alg_mod
