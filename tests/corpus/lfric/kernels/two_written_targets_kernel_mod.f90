!-----------------------------------------------------------------------------
! Corpus kernel: two written targets.
!-----------------------------------------------------------------------------
!> @brief Evaluate at the nodes of both written fields.
module two_written_targets_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_READWRITE, &
                           GH_WRITE, GH_READ, func_type, GH_BASIS, GH_DIFF_BASIS, &
                           GH_EVALUATOR
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : Wtheta, W3, W0
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: two_written_targets_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_READWRITE, Wtheta), &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, W3), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W0)  &
      /)
    type(func_type) :: meta_funcs(1) = (/ &
      func_type(W0, GH_BASIS, GH_DIFF_BASIS)  &
      /)
    integer :: operates_on = CELL_COLUMN
    integer :: gh_shape = GH_EVALUATOR
  contains
    procedure, nopass :: two_written_targets_code
  end type two_written_targets_kernel_type

  public :: two_written_targets_code

contains

  !> @brief Evaluate at the nodes of both written fields.
  !> @param[in,out] theta Real field on Wtheta, updated.
  !> @param[in,out] rho Real field on W3, overwritten.
  !> @param[in] p_node Real field on W0.
  subroutine two_written_targets_code(nlayers, &
                                      theta, &
                                      rho, &
                                      p_node, &
                                      ndf_wtheta, undf_wtheta, map_wtheta, &
                                      ndf_w3, undf_w3, map_w3, &
                                      ndf_w0, undf_w0, map_w0, basis_w0_on_wtheta, &
                                      basis_w0_on_w3, diff_basis_w0_on_wtheta, &
                                      diff_basis_w0_on_w3)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_wtheta, undf_wtheta, ndf_w3
    integer(kind=i_def), intent(in) :: undf_w3, ndf_w0, undf_w0
    real(kind=r_def), intent(inout) :: theta(undf_wtheta)
    real(kind=r_def), intent(inout) :: rho(undf_w3)
    real(kind=r_def), intent(in) :: p_node(undf_w0)
    integer(kind=i_def), intent(in) :: map_wtheta(ndf_wtheta)
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)
    integer(kind=i_def), intent(in) :: map_w0(ndf_w0)
    real(kind=r_def), intent(in) :: basis_w0_on_wtheta(1, ndf_w0, ndf_wtheta)
    real(kind=r_def), intent(in) :: basis_w0_on_w3(1, ndf_w0, ndf_w3)
    real(kind=r_def), intent(in) :: diff_basis_w0_on_wtheta(3, ndf_w0, ndf_wtheta)
    real(kind=r_def), intent(in) :: diff_basis_w0_on_w3(3, ndf_w0, ndf_w3)

    integer(kind=i_def) :: k

    do k = 0, nlayers - 1
      theta(map_wtheta(1)+k) = theta(map_wtheta(1)+k) &
          + diff_basis_w0_on_wtheta(1, 1, 1) * p_node(map_w0(1)+k)
      rho(map_w3(1)+k) = basis_w0_on_w3(1, 1, 1) * p_node(map_w0(1)+k)
    end do

  end subroutine two_written_targets_code

end module two_written_targets_kernel_mod
