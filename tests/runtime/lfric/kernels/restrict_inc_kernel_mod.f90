!> Takes a field of the fine mesh to the coarse one, by adding to it.
module restrict_inc_kernel_mod

  use argument_mod, only: ANY_DISCONTINUOUS_SPACE_1, ANY_SPACE_2, arg_type, CELL_COLUMN, &
                          GH_COARSE, GH_FIELD, GH_FINE, GH_INC, GH_INTEGER, GH_READ, GH_REAL, &
                          GH_SCALAR
  use constants_mod, only: i_def, r_def
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: restrict_inc_code

  type, public, extends(kernel_type) :: restrict_inc_type
    private
    type(arg_type) :: meta_args(3) = [ &
      arg_type(GH_SCALAR, GH_INTEGER, GH_READ), &
      arg_type(GH_FIELD, GH_REAL, GH_INC, ANY_SPACE_2, mesh_arg=GH_COARSE), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_DISCONTINUOUS_SPACE_1, mesh_arg=GH_FINE) &
    ]
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: restrict_inc_code
  end type restrict_inc_type

contains

  !> Work on a coarse cell and the fine ones that it covers; `part` is added to their weights.
  subroutine restrict_inc_code(nlayers, cell_map, cells_x, cells_y, ncell_fine, part, coarse, &
                               fine, undf_coarse, coarse_map, ndf_fine, undf_fine, fine_map)
    integer(i_def), intent(in) :: nlayers, cells_x, cells_y, ncell_fine, part
    integer(i_def), intent(in) :: cell_map(cells_x, cells_y)
    integer(i_def), intent(in) :: ndf_fine, undf_fine, fine_map(ndf_fine, ncell_fine)
    integer(i_def), intent(in) :: undf_coarse, coarse_map(*)
    real(r_def), intent(inout) :: coarse(undf_coarse)
    real(r_def), intent(in) :: fine(undf_fine)

    integer(i_def) :: corner, k, x, y

    do k = 0, nlayers - 1
      do y = 1, cells_y
        do x = 1, cells_x
          do corner = 1, 4
            coarse(coarse_map(corner) + k) = coarse(coarse_map(corner) + k) &
                                             + real(part + x + 2 * y + corner, r_def) &
                                             * fine(fine_map(1, cell_map(x, y)) + k)
          end do
        end do
      end do
    end do
  end subroutine restrict_inc_code

end module restrict_inc_kernel_mod
