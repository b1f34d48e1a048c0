!> Adds to a field the product of a matrix for each cell and another field.
module multiply_mod

  use argument_mod, only: arg_type, CELL_COLUMN, GH_FIELD, GH_INC, GH_OPERATOR, GH_READ, GH_REAL
  use constants_mod, only: i_def, r_def
  use fs_continuity_mod, only: W2
  use kernel_mod, only: kernel_type

  implicit none

  type, extends(kernel_type) :: multiply_type
    type(arg_type) :: meta_args(3) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_INC, W2), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W2), &
      arg_type(GH_OPERATOR, GH_REAL, GH_READ, W2, W2) /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: multiply_code
  end type multiply_type

contains

  subroutine multiply_code(cell, nlayers, y, x, ncell_3d, matrix, ndf, undf, map)
    integer(i_def), intent(in) :: cell, nlayers, ncell_3d, ndf, undf, map(ndf)
    real(r_def), intent(inout) :: y(undf)
    real(r_def), intent(in) :: x(undf), matrix(ncell_3d, ndf, ndf)
    integer(i_def) :: first, row, column, k

    first = (cell - 1) * nlayers + 1
    do column = 1, ndf
      do row = 1, ndf
        do k = 0, nlayers - 1
          y(map(row) + k) = y(map(row) + k) &
                            + matrix(first + k, row, column) * x(map(column) + k)
        end do
      end do
    end do
  end subroutine multiply_code

end module multiply_mod
