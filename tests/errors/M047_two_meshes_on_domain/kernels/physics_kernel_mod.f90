module physics_kernel_mod

  use argument_mod, only : arg_type, DOMAIN, GH_COARSE, GH_FIELD, GH_FINE, GH_READ, &
                           GH_REAL, GH_WRITE
  use fs_continuity_mod, only : W3, WTHETA
  use kernel_mod, only : kernel_type

  implicit none

  private

  type, public, extends(kernel_type) :: physics_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
         arg_type(GH_FIELD, GH_REAL, GH_WRITE, W3, mesh_arg=GH_COARSE), &
         arg_type(GH_FIELD, GH_REAL, GH_READ, WTHETA, mesh_arg=GH_FINE) &
         /)
    integer :: operates_on = DOMAIN
  contains
    procedure, nopass :: physics_kernel_code
  end type physics_kernel_type

contains

  subroutine physics_kernel_code()
  end subroutine physics_kernel_code

end module physics_kernel_mod
