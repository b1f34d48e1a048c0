!> The divergence of velocities: what flows out of a cell.
module divergence_kernel_mod

  use argument_mod, only: arg_type, CELL_COLUMN, func_type, GH_BASIS, GH_DIFF_BASIS, &
                          GH_OPERATOR, GH_QUADRATURE_XYOZ, GH_REAL, GH_WRITE
  use constants_mod, only: i_def, r_def
  use fs_continuity_mod, only: W2, W3
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: divergence_code

  type, public, extends(kernel_type) :: divergence_type
    private
    type(arg_type) :: meta_args(1) = (/ &
      arg_type(GH_OPERATOR, GH_REAL, GH_WRITE, W3, W2) &
    /)
    type(func_type) :: meta_funcs(2) = (/ &
      func_type(W3, GH_BASIS), &
      func_type(W2, GH_DIFF_BASIS) &
    /)
    integer :: operates_on = CELL_COLUMN
    integer :: gh_shape = GH_QUADRATURE_XYOZ
  contains
    procedure, nopass :: divergence_code
  end type divergence_type

contains

  !> Set the integrals of the divergences of velocities in the cells of a column. Fluxes do not
  !> depend on how a cell is stretched, so neither do these.
  subroutine divergence_code(cell, nlayers, ncell_3d, divergence, ndf_w3, basis_w3, ndf_w2, &
                             diff_basis_w2, np_xy, np_z, weights_xy, weights_z)
    integer(i_def), intent(in) :: cell, nlayers, ncell_3d, ndf_w3, ndf_w2, np_xy, np_z
    real(r_def), intent(inout) :: divergence(ncell_3d, ndf_w3, ndf_w2)
    real(r_def), intent(in) :: basis_w3(1, ndf_w3, np_xy, np_z)
    real(r_def), intent(in) :: diff_basis_w2(1, ndf_w2, np_xy, np_z)
    real(r_def), intent(in) :: weights_xy(np_xy), weights_z(np_z)

    real(r_def) :: integral
    integer(i_def) :: row, column, z, first, last

    first = (cell - 1) * nlayers + 1
    last = cell * nlayers
    do column = 1, ndf_w2
      do row = 1, ndf_w3
        integral = 0.0_r_def
        do z = 1, np_z
          integral = integral + weights_z(z) * sum( &
            weights_xy * basis_w3(1, row, :, z) * diff_basis_w2(1, column, :, z))
        end do
        divergence(first:last, row, column) = integral
      end do
    end do
  end subroutine divergence_code

end module divergence_kernel_mod
