module fill_kernel_mod

  use argument_mod, only : arg_type, GH_FIELD, GH_READWRITE, GH_REAL, HALO_CELL_COLUMN
  use fs_continuity_mod, only : W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  type, public, extends(kernel_type) :: fill_kernel_type
    private
    type(arg_type) :: meta_args(1) = (/ &
         arg_type(GH_FIELD, GH_REAL, GH_READWRITE, W3) &
         /)
    integer :: operates_on = HALO_CELL_COLUMN
  contains
    procedure, nopass :: fill_kernel_code
  end type fill_kernel_type

contains

  subroutine fill_kernel_code()
  end subroutine fill_kernel_code

end module fill_kernel_mod
