module scale_kernel_mod

  use argument_mod, only : ANY_SPACE_1, arg_type, DOF, GH_COARSE, GH_FIELD, GH_FINE, &
                           GH_READ, GH_REAL, GH_WRITE
  use kernel_mod, only : kernel_type

  implicit none

  private

  type, public, extends(kernel_type) :: scale_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
         arg_type(GH_FIELD, GH_REAL, GH_WRITE, ANY_SPACE_1, mesh_arg=GH_COARSE), &
         arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_SPACE_1, mesh_arg=GH_FINE) &
         /)
    integer :: operates_on = DOF
  contains
    procedure, nopass :: scale_kernel_code
  end type scale_kernel_type

contains

  subroutine scale_kernel_code()
  end subroutine scale_kernel_code

end module scale_kernel_mod
