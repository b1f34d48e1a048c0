!> The mean of a field of the fine mesh over each cell of the coarse mesh.
module restrict_kernel_mod

  use argument_mod,  only: ANY_DISCONTINUOUS_SPACE_1, ANY_DISCONTINUOUS_SPACE_2, arg_type, CELL_COLUMN, &
                           GH_COARSE, GH_FIELD, GH_FINE, GH_READ, GH_REAL, GH_WRITE
  use constants_mod, only: i_def, r_def
  use kernel_mod,    only: kernel_type

  implicit none

  private
  public :: restrict_kernel_code

  type, public, extends(kernel_type) :: restrict_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
         arg_type(GH_FIELD, GH_REAL, GH_WRITE, ANY_DISCONTINUOUS_SPACE_1, mesh_arg=GH_COARSE), &
         arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_DISCONTINUOUS_SPACE_2, mesh_arg=GH_FINE) &
         /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: restrict_kernel_code
  end type restrict_kernel_type

contains

  !> Set the coarse value of a column to the mean of the fine ones.
  subroutine restrict_kernel_code( nlayers, cell_map, ncell_x, ncell_y, ncell_fine, coarse, fine, &
                                   undf_coarse, map_coarse, ndf_fine, undf_fine, map_fine )
    integer(i_def), intent(in)    :: nlayers, ncell_x, ncell_y, ncell_fine
    integer(i_def), intent(in)    :: undf_coarse, ndf_fine, undf_fine
    integer(i_def), intent(in)    :: cell_map(ncell_x, ncell_y)
    integer(i_def), intent(in)    :: map_coarse(:), map_fine(ndf_fine, ncell_fine)
    real(r_def),    intent(inout) :: coarse(undf_coarse)
    real(r_def),    intent(in)    :: fine(undf_fine)
    integer(i_def) :: k, x, y

    do k = 0, nlayers - 1
      coarse(map_coarse(1) + k) = 0.0_r_def
      do y = 1, ncell_y
        do x = 1, ncell_x
          coarse(map_coarse(1) + k) = coarse(map_coarse(1) + k) &
                                      + fine(map_fine(1, cell_map(x, y)) + k)
        end do
      end do
      coarse(map_coarse(1) + k) = coarse(map_coarse(1) + k) / real(ncell_x * ncell_y, r_def)
    end do
  end subroutine restrict_kernel_code

end module restrict_kernel_mod
