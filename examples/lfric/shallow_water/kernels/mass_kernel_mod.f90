!> The mass matrix of velocities: what the kinetic energy of a cell is made of.
module mass_kernel_mod

  use argument_mod, only: arg_type, CELL_COLUMN, func_type, GH_BASIS, GH_OPERATOR, &
                          GH_QUADRATURE_XYOZ, GH_READ, GH_REAL, GH_SCALAR, GH_WRITE
  use constants_mod, only: i_def, r_def
  use fs_continuity_mod, only: W2
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: mass_code

  type, public, extends(kernel_type) :: mass_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      arg_type(GH_OPERATOR, GH_REAL, GH_WRITE, W2, W2), &
      arg_type(GH_SCALAR, GH_REAL, GH_READ), &   ! width of a cell
      arg_type(GH_SCALAR, GH_REAL, GH_READ) &    ! height of a cell
    /)
    type(func_type) :: meta_funcs(1) = (/ func_type(W2, GH_BASIS) /)
    integer :: operates_on = CELL_COLUMN
    integer :: gh_shape = GH_QUADRATURE_XYOZ
  contains
    procedure, nopass :: mass_code
  end type mass_type

contains

  !> Set the integrals of the scalar products of the basis functions in the cells of a column.
  !>
  !> A basis function of the reference cell becomes one of a cell that is stretched by `size` by
  !> the Piola map, `size * basis / volume`, which keeps the flux through each face.
  subroutine mass_code(cell, nlayers, ncell_3d, mass, width, height, ndf, basis, np_xy, np_z, &
                       weights_xy, weights_z)
    integer(i_def), intent(in) :: cell, nlayers, ncell_3d, ndf, np_xy, np_z
    real(r_def), intent(inout) :: mass(ncell_3d, ndf, ndf)
    real(r_def), intent(in) :: width, height
    real(r_def), intent(in) :: basis(3, ndf, np_xy, np_z)
    real(r_def), intent(in) :: weights_xy(np_xy), weights_z(np_z)

    real(r_def) :: size(3), volume, integral
    integer(i_def) :: row, column, xy, z, first, last

    size = [width, width, height]
    volume = product(size)
    first = (cell - 1) * nlayers + 1
    last = cell * nlayers
    do column = 1, ndf
      do row = 1, ndf
        integral = 0.0_r_def
        do z = 1, np_z
          do xy = 1, np_xy
            integral = integral + weights_xy(xy) * weights_z(z) &
                       * sum(size**2 * basis(:, row, xy, z) * basis(:, column, xy, z)) / volume
          end do
        end do
        mass(first:last, row, column) = integral
      end do
    end do
  end subroutine mass_code

end module mass_kernel_mod
