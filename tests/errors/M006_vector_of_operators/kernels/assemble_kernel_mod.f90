module assemble_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_OPERATOR, GH_READ, &
                           GH_REAL, GH_WRITE
  use fs_continuity_mod, only : W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  type, public, extends(kernel_type) :: assemble_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
         arg_type(GH_FIELD, GH_REAL, GH_WRITE, W3), &
         arg_type(GH_OPERATOR*2, GH_REAL, GH_READ, W3, W3) &
         /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: assemble_kernel_code
  end type assemble_kernel_type

contains

  subroutine assemble_kernel_code()
  end subroutine assemble_kernel_code

end module assemble_kernel_mod
