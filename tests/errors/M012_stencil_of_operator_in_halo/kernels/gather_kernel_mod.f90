module gather_kernel_mod

  use argument_mod, only : arg_type, OWNED_AND_HALO_CELL_COLUMN, CROSS, GH_FIELD, &
                           GH_INC, GH_OPERATOR, GH_READ, GH_REAL, GH_WRITE, STENCIL
  use fs_continuity_mod, only : W0, W2, W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  type, public, extends(kernel_type) :: gather_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
         arg_type(GH_FIELD, GH_REAL, GH_WRITE, W3), &
         arg_type(GH_OPERATOR, GH_REAL, GH_READ, W2, W3, STENCIL(CROSS)) &
         /)
    integer :: operates_on = OWNED_AND_HALO_CELL_COLUMN
  contains
    procedure, nopass :: gather_kernel_code
  end type gather_kernel_type

contains

  subroutine gather_kernel_code()
  end subroutine gather_kernel_code

end module gather_kernel_mod
