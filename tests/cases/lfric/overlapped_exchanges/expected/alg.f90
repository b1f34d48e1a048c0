!-----------------------------------------------------------------------------
! All that a kernel needs of other ranks comes in one message from each of them.
!-----------------------------------------------------------------------------
module joint_alg_mod

  use constants_mod, only : r_def
  use field_mod, only : field_type
  use nodal_gradient_kernel_mod, only : nodal_gradient_kernel_type
  use joint_alg_mod_psy, only: invoke_0

  implicit none

  private
  public :: joint_alg

contains

  !> @brief Components of a vector and another field are exchanged together.
  subroutine joint_alg(grad, p, wind)

    implicit none

    type(field_type), intent(inout) :: grad(3), p, wind(2)

    call invoke_0(wind, grad, p)

  end subroutine joint_alg

end module joint_alg_mod
