!-----------------------------------------------------------------------------
! One component is written by a built-in before all are read.
!-----------------------------------------------------------------------------
module vector_one_component_dirty_alg_mod

  use constants_mod, only : r_def
  use field_mod, only : field_type
  use nodal_gradient_kernel_mod, only : nodal_gradient_kernel_type
  use vector_one_component_dirty_alg_mod_psy, only: invoke_0

  implicit none

  private
  public :: vector_one_component_dirty_alg

contains

  !> @brief One component is written by a built-in before all are read.
  subroutine vector_one_component_dirty_alg(grad, p, wind)

    implicit none

    type(field_type), intent(inout) :: grad(3), p, wind(2)

    call invoke_0(wind, grad, p)

  end subroutine vector_one_component_dirty_alg

end module vector_one_component_dirty_alg_mod
