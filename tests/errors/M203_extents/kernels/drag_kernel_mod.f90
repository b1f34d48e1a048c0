module drag_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_READ, GH_REAL, GH_SCALAR, &
                           GH_WRITE
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W3
  use kernel_mod, only : kernel_type

  implicit none

  private
  public :: drag_kernel_code

  type, public, extends(kernel_type) :: drag_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/ &
         arg_type(GH_FIELD, GH_REAL, GH_WRITE, W3), &
         arg_type(GH_FIELD, GH_REAL, GH_READ, W3), &
         arg_type(GH_SCALAR, GH_REAL, GH_READ) &
         /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: drag_kernel_code
  end type drag_kernel_type

contains

  subroutine drag_kernel_code(nlayers, drag, wind, dt, ndf, undf, map)

    implicit none

    integer(i_def), intent(in) :: nlayers, ndf, undf
    integer(i_def), intent(in) :: map(undf)
    real(r_def), intent(inout) :: drag(ndf)
    real(r_def), intent(in) :: wind(undf)
    real(r_def), intent(in) :: dt

  end subroutine drag_kernel_code

end module drag_kernel_mod
