module mix_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_INTEGER, GH_LOGICAL, &
                           GH_READ, GH_REAL, GH_SCALAR, GH_WRITE
  use fs_continuity_mod, only : W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  type, public, extends(kernel_type) :: mix_kernel_type
    private
    type(arg_type) :: meta_args(5) = (/ &
         arg_type(GH_FIELD, GH_REAL, GH_WRITE, W3), &
         arg_type(GH_FIELD, GH_INTEGER, GH_READ, W3), &
         arg_type(GH_SCALAR, GH_INTEGER, GH_READ), &
         arg_type(GH_SCALAR, GH_LOGICAL, GH_READ), &
         arg_type(GH_SCALAR, GH_REAL, GH_READ) &
         /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: mix_kernel_code
  end type mix_kernel_type

contains

  subroutine mix_kernel_code()
  end subroutine mix_kernel_code

end module mix_kernel_mod
