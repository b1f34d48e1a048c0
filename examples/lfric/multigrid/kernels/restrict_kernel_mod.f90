!> From a fine mesh to a coarse one: the mean over the fine cells in a coarse cell.
module restrict_kernel_mod

  use argument_mod, only: ANY_DISCONTINUOUS_SPACE_1, ANY_DISCONTINUOUS_SPACE_2, arg_type, &
                          CELL_COLUMN, GH_COARSE, GH_FIELD, GH_FINE, GH_READ, GH_REAL, GH_WRITE
  use constants_mod, only: i_def, r_def
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: restrict_code

  type, public, extends(kernel_type) :: restrict_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, ANY_DISCONTINUOUS_SPACE_1, mesh_arg=GH_COARSE), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_DISCONTINUOUS_SPACE_2, mesh_arg=GH_FINE) &
    /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: restrict_code
  end type restrict_type

contains

  !> Set a column of means.
  subroutine restrict_code(nlayers, cell_map, cells_x, cells_y, ncell_fine, coarse, fine, &
                           undf_coarse, coarse_map, ndf_fine, undf_fine, fine_map)
    integer(i_def), intent(in) :: nlayers, cells_x, cells_y, ncell_fine
    integer(i_def), intent(in) :: cell_map(cells_x, cells_y)
    integer(i_def), intent(in) :: ndf_fine, undf_fine, fine_map(ndf_fine, ncell_fine)
    integer(i_def), intent(in) :: undf_coarse, coarse_map(*)
    real(r_def), intent(inout) :: coarse(undf_coarse)
    real(r_def), intent(in) :: fine(undf_fine)

    integer(i_def) :: k, x, y
    real(r_def) :: total

    do k = 0, nlayers - 1
      total = 0.0_r_def
      do y = 1, cells_y
        do x = 1, cells_x
          total = total + fine(fine_map(1, cell_map(x, y)) + k)
        end do
      end do
      coarse(coarse_map(1) + k) = total / real(cells_x * cells_y, r_def)
    end do
  end subroutine restrict_code

end module restrict_kernel_mod
