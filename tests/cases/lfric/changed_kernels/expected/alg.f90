!-----------------------------------------------------------------------------
! One kernel, called twice and changed in two ways.
!-----------------------------------------------------------------------------
module changed_kernels_alg_mod

  use constants_mod, only : r_def
  use field_mod, only : field_type
  use laplacian_kernel_mod, only : laplacian_kernel_type
  use changed_kernels_alg_mod_psy, only: invoke_0

  implicit none

  private
  public :: changed_kernels_alg

contains

  !> @brief One kernel, called twice and changed in two ways.
  subroutine changed_kernels_alg(x, y, lap, total)

    implicit none

    type(field_type), intent(inout) :: x, y, lap
    real(kind=r_def), intent(out) :: total

    call invoke_0(lap, x, total, y)

  end subroutine changed_kernels_alg

end module changed_kernels_alg_mod
