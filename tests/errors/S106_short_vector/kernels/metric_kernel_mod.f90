module metric_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_READ, GH_REAL, GH_WRITE
  use fs_continuity_mod, only : W0, W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  type, public, extends(kernel_type) :: metric_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
         arg_type(GH_FIELD, GH_REAL, GH_WRITE, W3), &
         arg_type(GH_FIELD*3, GH_REAL, GH_READ, W0) &
         /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: metric_kernel_code
  end type metric_kernel_type

contains

  subroutine metric_kernel_code()
  end subroutine metric_kernel_code

end module metric_kernel_mod
