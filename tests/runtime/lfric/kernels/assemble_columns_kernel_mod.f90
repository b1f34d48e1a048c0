!> Assembles a columnwise operator from the matrices of an operator.
module assemble_columns_kernel_mod

  use argument_mod, only: ANY_DISCONTINUOUS_SPACE_1, ANY_DISCONTINUOUS_SPACE_2, arg_type, &
                          CELL_COLUMN, GH_COLUMNWISE_OPERATOR, GH_OPERATOR, GH_READ, GH_REAL, &
                          GH_WRITE
  use constants_mod, only: i_def, r_def, r_solver
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: assemble_columns_code

  type, public, extends(kernel_type) :: assemble_columns_type
    private
    type(arg_type) :: meta_args(2) = [ &
      arg_type(GH_OPERATOR, GH_REAL, GH_READ, &
               ANY_DISCONTINUOUS_SPACE_1, ANY_DISCONTINUOUS_SPACE_2), &
      arg_type(GH_COLUMNWISE_OPERATOR, GH_REAL, GH_WRITE, &
               ANY_DISCONTINUOUS_SPACE_1, ANY_DISCONTINUOUS_SPACE_2) &
    ]
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: assemble_columns_code
  end type assemble_columns_type

contains

  !> Add the matrices of all layers of a column, each at the rows and columns of its layer.
  subroutine assemble_columns_code(cell, nlayers, ncell_2d, ncell_3d, matrix, banded, nrow, ncol, &
                                   bandwidth, alpha, beta, gamma_m, gamma_p, ndf_to, map_to, &
                                   ndf_from, map_from)
    integer(i_def), intent(in) :: cell, nlayers, ncell_2d, ncell_3d
    integer(i_def), intent(in) :: nrow, ncol, bandwidth, alpha, beta, gamma_m, gamma_p
    integer(i_def), intent(in) :: ndf_to, map_to(ndf_to, nlayers)
    integer(i_def), intent(in) :: ndf_from, map_from(ndf_from, nlayers)
    real(r_def), intent(in) :: matrix(ncell_3d, ndf_to, ndf_from)
    real(r_solver), intent(inout) :: banded(bandwidth, nrow, ncell_2d)

    integer(i_def) :: band, first, from, k, row, to

    banded(:, :, cell) = 0.0_r_solver
    do k = 1, nlayers
      do to = 1, ndf_to
        row = map_to(to, k)
        first = ceiling(real(alpha * row - gamma_p, r_def) / real(beta, r_def))
        do from = 1, ndf_from
          band = map_from(from, k) - first + 1
          banded(band, row, cell) = banded(band, row, cell) &
            + real(matrix((cell - 1) * nlayers + k, to, from), r_solver)
        end do
      end do
    end do
  end subroutine assemble_columns_code

end module assemble_columns_kernel_mod
