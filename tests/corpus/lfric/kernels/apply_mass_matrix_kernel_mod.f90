!-----------------------------------------------------------------------------
! Corpus kernel: apply mass matrix.
!-----------------------------------------------------------------------------
!> @brief Apply a mass matrix to the wind.
module apply_mass_matrix_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_INC, GH_READ, &
                           GH_OPERATOR
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W2
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, extends(kernel_type), public :: apply_mass_matrix_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      arg_type(gh_field, gh_real, gh_inc, W2), &
      arg_type(gh_field, gh_real, gh_read, W2), &
      arg_type(gh_operator, gh_real, gh_read, W2, W2)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: apply_mass_matrix_code
  end type apply_mass_matrix_kernel_type

  public :: apply_mass_matrix_code

contains

  !> @brief Apply a mass matrix to the wind.
  !> @param[in,out] lhs Real field on W2, incremented.
  !> @param[in] x Real field on W2.
  !> @param[in] mass Local operator on W2.
  subroutine apply_mass_matrix_code(cell, nlayers, &
                                    lhs, &
                                    x, &
                                    mass_ncell_3d, mass, &
                                    ndf_w2, undf_w2, map_w2)

    implicit none

    integer(kind=i_def), intent(in) :: cell, nlayers, mass_ncell_3d, ndf_w2, undf_w2
    real(kind=r_def), intent(inout) :: lhs(undf_w2)
    real(kind=r_def), intent(in) :: x(undf_w2)
    real(kind=r_def), intent(in) :: mass(mass_ncell_3d, ndf_w2, ndf_w2)
    integer(kind=i_def), intent(in) :: map_w2(ndf_w2)

    integer(kind=i_def) :: k, df, ik

    do k = 0, nlayers - 1
      ik = (cell - 1) * nlayers + k + 1
      do df = 1, ndf_w2
        lhs(map_w2(df)+k) = lhs(map_w2(df)+k) &
            + dot_product(mass(ik, df, :), x(map_w2(:)+k))
      end do
    end do

  end subroutine apply_mass_matrix_code

end module apply_mass_matrix_kernel_mod
