!> Adds to a field the product of a matrix for each cell and another field.
module multiply_kernel_mod

  use argument_mod, only: ANY_SPACE_1, ANY_SPACE_2, arg_type, CELL_COLUMN, GH_FIELD, GH_INC, &
                          GH_OPERATOR, GH_READ, GH_REAL
  use constants_mod, only: i_def, r_def
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: multiply_code

  type, public, extends(kernel_type) :: multiply_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_INC, ANY_SPACE_1), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_SPACE_2), &
      arg_type(GH_OPERATOR, GH_REAL, GH_READ, ANY_SPACE_1, ANY_SPACE_2) &
    /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: multiply_code
  end type multiply_type

contains

  !> Add the product for one column, a layer in the innermost loop.
  subroutine multiply_code(cell, nlayers, y, x, ncell_3d, matrix, ndf_y, undf_y, map_y, ndf_x, &
                           undf_x, map_x)
    integer(i_def), intent(in) :: cell, nlayers, ncell_3d
    integer(i_def), intent(in) :: ndf_y, undf_y, map_y(ndf_y)
    integer(i_def), intent(in) :: ndf_x, undf_x, map_x(ndf_x)
    real(r_def), intent(inout) :: y(undf_y)
    real(r_def), intent(in) :: x(undf_x)
    real(r_def), intent(in) :: matrix(ncell_3d, ndf_y, ndf_x)

    integer(i_def) :: first, row, column, k

    first = (cell - 1) * nlayers + 1
    do column = 1, ndf_x
      do row = 1, ndf_y
        do k = 0, nlayers - 1
          y(map_y(row) + k) = y(map_y(row) + k) &
                              + matrix(first + k, row, column) * x(map_x(column) + k)
        end do
      end do
    end do
  end subroutine multiply_code

end module multiply_kernel_mod
