module diffuse_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_INC, GH_READ, GH_REAL
  use fs_continuity_mod, only : W2, W3
  use kernel_mod, only : kernel_type

  implicit none

  public :: diffuse_kernel_code

  type, public, extends(kernel_type) :: diffuse_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/ &
         arg_type(GH_FIELD, GH_REAL, GH_INC, W2), &
         arg_type(GH_FIELD, GH_REAL, GH_READ, W3), &
         arg_type(GH_FIELD, GH_REAL, GH_READ, W3) &
         /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: diffuse_kernel_code
  end type diffuse_kernel_type

contains

  subroutine diffuse_kernel_code()
  end subroutine diffuse_kernel_code

end module diffuse_kernel_mod
