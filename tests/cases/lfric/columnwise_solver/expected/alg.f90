!-----------------------------------------------------------------------------
! Assemble, multiply, solve and apply.
!-----------------------------------------------------------------------------
module cma_whole_solver_alg_mod

  use constants_mod, only : r_def
  use columnwise_operator_mod, only : columnwise_operator_type
  use field_mod, only : field_type
  use operator_mod, only : operator_type
  use apply_column_kernel_mod, only : apply_column_kernel_type
  use assemble_column_kernel_mod, only : assemble_column_kernel_type
  use multiply_columns_kernel_mod, only : multiply_columns_kernel_type
  use solve_column_kernel_mod, only : solve_column_kernel_type
  use cma_whole_solver_alg_mod_psy, only: invoke_0

  implicit none

  private
  public :: cma_whole_solver_alg

contains

  !> @brief Assemble, multiply, solve and apply.
  subroutine cma_whole_solver_alg(x, rhs, lhs, local_op, w_op, a_op, b_op, c_op)

    implicit none

    type(field_type), intent(inout) :: x, rhs, lhs
    type(operator_type), intent(inout) :: local_op
    type(columnwise_operator_type), intent(inout) :: w_op, a_op, b_op, c_op

    call invoke_0(local_op, w_op, a_op, b_op, c_op, x, rhs, lhs)

  end subroutine cma_whole_solver_alg

end module cma_whole_solver_alg_mod
