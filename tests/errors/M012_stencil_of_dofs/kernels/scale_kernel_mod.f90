module scale_kernel_mod

  use argument_mod, only : arg_type, CROSS, DOF, GH_FIELD, GH_READ, GH_REAL, GH_WRITE, &
                           STENCIL
  use fs_continuity_mod, only : W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  type, public, extends(kernel_type) :: scale_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
         arg_type(GH_FIELD, GH_REAL, GH_WRITE, W3), &
         arg_type(GH_FIELD, GH_REAL, GH_READ, W3, STENCIL(CROSS)) &
         /)
    integer :: operates_on = DOF
  contains
    procedure, nopass :: scale_kernel_code
  end type scale_kernel_type

contains

  subroutine scale_kernel_code()
  end subroutine scale_kernel_code

end module scale_kernel_mod
