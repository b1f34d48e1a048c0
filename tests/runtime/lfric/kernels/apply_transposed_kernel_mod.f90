!> Applies the transpose of an operator to a field and adds the result to one on any space.
module apply_transposed_kernel_mod

  use argument_mod, only: ANY_SPACE_1, ANY_SPACE_2, arg_type, CELL_COLUMN, GH_FIELD, GH_INC, &
                          GH_OPERATOR, GH_READ, GH_REAL
  use constants_mod, only: i_def, r_def
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: apply_transposed_code

  type, public, extends(kernel_type) :: apply_transposed_type
    private
    type(arg_type) :: meta_args(3) = [ &
      arg_type(GH_FIELD, GH_REAL, GH_INC, ANY_SPACE_1), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_SPACE_2), &
      arg_type(GH_OPERATOR, GH_REAL, GH_READ, ANY_SPACE_2, ANY_SPACE_1) &
    ]
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: apply_transposed_code
  end type apply_transposed_type

contains

  !> Add to a column the product of its transposed matrices and the values of the cell.
  subroutine apply_transposed_code(cell, nlayers, y, x, ncell_3d, matrix, ndf_y, undf_y, &
                                   map_y, ndf_x, undf_x, map_x)
    integer(i_def), intent(in) :: cell, nlayers, ncell_3d
    integer(i_def), intent(in) :: ndf_y, undf_y, map_y(ndf_y)
    integer(i_def), intent(in) :: ndf_x, undf_x, map_x(ndf_x)
    real(r_def), intent(inout) :: y(undf_y)
    real(r_def), intent(in) :: x(undf_x)
    real(r_def), intent(in) :: matrix(ncell_3d, ndf_x, ndf_y)

    integer(i_def) :: df, k

    do k = 0, nlayers - 1
      do df = 1, ndf_y
        y(map_y(df) + k) = y(map_y(df) + k) &
                           + dot_product(matrix((cell - 1) * nlayers + k + 1, :, df), x(map_x + k))
      end do
    end do
  end subroutine apply_transposed_code

end module apply_transposed_kernel_mod
