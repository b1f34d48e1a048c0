!-----------------------------------------------------------------------------
! Corpus kernel: helmholtz row.
!-----------------------------------------------------------------------------
!> @brief Diagonal of the Helmholtz operator from three others.
module helmholtz_row_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_WRITE, &
                           GH_OPERATOR, GH_READ, GH_SCALAR
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W3, W2
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: helmholtz_row_kernel_type
    private
    type(arg_type) :: meta_args(5) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, W3), &
      arg_type(GH_OPERATOR, GH_REAL, GH_READ, W3, W2), &
      arg_type(GH_OPERATOR, GH_REAL, GH_READ, W2, W3), &
      arg_type(GH_OPERATOR, GH_REAL, GH_READ, W3, W3), &
      arg_type(GH_SCALAR, GH_REAL, GH_READ)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: helmholtz_row_code
  end type helmholtz_row_kernel_type

  public :: helmholtz_row_code

contains

  !> @brief Diagonal of the Helmholtz operator from three others.
  !> @param[in,out] diagonal Real field on W3, overwritten.
  !> @param[in] div Local operator from W2 to W3.
  !> @param[in] grad Local operator from W3 to W2.
  !> @param[in] mass Local operator on W3.
  !> @param[in] tau Real scalar.
  subroutine helmholtz_row_code(cell, nlayers, &
                                diagonal, &
                                div_ncell_3d, div, &
                                grad_ncell_3d, grad, &
                                mass_ncell_3d, mass, &
                                tau, &
                                ndf_w3, undf_w3, map_w3, &
                                ndf_w2)

    implicit none

    integer(kind=i_def), intent(in) :: cell, nlayers, div_ncell_3d, grad_ncell_3d
    integer(kind=i_def), intent(in) :: mass_ncell_3d, ndf_w3, undf_w3, ndf_w2
    real(kind=r_def), intent(inout) :: diagonal(undf_w3)
    real(kind=r_def), intent(in) :: div(div_ncell_3d, ndf_w3, ndf_w2)
    real(kind=r_def), intent(in) :: grad(grad_ncell_3d, ndf_w2, ndf_w3)
    real(kind=r_def), intent(in) :: mass(mass_ncell_3d, ndf_w3, ndf_w3)
    real(kind=r_def), intent(in) :: tau
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)

    integer(kind=i_def) :: k, ik

    do k = 0, nlayers - 1
      ik = (cell - 1) * nlayers + k + 1
      diagonal(map_w3(1)+k) = mass(ik, 1, 1) - tau &
          * dot_product(div(ik, 1, :), grad(ik, :, 1))
    end do

  end subroutine helmholtz_row_code

end module helmholtz_row_kernel_mod
