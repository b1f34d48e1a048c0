module scale_kernel_mod

  use argument_mod, only : arg_type, gh_field, gh_write
  use fs_continuity_mod, only : w3
  use kernel_mod, only : kernel_type

  implicit none

  private

  type, public, extends(kernel_type) :: scale_kernel_type
    private
    type(arg_type) :: meta_args(1) = (/ &
         arg_type(gh_field, gh_write, w3) &
         /)
    integer :: iterates_over = DOFS
  contains
    procedure, nopass :: scale_kernel_code
  end type scale_kernel_type

contains

  subroutine scale_kernel_code()
  end subroutine scale_kernel_code

end module scale_kernel_mod
