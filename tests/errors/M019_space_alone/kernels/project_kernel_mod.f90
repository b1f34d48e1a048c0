module project_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, func_type, GH_EVALUATOR, GH_FIELD, &
                           GH_INC, GH_REAL
  use fs_continuity_mod, only : W1
  use kernel_mod, only : kernel_type

  implicit none

  private

  type, public, extends(kernel_type) :: project_kernel_type
    private
    type(arg_type) :: meta_args(1) = (/ &
         arg_type(GH_FIELD, GH_REAL, GH_INC, W1) &
         /)
    type(func_type) :: meta_funcs(1) = (/ func_type(W1) /)
    integer :: gh_shape = GH_EVALUATOR
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: project_kernel_code
  end type project_kernel_type

contains

  subroutine project_kernel_code()
  end subroutine project_kernel_code

end module project_kernel_mod
