!> Takes a field of the coarse mesh to the fine one.
module prolong_kernel_mod

  use argument_mod, only: ANY_DISCONTINUOUS_SPACE_1, ANY_DISCONTINUOUS_SPACE_2, arg_type, &
                          CELL_COLUMN, GH_COARSE, GH_FIELD, GH_FINE, GH_READ, GH_REAL, GH_SCALAR, &
                          GH_WRITE
  use constants_mod, only: i_def, r_def
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: prolong_code

  type, public, extends(kernel_type) :: prolong_type
    private
    type(arg_type) :: meta_args(3) = [ &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, ANY_DISCONTINUOUS_SPACE_1, mesh_arg=GH_FINE), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_DISCONTINUOUS_SPACE_2, mesh_arg=GH_COARSE), &
      arg_type(GH_SCALAR, GH_REAL, GH_READ) &
    ]
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: prolong_code
  end type prolong_type

contains

  !> Work on the fine cells that a coarse one covers.
  subroutine prolong_code(nlayers, cell_map, cells_x, cells_y, ncell_fine, fine, coarse, &
                          factor, ndf_fine, undf_fine, fine_map, undf_coarse, coarse_map)
    integer(i_def), intent(in) :: nlayers, cells_x, cells_y, ncell_fine
    integer(i_def), intent(in) :: cell_map(cells_x, cells_y)
    integer(i_def), intent(in) :: ndf_fine, undf_fine, fine_map(ndf_fine, ncell_fine)
    integer(i_def), intent(in) :: undf_coarse, coarse_map(*)
    real(r_def), intent(inout) :: fine(undf_fine)
    real(r_def), intent(in) :: coarse(undf_coarse), factor

    integer(i_def) :: df, k, x, y

    do k = 0, nlayers - 1
      do y = 1, cells_y
        do x = 1, cells_x
          do df = 1, ndf_fine
            fine(fine_map(df, cell_map(x, y)) + k) = &
              factor * coarse(coarse_map(1) + k) + real(x + 2 * y + df, r_def)
          end do
        end do
      end do
    end do
  end subroutine prolong_code

end module prolong_kernel_mod
