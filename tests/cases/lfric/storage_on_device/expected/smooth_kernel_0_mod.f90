! psyclone-storage: changed for psy.f90
module smooth_kernel_0_mod

  use argument_mod, only : arg_type, CELL_COLUMN, CROSS, GH_FIELD, GH_READ, GH_REAL, GH_WRITE, STENCIL
  use fs_continuity_mod, only : W3
  use kernel_mod, only : kernel_type

  implicit none

  public :: smooth_kernel_0_code

  type, public, extends(kernel_type) :: smooth_kernel_0_type
    private
    type(arg_type) :: meta_args(2) = (/ &
         arg_type(GH_FIELD, GH_REAL, GH_WRITE, W3), &
         arg_type(GH_FIELD, GH_REAL, GH_READ, W3, STENCIL(CROSS)) &
         /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: smooth_kernel_0_code
  end type smooth_kernel_0_type

contains

  subroutine smooth_kernel_0_code()
    !$acc routine seq
  end subroutine smooth_kernel_0_code

end module smooth_kernel_0_mod
