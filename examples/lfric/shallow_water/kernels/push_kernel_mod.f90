!> How a pressure in cells pushes on velocities: the transpose of the divergence.
module push_kernel_mod

  use argument_mod, only: arg_type, CELL_COLUMN, GH_FIELD, GH_INC, GH_OPERATOR, GH_READ, GH_REAL
  use constants_mod, only: i_def, r_def
  use fs_continuity_mod, only: W2, W3
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: push_code

  type, public, extends(kernel_type) :: push_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_INC, W2), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3), &
      arg_type(GH_OPERATOR, GH_REAL, GH_READ, W3, W2) &
    /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: push_code
  end type push_type

contains

  !> Add the push of the cells of a column.
  subroutine push_code(cell, nlayers, force, pressure, ncell_3d, divergence, ndf_w2, undf_w2, &
                       map_w2, ndf_w3, undf_w3, map_w3)
    integer(i_def), intent(in) :: cell, nlayers, ncell_3d
    integer(i_def), intent(in) :: ndf_w2, undf_w2, map_w2(ndf_w2)
    integer(i_def), intent(in) :: ndf_w3, undf_w3, map_w3(ndf_w3)
    real(r_def), intent(inout) :: force(undf_w2)
    real(r_def), intent(in) :: pressure(undf_w3), divergence(ncell_3d, ndf_w3, ndf_w2)

    integer(i_def) :: df, k, first

    first = (cell - 1) * nlayers + 1
    do k = 0, nlayers - 1
      do df = 1, ndf_w2
        force(map_w2(df) + k) = force(map_w2(df) + k) &
                                + sum(divergence(first + k, :, df) * pressure(map_w3 + k))
      end do
    end do
  end subroutine push_code

end module push_kernel_mod
