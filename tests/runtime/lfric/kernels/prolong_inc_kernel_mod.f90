!> Takes a field of the coarse mesh to the fine one, by adding to it.
module prolong_inc_kernel_mod

  use argument_mod, only: ANY_DISCONTINUOUS_SPACE_2, ANY_SPACE_1, arg_type, CELL_COLUMN, &
                          GH_COARSE, GH_FIELD, GH_FINE, GH_INC, GH_READ, GH_REAL
  use constants_mod, only: i_def, r_def
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: prolong_inc_code

  type, public, extends(kernel_type) :: prolong_inc_type
    private
    type(arg_type) :: meta_args(2) = [ &
      arg_type(GH_FIELD, GH_REAL, GH_INC, ANY_SPACE_1, mesh_arg=GH_FINE), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_DISCONTINUOUS_SPACE_2, mesh_arg=GH_COARSE) &
    ]
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: prolong_inc_code
  end type prolong_inc_type

contains

  !> Work on the fine cells that a coarse one covers.
  subroutine prolong_inc_code(nlayers, cell_map, cells_x, cells_y, ncell_fine, fine, coarse, &
                              ndf_fine, undf_fine, fine_map, undf_coarse, coarse_map)
    integer(i_def), intent(in) :: nlayers, cells_x, cells_y, ncell_fine
    integer(i_def), intent(in) :: cell_map(cells_x, cells_y)
    integer(i_def), intent(in) :: ndf_fine, undf_fine, fine_map(ndf_fine, ncell_fine)
    integer(i_def), intent(in) :: undf_coarse, coarse_map(*)
    real(r_def), intent(inout) :: fine(undf_fine)
    real(r_def), intent(in) :: coarse(undf_coarse)

    integer(i_def) :: df, k, x, y

    do k = 0, nlayers - 1
      do y = 1, cells_y
        do x = 1, cells_x
          do df = 1, ndf_fine
            fine(fine_map(df, cell_map(x, y)) + k) = &
              fine(fine_map(df, cell_map(x, y)) + k) &
              + real(x + y + df, r_def) * coarse(coarse_map(1) + k)
          end do
        end do
      end do
    end do
  end subroutine prolong_inc_code

end module prolong_inc_kernel_mod
