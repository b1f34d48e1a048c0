!> Sums a field over a stencil along a direction chosen at run time.
module blur_xory1d_kernel_mod

  use argument_mod, only: ANY_DISCONTINUOUS_SPACE_1, ANY_SPACE_1, arg_type, CELL_COLUMN, &
                          GH_FIELD, GH_READ, GH_REAL, GH_WRITE, STENCIL, XORY1D
  use constants_mod, only: i_def, r_def
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: blur_xory1d_code

  type, public, extends(kernel_type) :: blur_xory1d_type
    private
    type(arg_type) :: meta_args(2) = [ &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, ANY_DISCONTINUOUS_SPACE_1), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_SPACE_1, STENCIL(XORY1D)) &
    ]
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: blur_xory1d_code
  end type blur_xory1d_type

contains

  !> Set a column to weighted values of the cells around it.
  subroutine blur_xory1d_code(nlayers, y, x, cells, direction, stencil, ndf_y, undf_y, map_y, &
                              ndf_x, undf_x, map_x)
    integer(i_def), intent(in) :: nlayers, cells, direction
    integer(i_def), intent(in) :: ndf_y, undf_y, map_y(ndf_y)
    integer(i_def), intent(in) :: ndf_x, undf_x, map_x(ndf_x)
    integer(i_def), intent(in) :: stencil(ndf_x, cells)
    real(r_def), intent(inout) :: y(undf_y)
    real(r_def), intent(in) :: x(undf_x)

    integer(i_def) :: cell, df, k

    do k = 0, nlayers - 1
      do df = 1, ndf_y
        y(map_y(df) + k) = real(direction, r_def)
        do cell = 1, cells
          y(map_y(df) + k) = y(map_y(df) + k) &
                             + real(df + cell, r_def) * sum(x(stencil(:, cell) + k))
        end do
      end do
    end do
  end subroutine blur_xory1d_code

end module blur_xory1d_kernel_mod
