!-----------------------------------------------------------------------------
! Corpus kernel: evaluator operator.
!-----------------------------------------------------------------------------
!> @brief Build an operator from basis values at the nodes of its target.
module evaluator_operator_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_OPERATOR, GH_REAL, GH_WRITE, &
                           GH_FIELD, GH_READ, func_type, GH_BASIS, GH_DIFF_BASIS, &
                           GH_EVALUATOR
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W2, W3, Wchi
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: evaluator_operator_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(gh_operator, gh_real, gh_write, W2, W3), &
      arg_type(gh_field*3, gh_real, gh_read, Wchi)  &
      /)
    type(func_type) :: meta_funcs(2) = (/ &
      func_type(W3, GH_BASIS), &
      func_type(Wchi, GH_DIFF_BASIS)  &
      /)
    integer :: operates_on = CELL_COLUMN
    integer :: gh_shape = GH_EVALUATOR
  contains
    procedure, nopass :: evaluator_operator_code
  end type evaluator_operator_kernel_type

  public :: evaluator_operator_code

contains

  !> @brief Build an operator from basis values at the nodes of its target.
  !> @param[in,out] matrix Local operator from W3 to W2, overwritten.
  !> @param[in] chi_1 and on Real field bundle of 3 on Wchi.
  subroutine evaluator_operator_code(cell, nlayers, &
                                     matrix_ncell_3d, matrix, &
                                     chi_1, chi_2, chi_3, &
                                     ndf_w2, &
                                     ndf_w3, basis_w3_on_w2, &
                                     ndf_wchi, undf_wchi, map_wchi, &
                                     diff_basis_wchi_on_w2)

    implicit none

    integer(kind=i_def), intent(in) :: cell, nlayers, matrix_ncell_3d, ndf_w2, ndf_w3
    integer(kind=i_def), intent(in) :: ndf_wchi, undf_wchi
    real(kind=r_def), intent(inout) :: matrix(matrix_ncell_3d, ndf_w2, ndf_w3)
    real(kind=r_def), intent(in) :: chi_1(undf_wchi)
    real(kind=r_def), intent(in) :: chi_2(undf_wchi)
    real(kind=r_def), intent(in) :: chi_3(undf_wchi)
    real(kind=r_def), intent(in) :: basis_w3_on_w2(1, ndf_w3, ndf_w2)
    integer(kind=i_def), intent(in) :: map_wchi(ndf_wchi)
    real(kind=r_def), intent(in) :: diff_basis_wchi_on_w2(3, ndf_wchi, ndf_w2)

    integer(kind=i_def) :: k, ik

    do k = 0, nlayers - 1
      ik = (cell - 1) * nlayers + k + 1
      matrix(ik, :, 1) = basis_w3_on_w2(1, 1, :) * chi_1(map_wchi(1)+k) &
          * diff_basis_wchi_on_w2(1, 1, 1) &
        + chi_2(map_wchi(1)+k) + chi_3(map_wchi(1)+k)
    end do

  end subroutine evaluator_operator_code

end module evaluator_operator_kernel_mod
