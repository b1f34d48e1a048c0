!-----------------------------------------------------------------------------
! Corpus kernel: named targets.
!-----------------------------------------------------------------------------
!> @brief Evaluate two spaces at the nodes of two named spaces.
module named_targets_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_INC, GH_READ, &
                           func_type, GH_BASIS, GH_EVALUATOR
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W2, W3, Wtheta
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: named_targets_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_INC, W2), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, Wtheta)  &
      /)
    type(func_type) :: meta_funcs(2) = (/ &
      func_type(W3, GH_BASIS), &
      func_type(Wtheta, GH_BASIS)  &
      /)
    integer :: operates_on = CELL_COLUMN
    integer :: gh_shape = GH_EVALUATOR
    integer :: gh_evaluator_targets(2) = (/ W2, W3 /)
  contains
    procedure, nopass :: named_targets_code
  end type named_targets_kernel_type

  public :: named_targets_code

contains

  !> @brief Evaluate two spaces at the nodes of two named spaces.
  !> @param[in,out] flux Real field on W2, incremented.
  !> @param[in] rho Real field on W3.
  !> @param[in] theta Real field on Wtheta.
  subroutine named_targets_code(nlayers, &
                                flux, &
                                rho, &
                                theta, &
                                ndf_w2, undf_w2, map_w2, &
                                ndf_w3, undf_w3, map_w3, basis_w3_on_w2, &
                                basis_w3_on_w3, &
                                ndf_wtheta, undf_wtheta, map_wtheta, &
                                basis_wtheta_on_w2, basis_wtheta_on_w3)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_w2, undf_w2, ndf_w3, undf_w3
    integer(kind=i_def), intent(in) :: ndf_wtheta, undf_wtheta
    real(kind=r_def), intent(inout) :: flux(undf_w2)
    real(kind=r_def), intent(in) :: rho(undf_w3)
    real(kind=r_def), intent(in) :: theta(undf_wtheta)
    integer(kind=i_def), intent(in) :: map_w2(ndf_w2)
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)
    real(kind=r_def), intent(in) :: basis_w3_on_w2(1, ndf_w3, ndf_w2)
    real(kind=r_def), intent(in) :: basis_w3_on_w3(1, ndf_w3, ndf_w3)
    integer(kind=i_def), intent(in) :: map_wtheta(ndf_wtheta)
    real(kind=r_def), intent(in) :: basis_wtheta_on_w2(1, ndf_wtheta, ndf_w2)
    real(kind=r_def), intent(in) :: basis_wtheta_on_w3(1, ndf_wtheta, ndf_w3)

    integer(kind=i_def) :: k

    do k = 0, nlayers - 1
      flux(map_w2(1)+k) = flux(map_w2(1)+k) + rho(map_w3(1)+k) * basis_w3_on_w2(1, 1, 1) &
        + theta(map_wtheta(1)+k) * basis_wtheta_on_w3(1, 1, 1)
    end do

  end subroutine named_targets_code

end module named_targets_kernel_mod
