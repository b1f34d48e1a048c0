module apply_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_OPERATOR, GH_READ, GH_REAL, &
                           GH_WRITE
  use fs_continuity_mod, only : W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  type, public, extends(kernel_type) :: apply_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
         arg_type(GH_FIELD, GH_REAL, GH_WRITE, W3), &
         arg_type(GH_OPERATOR, GH_REAL, GH_READ, W3, W3) &
         /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: apply_kernel_code
  end type apply_kernel_type

contains

  subroutine apply_kernel_code()
  end subroutine apply_kernel_code

end module apply_kernel_mod
