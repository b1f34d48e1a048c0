!> Looks at the matrices of the cells around a cell, along four branches.
module look_cross2d_kernel_mod

  use argument_mod, only: arg_type, CELL_COLUMN, CROSS2D, GH_FIELD, GH_OPERATOR, GH_READ, &
                          GH_REAL, GH_WRITE, STENCIL, W3
  use constants_mod, only: i_def, r_def
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: look_cross2d_code

  type, public, extends(kernel_type) :: look_cross2d_type
    private
    type(arg_type) :: meta_args(3) = [ &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, W3), &
      arg_type(GH_OPERATOR, GH_REAL, GH_READ, W3, W3, STENCIL(CROSS2D)), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3, STENCIL(CROSS2D)) &
    ]
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: look_cross2d_code
  end type look_cross2d_type

contains

  !> Sum the entries around a cell by branch and place; spoil `y` if the cells are not those of `x`.
  subroutine look_cross2d_code(cell, nlayers, y, ncell_3d, matrix, sizes_matrix, longest_matrix, &
                               cells, x, sizes_x, longest_x, stencil, ndf, undf, map)
    integer(i_def), intent(in) :: cell, nlayers, ncell_3d, sizes_matrix(4), longest_matrix
    integer(i_def), intent(in) :: sizes_x(4), longest_x, ndf, undf, map(ndf)
    integer(i_def), intent(in) :: cells(longest_matrix, 4), stencil(ndf, longest_x, 4)
    real(r_def), intent(inout) :: y(undf)
    real(r_def), intent(in) :: x(undf), matrix(ncell_3d, ndf, ndf)

    integer(i_def) :: at, branch, k, place

    if (any(sizes_matrix /= sizes_x) .or. any(cells(1, :) /= cell)) then
      y(map(1)) = -1000003.0_r_def
      return
    end if
    do k = 0, nlayers - 1
      y(map(1) + k) = 0.0_r_def
      do branch = 1, 4
        do place = 1, sizes_matrix(branch)
          at = (cells(place, branch) - 1) * nlayers + k + 1
          if (matrix(at, 1, 1) /= x(stencil(1, place, branch) + k) - 1.0_r_def) then
            y(map(1)) = -1000003.0_r_def
            return
          end if
          y(map(1) + k) = y(map(1) + k) + real(branch * place, r_def) * matrix(at, 1, 1)
        end do
      end do
    end do
  end subroutine look_cross2d_code

end module look_cross2d_kernel_mod
