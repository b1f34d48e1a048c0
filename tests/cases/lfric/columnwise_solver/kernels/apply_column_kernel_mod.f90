!-----------------------------------------------------------------------------
! Corpus kernel: apply column.
!-----------------------------------------------------------------------------
!> @brief Multiply a column by a column matrix.
module apply_column_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_INC, &
                           ANY_SPACE_1, GH_READ, ANY_SPACE_2, GH_COLUMNWISE_OPERATOR
  use constants_mod, only : i_def, r_def, r_solver
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: apply_column_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_INC, ANY_SPACE_1), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_SPACE_2), &
      arg_type(GH_COLUMNWISE_OPERATOR, GH_REAL, GH_READ, ANY_SPACE_1, ANY_SPACE_2)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: apply_column_code
  end type apply_column_kernel_type

  public :: apply_column_code

contains

  !> @brief Multiply a column by a column matrix.
  !> @param[in,out] lhs Real field on ANY_SPACE_1, incremented.
  !> @param[in] x Real field on ANY_SPACE_2.
  !> @param[in] column_op Column-wise operator from ANY_SPACE_2 to ANY_SPACE_1.
  subroutine apply_column_code(cell, ncell_2d, &
                               lhs, &
                               x, &
                               column_op, column_op_nrow, column_op_ncol, &
                               column_op_bandwidth, column_op_alpha, column_op_beta, &
                               column_op_gamma_m, column_op_gamma_p, &
                               ndf_s1, undf_s1, map_s1, indirection_s1, &
                               ndf_s2, undf_s2, map_s2, indirection_s2)

    implicit none

    integer(kind=i_def), intent(in) :: cell, ncell_2d, column_op_nrow, column_op_ncol
    integer(kind=i_def), intent(in) :: column_op_bandwidth, column_op_alpha
    integer(kind=i_def), intent(in) :: column_op_beta, column_op_gamma_m
    integer(kind=i_def), intent(in) :: column_op_gamma_p, ndf_s1, undf_s1, ndf_s2
    integer(kind=i_def), intent(in) :: undf_s2
    real(kind=r_def), intent(inout) :: lhs(undf_s1)
    real(kind=r_def), intent(in) :: x(undf_s2)
    real(kind=r_solver), intent(in) :: column_op(column_op_bandwidth, column_op_nrow, ncell_2d)
    integer(kind=i_def), intent(in) :: map_s1(ndf_s1)
    integer(kind=i_def), intent(in) :: indirection_s1(column_op_nrow)
    integer(kind=i_def), intent(in) :: map_s2(ndf_s2)
    integer(kind=i_def), intent(in) :: indirection_s2(column_op_ncol)

    integer(kind=i_def) :: row

    do row = 1, column_op_nrow
      lhs(map_s1(1) + indirection_s1(row) - 1) = real(column_op(1, row, cell), r_def) &
        * x(map_s2(1) + indirection_s2(1) - 1)
    end do

  end subroutine apply_column_code

end module apply_column_kernel_mod
