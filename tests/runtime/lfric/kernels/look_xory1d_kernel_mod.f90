!> Looks at the matrices of the cells along a line, of which the algorithm gives the direction.
module look_xory1d_kernel_mod

  use argument_mod, only: arg_type, CELL_COLUMN, GH_FIELD, GH_OPERATOR, GH_READ, GH_REAL, &
                          GH_WRITE, STENCIL, W3, XORY1D
  use constants_mod, only: i_def, r_def
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: look_xory1d_code

  type, public, extends(kernel_type) :: look_xory1d_type
    private
    type(arg_type) :: meta_args(3) = [ &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, W3), &
      arg_type(GH_OPERATOR, GH_REAL, GH_READ, W3, W3, STENCIL(XORY1D)), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3, STENCIL(XORY1D)) &
    ]
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: look_xory1d_code
  end type look_xory1d_type

contains

  !> Sum the entries along a line; spoil `y` if the cells are not those of `x`.
  subroutine look_xory1d_code(cell, nlayers, y, ncell_3d, matrix, size_matrix, way_matrix, cells, &
                              x, size_x, way_x, stencil, ndf, undf, map)
    integer(i_def), intent(in) :: cell, nlayers, ncell_3d, size_matrix, way_matrix
    integer(i_def), intent(in) :: size_x, way_x, ndf, undf, map(ndf)
    integer(i_def), intent(in) :: cells(size_matrix), stencil(ndf, size_x)
    real(r_def), intent(inout) :: y(undf)
    real(r_def), intent(in) :: x(undf), matrix(ncell_3d, ndf, ndf)

    integer(i_def) :: at, k, place

    if (size_matrix /= size_x .or. way_matrix /= way_x .or. cells(1) /= cell) then
      y(map(1)) = -1000003.0_r_def
      return
    end if
    do k = 0, nlayers - 1
      y(map(1) + k) = real(way_matrix, r_def)
      do place = 1, size_matrix
        at = (cells(place) - 1) * nlayers + k + 1
        if (matrix(at, 1, 1) /= x(stencil(1, place) + k) - 1.0_r_def) then
          y(map(1)) = -1000003.0_r_def
          return
        end if
        y(map(1) + k) = y(map(1) + k) + real(place, r_def) * matrix(at, 1, 1)
      end do
    end do
  end subroutine look_xory1d_code

end module look_xory1d_kernel_mod
