module norm_kernel_mod

  use argument_mod, only : arg_type, CELLS, gh_field, gh_real, gh_sum, gh_write
  use fs_continuity_mod, only : w3
  use kernel_mod, only : kernel_type

  implicit none

  private

  type, public, extends(kernel_type) :: norm_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
         arg_type(gh_field, gh_write, w3), &
         arg_type(gh_real, gh_sum) &
         /)
    integer :: iterates_over = CELLS
  contains
    procedure, nopass :: norm_kernel_code
  end type norm_kernel_type

contains

  subroutine norm_kernel_code()
  end subroutine norm_kernel_code

end module norm_kernel_mod
