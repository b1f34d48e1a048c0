!> Looks at the matrices of the cells around a cell, in a region.
module look_region_kernel_mod

  use argument_mod, only: arg_type, CELL_COLUMN, GH_FIELD, GH_OPERATOR, GH_READ, GH_REAL, &
                          GH_WRITE, REGION, STENCIL, W2, W3
  use constants_mod, only: i_def, r_def
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: look_region_code

  type, public, extends(kernel_type) :: look_region_type
    private
    type(arg_type) :: meta_args(3) = [ &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, W3), &
      arg_type(GH_OPERATOR, GH_REAL, GH_READ, W2, W3, STENCIL(REGION)), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3, STENCIL(REGION)) &
    ]
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: look_region_code
  end type look_region_type

contains

  !> Sum the entries around a cell; spoil `y` if the cells are not those of the field `x`, which has
  !> given the entries their values.
  subroutine look_region_code(cell, nlayers, y, ncell_3d, matrix, size_matrix, cells, x, size_x, &
                              stencil, ndf_y, undf_y, map_y, ndf_to)
    integer(i_def), intent(in) :: cell, nlayers, ncell_3d, size_matrix, size_x
    integer(i_def), intent(in) :: ndf_y, undf_y, map_y(ndf_y), ndf_to
    integer(i_def), intent(in) :: cells(size_matrix), stencil(ndf_y, size_x)
    real(r_def), intent(inout) :: y(undf_y)
    real(r_def), intent(in) :: x(undf_y), matrix(ncell_3d, ndf_to, ndf_y)

    integer(i_def) :: at, k, place

    if (size_matrix /= size_x .or. cells(1) /= cell) then
      y(map_y(1)) = -1000003.0_r_def
      return
    end if
    do k = 0, nlayers - 1
      y(map_y(1) + k) = 0.0_r_def
      do place = 1, size_matrix
        at = (cells(place) - 1) * nlayers + k + 1
        if (matrix(at, 1, 1) /= x(stencil(1, place) + k) - 1.0_r_def) then
          y(map_y(1)) = -1000003.0_r_def
          return
        end if
        y(map_y(1) + k) = y(map_y(1) + k) + real(place, r_def) * sum(matrix(at, :, 1))
      end do
    end do
  end subroutine look_region_code

end module look_region_kernel_mod
