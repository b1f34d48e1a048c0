!-----------------------------------------------------------------------------
! Corpus kernel: assemble column.
!-----------------------------------------------------------------------------
!> @brief Assemble a column matrix from local matrices.
module assemble_column_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_OPERATOR, GH_REAL, GH_READ, &
                           GH_COLUMNWISE_OPERATOR, GH_WRITE
  use constants_mod, only : i_def, r_def, r_solver
  use fs_continuity_mod, only : W3, Wtheta
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: assemble_column_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(gh_operator, gh_real, gh_read, W3, Wtheta), &
      arg_type(gh_columnwise_operator, gh_real, gh_write, W3, Wtheta)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: assemble_column_code
  end type assemble_column_kernel_type

  public :: assemble_column_code

contains

  !> @brief Assemble a column matrix from local matrices.
  !> @param[in] local Local operator from Wtheta to W3.
  !> @param[in,out] column_op Column-wise operator from Wtheta to W3, overwritten.
  subroutine assemble_column_code(cell, nlayers, ncell_2d, &
                                  local_ncell_3d, local, &
                                  column_op, column_op_nrow, column_op_ncol, &
                                  column_op_bandwidth, column_op_alpha, &
                                  column_op_beta, column_op_gamma_m, &
                                  column_op_gamma_p, &
                                  ndf_w3, banded_map_w3, &
                                  ndf_wtheta, banded_map_wtheta)

    implicit none

    integer(kind=i_def), intent(in) :: cell, nlayers, ncell_2d, local_ncell_3d
    integer(kind=i_def), intent(in) :: column_op_nrow, column_op_ncol
    integer(kind=i_def), intent(in) :: column_op_bandwidth, column_op_alpha
    integer(kind=i_def), intent(in) :: column_op_beta, column_op_gamma_m
    integer(kind=i_def), intent(in) :: column_op_gamma_p, ndf_w3, ndf_wtheta
    real(kind=r_def), intent(in) :: local(local_ncell_3d, ndf_w3, ndf_wtheta)
    real(kind=r_solver), intent(inout) :: column_op(column_op_bandwidth, column_op_nrow, ncell_2d)
    integer(kind=i_def), intent(in) :: banded_map_w3(ndf_w3, nlayers)
    integer(kind=i_def), intent(in) :: banded_map_wtheta(ndf_wtheta, nlayers)

    integer(kind=i_def) :: k, row, ik

    do k = 0, nlayers - 1
      ik = (cell - 1) * nlayers + k + 1
      row = banded_map_w3(1, k+1)
      column_op(1, row, cell) = real(local(ik, 1, 1), r_solver)
    end do

  end subroutine assemble_column_code

end module assemble_column_kernel_mod
