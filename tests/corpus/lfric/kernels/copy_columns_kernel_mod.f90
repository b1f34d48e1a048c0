!-----------------------------------------------------------------------------
! Corpus kernel: copy columns.
!-----------------------------------------------------------------------------
!> @brief Overwrite one column matrix by another.
module copy_columns_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_COLUMNWISE_OPERATOR, GH_REAL, &
                           GH_READ, GH_WRITE
  use constants_mod, only : i_def, r_solver
  use fs_continuity_mod, only : W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: copy_columns_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(GH_COLUMNWISE_OPERATOR, GH_REAL, GH_READ, W3, W3), &
      arg_type(GH_COLUMNWISE_OPERATOR, GH_REAL, GH_WRITE, W3, W3)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: copy_columns_code
  end type copy_columns_kernel_type

  public :: copy_columns_code

contains

  !> @brief Overwrite one column matrix by another.
  !> @param[in] from_op Column-wise operator on W3.
  !> @param[in,out] to_op Column-wise operator on W3, overwritten.
  subroutine copy_columns_code(cell, ncell_2d, &
                               from_op, from_op_nrow, from_op_bandwidth, &
                               from_op_alpha, from_op_beta, from_op_gamma_m, &
                               from_op_gamma_p, &
                               to_op, to_op_nrow, to_op_bandwidth, to_op_alpha, &
                               to_op_beta, to_op_gamma_m, to_op_gamma_p)

    implicit none

    integer(kind=i_def), intent(in) :: cell, ncell_2d, from_op_nrow, from_op_bandwidth
    integer(kind=i_def), intent(in) :: from_op_alpha, from_op_beta, from_op_gamma_m
    integer(kind=i_def), intent(in) :: from_op_gamma_p, to_op_nrow, to_op_bandwidth
    integer(kind=i_def), intent(in) :: to_op_alpha, to_op_beta, to_op_gamma_m
    integer(kind=i_def), intent(in) :: to_op_gamma_p
    real(kind=r_solver), intent(in) :: from_op(from_op_bandwidth, from_op_nrow, ncell_2d)
    real(kind=r_solver), intent(inout) :: to_op(to_op_bandwidth, to_op_nrow, ncell_2d)

    integer(kind=i_def) :: row

    do row = 1, to_op_nrow
      to_op(:, row, cell) = from_op(1, row, cell)
    end do

  end subroutine copy_columns_code

end module copy_columns_kernel_mod
