!> Half of a value of the coarse mesh, added to each of its cells on the fine mesh.
module prolong_kernel_mod

  use argument_mod,  only: ANY_DISCONTINUOUS_SPACE_1, ANY_DISCONTINUOUS_SPACE_2, arg_type, CELL_COLUMN, &
                           GH_COARSE, GH_FIELD, GH_FINE, GH_READ, GH_READWRITE, GH_REAL
  use constants_mod, only: i_def, r_def
  use kernel_mod,    only: kernel_type

  implicit none

  private
  public :: prolong_kernel_code

  type, public, extends(kernel_type) :: prolong_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
         arg_type(GH_FIELD, GH_REAL, GH_READWRITE, ANY_DISCONTINUOUS_SPACE_1, mesh_arg=GH_FINE), &
         arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_DISCONTINUOUS_SPACE_2, mesh_arg=GH_COARSE) &
         /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: prolong_kernel_code
  end type prolong_kernel_type

contains

  !> Add half of the coarse value of a column to the fine ones.
  subroutine prolong_kernel_code( nlayers, cell_map, ncell_x, ncell_y, ncell_fine, fine, coarse, &
                                  ndf_fine, undf_fine, map_fine, undf_coarse, map_coarse )
    integer(i_def), intent(in)    :: nlayers, ncell_x, ncell_y, ncell_fine
    integer(i_def), intent(in)    :: undf_coarse, ndf_fine, undf_fine
    integer(i_def), intent(in)    :: cell_map(ncell_x, ncell_y)
    integer(i_def), intent(in)    :: map_coarse(:), map_fine(ndf_fine, ncell_fine)
    real(r_def),    intent(inout) :: fine(undf_fine)
    real(r_def),    intent(in)    :: coarse(undf_coarse)
    integer(i_def) :: k, x, y

    do k = 0, nlayers - 1
      do y = 1, ncell_y
        do x = 1, ncell_x
          fine(map_fine(1, cell_map(x, y)) + k) = fine(map_fine(1, cell_map(x, y)) + k) &
                                                  + 0.5_r_def * coarse(map_coarse(1) + k)
        end do
      end do
    end do
  end subroutine prolong_kernel_code

end module prolong_kernel_mod
