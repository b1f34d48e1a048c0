!> Sums a field over a cross whose branches are kept apart.
module blur_cross2d_kernel_mod

  use argument_mod, only: ANY_DISCONTINUOUS_SPACE_1, ANY_SPACE_1, arg_type, CELL_COLUMN, &
                          CROSS2D, GH_FIELD, GH_READ, GH_REAL, GH_WRITE, STENCIL
  use constants_mod, only: i_def, r_def
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: blur_cross2d_code

  type, public, extends(kernel_type) :: blur_cross2d_type
    private
    type(arg_type) :: meta_args(2) = [ &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, ANY_DISCONTINUOUS_SPACE_1), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_SPACE_1, STENCIL(CROSS2D)) &
    ]
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: blur_cross2d_code
  end type blur_cross2d_type

contains

  !> Set a column to values of the cells around it, weighted by branch and place.
  subroutine blur_cross2d_code(nlayers, y, x, cells, longest, stencil, ndf_y, undf_y, map_y, &
                               ndf_x, undf_x, map_x)
    integer(i_def), intent(in) :: nlayers, cells(4), longest
    integer(i_def), intent(in) :: ndf_y, undf_y, map_y(ndf_y)
    integer(i_def), intent(in) :: ndf_x, undf_x, map_x(ndf_x)
    integer(i_def), intent(in) :: stencil(ndf_x, longest, 4)
    real(r_def), intent(inout) :: y(undf_y)
    real(r_def), intent(in) :: x(undf_x)

    integer(i_def) :: branch, cell, df, k

    do k = 0, nlayers - 1
      do df = 1, ndf_y
        y(map_y(df) + k) = 0.0_r_def
        do branch = 1, 4
          do cell = 1, cells(branch)
            y(map_y(df) + k) = y(map_y(df) + k) &
                               + real(branch + 4 * cell, r_def) &
                               * sum(x(stencil(:, cell, branch) + k))
          end do
        end do
      end do
    end do
  end subroutine blur_cross2d_code

end module blur_cross2d_kernel_mod
