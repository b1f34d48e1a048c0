!> Takes a field from a coarse mesh to a fine one, with the cells around each coarse cell.
module prolong_around_kernel_mod

  use argument_mod, only: ANY_DISCONTINUOUS_SPACE_1, ANY_DISCONTINUOUS_SPACE_2, arg_type, &
                          CELL_COLUMN, GH_COARSE, GH_FIELD, GH_FINE, GH_READ, GH_REAL, GH_WRITE, &
                          REGION, STENCIL
  use constants_mod, only: i_def, r_def
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: prolong_around_code

  type, public, extends(kernel_type) :: prolong_around_type
    private
    type(arg_type) :: meta_args(2) = [ &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, ANY_DISCONTINUOUS_SPACE_1, mesh_arg=GH_FINE), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_DISCONTINUOUS_SPACE_2, STENCIL(REGION), &
               mesh_arg=GH_COARSE) &
    ]
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: prolong_around_code
  end type prolong_around_type

contains

  !> Set the fine cells of a coarse one to a weighted sum of what is around it; spoil one if the
  !> stencil is of another cell.
  subroutine prolong_around_code(nlayers, cell_map, cells_x, cells_y, ncell_fine, fine, coarse, &
                                 cells, stencil, ndf_fine, undf_fine, fine_map, undf_coarse, &
                                 coarse_map)
    integer(i_def), intent(in) :: nlayers, cells_x, cells_y, ncell_fine, cells
    integer(i_def), intent(in) :: cell_map(cells_x, cells_y), stencil(:, :)
    integer(i_def), intent(in) :: ndf_fine, undf_fine, fine_map(ndf_fine, ncell_fine)
    integer(i_def), intent(in) :: undf_coarse, coarse_map(*)
    real(r_def), intent(inout) :: fine(undf_fine)
    real(r_def), intent(in) :: coarse(undf_coarse)

    integer(i_def) :: df, k, place, x, y

    if (stencil(1, 1) /= coarse_map(1)) then
      fine(fine_map(1, cell_map(1, 1))) = -1000003.0_r_def
      return
    end if
    do k = 0, nlayers - 1
      do y = 1, cells_y
        do x = 1, cells_x
          do df = 1, ndf_fine
            fine(fine_map(df, cell_map(x, y)) + k) = real(x + 2 * y + df, r_def)
            do place = 1, cells
              fine(fine_map(df, cell_map(x, y)) + k) = fine(fine_map(df, cell_map(x, y)) + k) &
                                                       + real(x * place, r_def) &
                                                       * coarse(stencil(1, place) + k)
            end do
          end do
        end do
      end do
    end do
  end subroutine prolong_around_code

end module prolong_around_kernel_mod
