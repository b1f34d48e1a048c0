!> Applies a columnwise operator to a field and adds the result to another.
module apply_columns_kernel_mod

  use argument_mod, only: ANY_DISCONTINUOUS_SPACE_1, ANY_DISCONTINUOUS_SPACE_2, arg_type, &
                          CELL_COLUMN, GH_COLUMNWISE_OPERATOR, GH_FIELD, GH_READ, GH_READWRITE, &
                          GH_REAL
  use constants_mod, only: i_def, r_def, r_solver
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: apply_columns_code

  type, public, extends(kernel_type) :: apply_columns_type
    private
    type(arg_type) :: meta_args(3) = [ &
      arg_type(GH_FIELD, GH_REAL, GH_READWRITE, ANY_DISCONTINUOUS_SPACE_1), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_DISCONTINUOUS_SPACE_2), &
      arg_type(GH_COLUMNWISE_OPERATOR, GH_REAL, GH_READ, &
               ANY_DISCONTINUOUS_SPACE_1, ANY_DISCONTINUOUS_SPACE_2) &
    ]
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: apply_columns_code
  end type apply_columns_type

contains

  !> Add to a column the product of its banded matrix and the values of the other.
  subroutine apply_columns_code(cell, ncell_2d, y, x, banded, nrow, ncol, bandwidth, alpha, beta, &
                                gamma_m, gamma_p, ndf_y, undf_y, map_y, rows, ndf_x, undf_x, &
                                map_x, columns)
    integer(i_def), intent(in) :: cell, ncell_2d
    integer(i_def), intent(in) :: nrow, ncol, bandwidth, alpha, beta, gamma_m, gamma_p
    integer(i_def), intent(in) :: ndf_y, undf_y, map_y(ndf_y), rows(nrow)
    integer(i_def), intent(in) :: ndf_x, undf_x, map_x(ndf_x), columns(ncol)
    real(r_def), intent(inout) :: y(undf_y)
    real(r_def), intent(in) :: x(undf_x)
    real(r_solver), intent(in) :: banded(bandwidth, nrow, ncell_2d)

    integer(i_def) :: column, first, row
    integer(i_def) :: first_x, first_y

    first_y = minval(map_y) - 1
    first_x = minval(map_x) - 1
    do row = 1, nrow
      first = ceiling(real(alpha * row - gamma_p, r_def) / real(beta, r_def))
      do column = max(1, first), &
          min(ncol, floor(real(alpha * row + gamma_m, r_def) / real(beta, r_def)))
        y(first_y + rows(row)) = y(first_y + rows(row)) + &
          real(banded(column - first + 1, row, cell), r_def) * x(first_x + columns(column))
      end do
    end do
  end subroutine apply_columns_code

end module apply_columns_kernel_mod
