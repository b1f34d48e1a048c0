module fill_rows_kernel_mod

  use argument_mod, only : arg_type, OWNED_CELL_COLUMN, GH_FIELD, GH_OPERATOR, GH_READ, GH_REAL, &
                           GH_WRITE
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W3
  use kernel_mod, only : kernel_type

  implicit none

  type, public, extends(kernel_type) :: fill_rows_kernel_type
    private
    type(arg_type) :: meta_args(1) = (/ arg_type(GH_OPERATOR, GH_REAL, GH_WRITE, W3, W3) /)
    integer :: operates_on = OWNED_CELL_COLUMN
  contains
    procedure, nopass :: fill_rows_code
  end type fill_rows_kernel_type

contains

  subroutine fill_rows_code(cell, nlayers, ncell_3d, rows, ndf)
    integer(kind=i_def), intent(in) :: cell, nlayers, ncell_3d, ndf
    real(kind=r_def), intent(inout) :: rows(ncell_3d, ndf, ndf)
    rows((cell - 1) * nlayers + 1, 1, 1) = 0.5_r_def
  end subroutine fill_rows_code

end module fill_rows_kernel_mod
