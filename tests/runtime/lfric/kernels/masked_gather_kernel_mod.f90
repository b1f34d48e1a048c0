!> Adds to fields on a discontinuous space in those cells that a field of integers marks.
module masked_gather_kernel_mod

  use argument_mod, only: ANY_DISCONTINUOUS_SPACE_1, ANY_DISCONTINUOUS_SPACE_2, ANY_SPACE_1, &
                          arg_type, CELL_COLUMN, CELL_MASK, CROSS, GH_FIELD, GH_INTEGER, GH_READ, &
                          GH_READWRITE, GH_REAL, STENCIL
  use constants_mod, only: i_def, r_def
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: masked_gather_code

  type, public, extends(kernel_type) :: masked_gather_type
    private
    type(arg_type) :: meta_args(3) = [ &
      arg_type(GH_FIELD, GH_REAL, GH_READWRITE, ANY_DISCONTINUOUS_SPACE_1), &
      arg_type(GH_FIELD, GH_INTEGER, GH_READ, ANY_DISCONTINUOUS_SPACE_2, CELL_MASK), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_SPACE_1, STENCIL(CROSS)) &
    ]
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: masked_gather_code
  end type masked_gather_type

contains

  !> Add to a cell what stands around it; spoil `y` if the cell is not one of those that are marked.
  subroutine masked_gather_code(nlayers, y, mask, x, cells, stencil, ndf_y, undf_y, map_y, ndf_mask, &
                                undf_mask, map_mask, ndf_x, undf_x, map_x)
    integer(i_def), intent(in) :: nlayers, cells
    integer(i_def), intent(in) :: ndf_y, undf_y, map_y(ndf_y)
    integer(i_def), intent(in) :: ndf_mask, undf_mask, map_mask(ndf_mask)
    integer(i_def), intent(in) :: ndf_x, undf_x, map_x(ndf_x), stencil(ndf_x, cells)
    real(r_def), intent(inout) :: y(undf_y)
    integer(i_def), intent(in) :: mask(undf_mask)
    real(r_def), intent(in) :: x(undf_x)

    integer(i_def) :: df, k, place

    if (mask(map_mask(1)) <= 0) then
      y(map_y(1)) = -1000003.0_r_def
      return
    end if
    do k = 0, nlayers - 1
      do df = 1, ndf_y
        do place = 1, cells
          y(map_y(df) + k) = y(map_y(df) + k) + real(df + place, r_def) * sum(x(stencil(:, place) + k))
        end do
      end do
    end do
  end subroutine masked_gather_code

end module masked_gather_kernel_mod
