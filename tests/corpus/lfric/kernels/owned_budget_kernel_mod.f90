!-----------------------------------------------------------------------------
! Corpus kernel: owned budget.
!-----------------------------------------------------------------------------
!> @brief Accumulate a budget over owned columns only.
module owned_budget_kernel_mod

  use argument_mod, only : arg_type, OWNED_CELL_COLUMN, GH_FIELD, GH_REAL, &
                           GH_READWRITE, GH_READ
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W3, W2
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: owned_budget_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_READWRITE, W3), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W2)  &
      /)
    integer :: operates_on = OWNED_CELL_COLUMN
  contains
    procedure, nopass :: owned_budget_code
  end type owned_budget_kernel_type

  public :: owned_budget_code

contains

  !> @brief Accumulate a budget over owned columns only.
  !> @param[in,out] budget Real field on W3, updated.
  !> @param[in] flux Real field on W2.
  subroutine owned_budget_code(nlayers, &
                               budget, &
                               flux, &
                               ndf_w3, undf_w3, map_w3, &
                               ndf_w2, undf_w2, map_w2)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_w3, undf_w3, ndf_w2, undf_w2
    real(kind=r_def), intent(inout) :: budget(undf_w3)
    real(kind=r_def), intent(in) :: flux(undf_w2)
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)
    integer(kind=i_def), intent(in) :: map_w2(ndf_w2)

    integer(kind=i_def) :: k

    do k = 0, nlayers - 1
      budget(map_w3(1)+k) = budget(map_w3(1)+k) + flux(map_w2(1)+k)
    end do

  end subroutine owned_budget_code

end module owned_budget_kernel_mod
