!> From a coarse mesh to a fine one: each fine cell gets what its coarse cell has, on top.
module correct_kernel_mod

  use argument_mod, only: ANY_DISCONTINUOUS_SPACE_1, ANY_DISCONTINUOUS_SPACE_2, arg_type, &
                          CELL_COLUMN, GH_COARSE, GH_FIELD, GH_FINE, GH_READ, GH_READWRITE, GH_REAL
  use constants_mod, only: i_def, r_def
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: correct_code

  type, public, extends(kernel_type) :: correct_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_READWRITE, ANY_DISCONTINUOUS_SPACE_1, mesh_arg=GH_FINE), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_DISCONTINUOUS_SPACE_2, mesh_arg=GH_COARSE) &
    /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: correct_code
  end type correct_type

contains

  !> Add to the fine cells of a coarse column.
  subroutine correct_code(nlayers, cell_map, cells_x, cells_y, ncell_fine, fine, coarse, &
                          ndf_fine, undf_fine, fine_map, undf_coarse, coarse_map)
    integer(i_def), intent(in) :: nlayers, cells_x, cells_y, ncell_fine
    integer(i_def), intent(in) :: cell_map(cells_x, cells_y)
    integer(i_def), intent(in) :: ndf_fine, undf_fine, fine_map(ndf_fine, ncell_fine)
    integer(i_def), intent(in) :: undf_coarse, coarse_map(*)
    real(r_def), intent(inout) :: fine(undf_fine)
    real(r_def), intent(in) :: coarse(undf_coarse)

    integer(i_def) :: dof, k, x, y

    do y = 1, cells_y
      do x = 1, cells_x
        dof = fine_map(1, cell_map(x, y))
        do k = 0, nlayers - 1
          fine(dof + k) = fine(dof + k) + coarse(coarse_map(1) + k)
        end do
      end do
    end do
  end subroutine correct_code

end module correct_kernel_mod
