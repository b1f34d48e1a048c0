module norm_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_REDUCTION, &
                           GH_SCALAR, GH_WRITE
  use fs_continuity_mod, only : W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  type, public, extends(kernel_type) :: norm_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
         arg_type(GH_FIELD, GH_REAL, GH_WRITE, W3), &
         arg_type(GH_SCALAR, GH_REAL, GH_REDUCTION) &
         /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: norm_kernel_code
  end type norm_kernel_type

contains

  subroutine norm_kernel_code()
  end subroutine norm_kernel_code

end module norm_kernel_mod
