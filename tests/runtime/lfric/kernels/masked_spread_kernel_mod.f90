!> Adds to dofs that cells share, from those cells where a field of reals is above 0; and to the
!> matrices of these cells.
module masked_spread_kernel_mod

  use argument_mod, only: ANY_SPACE_1, arg_type, CELL_COLUMN, CELL_MASK, GH_FIELD, GH_INC, &
                          GH_OPERATOR, GH_READ, GH_READWRITE, GH_REAL, W3
  use constants_mod, only: i_def, r_def
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: masked_spread_code

  type, public, extends(kernel_type) :: masked_spread_type
    private
    type(arg_type) :: meta_args(3) = [ &
      arg_type(GH_FIELD, GH_REAL, GH_INC, ANY_SPACE_1), &
      arg_type(GH_OPERATOR, GH_REAL, GH_READWRITE, W3, W3), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3, CELL_MASK) &
    ]
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: masked_spread_code
  end type masked_spread_type

contains

  !> Add what the matrix of the cell has to all dofs around it, and the field to the matrix.
  subroutine masked_spread_code(cell, nlayers, y, ncell_3d, matrix, x, ndf_y, undf_y, map_y, ndf_x, &
                                undf_x, map_x)
    integer(i_def), intent(in) :: cell, nlayers, ncell_3d
    integer(i_def), intent(in) :: ndf_y, undf_y, map_y(ndf_y)
    integer(i_def), intent(in) :: ndf_x, undf_x, map_x(ndf_x)
    real(r_def), intent(inout) :: y(undf_y), matrix(ncell_3d, ndf_x, ndf_x)
    real(r_def), intent(in) :: x(undf_x)

    integer(i_def) :: at, df, k

    if (x(map_x(1)) <= 0.0_r_def) then
      y(map_y(1)) = -1000003.0_r_def
      return
    end if
    do k = 0, nlayers - 1
      at = (cell - 1) * nlayers + k + 1
      do df = 1, ndf_y
        y(map_y(df) + k) = y(map_y(df) + k) + real(df, r_def) * matrix(at, 1, 1)
      end do
      matrix(at, 1, 1) = matrix(at, 1, 1) + x(map_x(1) + k)
    end do
  end subroutine masked_spread_code

end module masked_spread_kernel_mod
