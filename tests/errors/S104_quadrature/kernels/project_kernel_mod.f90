module project_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, func_type, GH_BASIS, GH_FIELD, &
                           GH_QUADRATURE_XYoZ, GH_READ, GH_REAL, GH_WRITE
  use fs_continuity_mod, only : W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  type, public, extends(kernel_type) :: project_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
         arg_type(GH_FIELD, GH_REAL, GH_WRITE, W3), &
         arg_type(GH_FIELD, GH_REAL, GH_READ, W3) &
         /)
    type(func_type) :: meta_funcs(1) = (/ &
         func_type(W3, GH_BASIS) &
         /)
    integer :: gh_shape = GH_QUADRATURE_XYoZ
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: project_kernel_code
  end type project_kernel_type

contains

  subroutine project_kernel_code()
  end subroutine project_kernel_code

end module project_kernel_mod
