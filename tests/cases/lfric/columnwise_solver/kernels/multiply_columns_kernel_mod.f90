!-----------------------------------------------------------------------------
! Corpus kernel: multiply columns.
!-----------------------------------------------------------------------------
!> @brief Product of two column matrices, added with weights to a third.
module multiply_columns_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_COLUMNWISE_OPERATOR, GH_REAL, &
                           GH_READ, ANY_SPACE_1, ANY_SPACE_2, GH_READWRITE, GH_SCALAR
  use constants_mod, only : i_def, r_def, r_solver
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: multiply_columns_kernel_type
    private
    type(arg_type) :: meta_args(5) = (/ &
      arg_type(GH_COLUMNWISE_OPERATOR, GH_REAL, GH_READ, ANY_SPACE_1, ANY_SPACE_2), &
      arg_type(GH_COLUMNWISE_OPERATOR, GH_REAL, GH_READ, ANY_SPACE_2, ANY_SPACE_1), &
      arg_type(GH_COLUMNWISE_OPERATOR, GH_REAL, GH_READWRITE, ANY_SPACE_1, ANY_SPACE_1), &
      arg_type(GH_SCALAR, GH_REAL, GH_READ), &
      arg_type(GH_SCALAR, GH_REAL, GH_READ)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: multiply_columns_code
  end type multiply_columns_kernel_type

  public :: multiply_columns_code

contains

  !> @brief Product of two column matrices, added with weights to a third.
  !> @param[in] a_op Column-wise operator from ANY_SPACE_2 to ANY_SPACE_1.
  !> @param[in] b_op Column-wise operator from ANY_SPACE_1 to ANY_SPACE_2.
  !> @param[in,out] c_op Column-wise operator on ANY_SPACE_1, updated.
  !> @param[in] alpha Real scalar.
  !> @param[in] beta Real scalar.
  subroutine multiply_columns_code(cell, ncell_2d, &
                                   a_op, a_op_nrow, a_op_ncol, a_op_bandwidth, &
                                   a_op_alpha, a_op_beta, a_op_gamma_m, a_op_gamma_p, &
                                   b_op, b_op_nrow, b_op_ncol, b_op_bandwidth, &
                                   b_op_alpha, b_op_beta, b_op_gamma_m, b_op_gamma_p, &
                                   c_op, c_op_nrow, c_op_bandwidth, c_op_alpha, &
                                   c_op_beta, c_op_gamma_m, c_op_gamma_p, &
                                   alpha, &
                                   beta)

    implicit none

    integer(kind=i_def), intent(in) :: cell, ncell_2d, a_op_nrow, a_op_ncol
    integer(kind=i_def), intent(in) :: a_op_bandwidth, a_op_alpha, a_op_beta
    integer(kind=i_def), intent(in) :: a_op_gamma_m, a_op_gamma_p, b_op_nrow
    integer(kind=i_def), intent(in) :: b_op_ncol, b_op_bandwidth, b_op_alpha
    integer(kind=i_def), intent(in) :: b_op_beta, b_op_gamma_m, b_op_gamma_p
    integer(kind=i_def), intent(in) :: c_op_nrow, c_op_bandwidth, c_op_alpha
    integer(kind=i_def), intent(in) :: c_op_beta, c_op_gamma_m, c_op_gamma_p
    real(kind=r_solver), intent(in) :: a_op(a_op_bandwidth, a_op_nrow, ncell_2d)
    real(kind=r_solver), intent(in) :: b_op(b_op_bandwidth, b_op_nrow, ncell_2d)
    real(kind=r_solver), intent(inout) :: c_op(c_op_bandwidth, c_op_nrow, ncell_2d)
    real(kind=r_def), intent(in) :: alpha
    real(kind=r_def), intent(in) :: beta

    integer(kind=i_def) :: row

    do row = 1, c_op_nrow
      c_op(:, row, cell) = real(beta, r_solver) * c_op(:, row, cell) &
        + real(alpha, r_solver) * a_op(1, row, cell) * b_op(1, 1, cell)
    end do

  end subroutine multiply_columns_code

end module multiply_columns_kernel_mod
