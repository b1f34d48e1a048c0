!-----------------------------------------------------------------------------
! Corpus kernel: solve column.
!-----------------------------------------------------------------------------
!> @brief Solve a column system by its banded matrix.
module solve_column_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_WRITE, GH_READ, &
                           GH_COLUMNWISE_OPERATOR
  use constants_mod, only : i_def, r_def, r_solver
  use fs_continuity_mod, only : Wtheta
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: solve_column_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      ARG_TYPE(GH_FIELD, GH_REAL, GH_WRITE, WTHETA), &
      ARG_TYPE(GH_FIELD, GH_REAL, GH_READ, WTHETA), &
      ARG_TYPE(GH_COLUMNWISE_OPERATOR, GH_REAL, GH_READ, WTHETA, WTHETA)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: solve_column_code
  end type solve_column_kernel_type

  public :: solve_column_code

contains

  !> @brief Solve a column system by its banded matrix.
  !> @param[in,out] x Real field on Wtheta, overwritten.
  !> @param[in] rhs Real field on Wtheta.
  !> @param[in] column_op Column-wise operator on Wtheta.
  subroutine solve_column_code(cell, ncell_2d, &
                               x, &
                               rhs, &
                               column_op, column_op_nrow, column_op_bandwidth, &
                               column_op_alpha, column_op_beta, column_op_gamma_m, &
                               column_op_gamma_p, &
                               ndf_wtheta, undf_wtheta, map_wtheta, indirection_wtheta)

    implicit none

    integer(kind=i_def), intent(in) :: cell, ncell_2d, column_op_nrow
    integer(kind=i_def), intent(in) :: column_op_bandwidth, column_op_alpha
    integer(kind=i_def), intent(in) :: column_op_beta, column_op_gamma_m
    integer(kind=i_def), intent(in) :: column_op_gamma_p, ndf_wtheta, undf_wtheta
    real(kind=r_def), intent(inout) :: x(undf_wtheta)
    real(kind=r_def), intent(in) :: rhs(undf_wtheta)
    real(kind=r_solver), intent(in) :: column_op(column_op_bandwidth, column_op_nrow, ncell_2d)
    integer(kind=i_def), intent(in) :: map_wtheta(ndf_wtheta)
    integer(kind=i_def), intent(in) :: indirection_wtheta(column_op_nrow)

    integer(kind=i_def) :: row

    do row = 1, column_op_nrow
      x(map_wtheta(1) + indirection_wtheta(row) - 1) = rhs(map_wtheta(1) &
          + indirection_wtheta(row) - 1) &
        / real(column_op(1, row, cell), r_def)
    end do

  end subroutine solve_column_code

end module solve_column_kernel_mod
