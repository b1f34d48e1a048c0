module damp_rows_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_OPERATOR, GH_READ, &
                           GH_INC, GH_REAL
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W2, W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  type, public, extends(kernel_type) :: damp_rows_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_INC, W2), &
      arg_type(GH_OPERATOR, GH_REAL, GH_READ, W3, W3) &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: damp_rows_code
  end type damp_rows_kernel_type

  public :: damp_rows_code

contains

  subroutine damp_rows_code(cell, nlayers, tracer, ncell_3d, rows, ndf, undf, map, &
                            ndf_w3)

    integer(kind=i_def), intent(in) :: cell, nlayers, ncell_3d, ndf, undf, ndf_w3
    integer(kind=i_def), intent(in) :: map(ndf)
    real(kind=r_def), intent(inout) :: tracer(undf)
    real(kind=r_def), intent(in) :: rows(ncell_3d, ndf_w3, ndf_w3)

    integer(kind=i_def) :: k

    do k = 0, nlayers - 1
      tracer(map(1) + k) = rows((cell - 1) * nlayers + k + 1, 1, 1) * tracer(map(1) + k)
    end do

  end subroutine damp_rows_code

end module damp_rows_kernel_mod
