module physics_kernel_mod

  use argument_mod, only : arg_type, DOMAIN, func_type, GH_BASIS, GH_EVALUATOR, GH_FIELD, &
                           GH_REAL, GH_WRITE
  use fs_continuity_mod, only : W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  type, public, extends(kernel_type) :: physics_kernel_type
    private
    type(arg_type) :: meta_args(1) = (/ &
         arg_type(GH_FIELD, GH_REAL, GH_WRITE, W3) &
         /)
    type(func_type) :: meta_funcs(1) = (/ func_type(W3, GH_BASIS) /)
    integer :: gh_shape = GH_EVALUATOR
    integer :: operates_on = DOMAIN
  contains
    procedure, nopass :: physics_kernel_code
  end type physics_kernel_type

contains

  subroutine physics_kernel_code()
  end subroutine physics_kernel_code

end module physics_kernel_mod
