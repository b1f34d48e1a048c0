!> What flows out of each cell with a velocity.
module diverge_kernel_mod

  use argument_mod, only: arg_type, CELL_COLUMN, GH_FIELD, GH_OPERATOR, GH_READ, GH_REAL, GH_WRITE
  use constants_mod, only: i_def, r_def
  use fs_continuity_mod, only: W2, W3
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: diverge_code

  type, public, extends(kernel_type) :: diverge_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, W3), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W2), &
      arg_type(GH_OPERATOR, GH_REAL, GH_READ, W3, W2) &
    /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: diverge_code
  end type diverge_type

contains

  !> Set the outflow of the cells of a column.
  subroutine diverge_code(cell, nlayers, outflow, velocity, ncell_3d, divergence, ndf_w3, &
                          undf_w3, map_w3, ndf_w2, undf_w2, map_w2)
    integer(i_def), intent(in) :: cell, nlayers, ncell_3d
    integer(i_def), intent(in) :: ndf_w3, undf_w3, map_w3(ndf_w3)
    integer(i_def), intent(in) :: ndf_w2, undf_w2, map_w2(ndf_w2)
    real(r_def), intent(inout) :: outflow(undf_w3)
    real(r_def), intent(in) :: velocity(undf_w2), divergence(ncell_3d, ndf_w3, ndf_w2)

    integer(i_def) :: df, k, first

    first = (cell - 1) * nlayers + 1
    do k = 0, nlayers - 1
      do df = 1, ndf_w3
        outflow(map_w3(df) + k) = sum(divergence(first + k, df, :) * velocity(map_w2 + k))
      end do
    end do
  end subroutine diverge_code

end module diverge_kernel_mod
