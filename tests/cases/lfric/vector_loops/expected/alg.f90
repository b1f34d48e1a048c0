!-----------------------------------------------------------------------------
! A reduction between a writer and a reader.
!-----------------------------------------------------------------------------
module reductions_between_kernels_alg_mod

  use constants_mod, only : r_def
  use field_mod, only : field_type
  use laplacian_kernel_mod, only : laplacian_kernel_type
  use reductions_between_kernels_alg_mod_psy, only: invoke_0

  implicit none

  private
  public :: reductions_between_kernels_alg

contains

  !> @brief A reduction between a writer and a reader.
  subroutine reductions_between_kernels_alg(x, y, lap, total)

    implicit none

    type(field_type), intent(inout) :: x, y, lap
    real(kind=r_def), intent(out) :: total

    call invoke_0(lap, x, total, y)

  end subroutine reductions_between_kernels_alg

end module reductions_between_kernels_alg_mod
