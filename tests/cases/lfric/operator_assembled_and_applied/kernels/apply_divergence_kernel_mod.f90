!-----------------------------------------------------------------------------
! Corpus kernel: apply divergence.
!-----------------------------------------------------------------------------
!> @brief Divergence of a mass flux by a prepared operator.
module apply_divergence_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_READWRITE, &
                           GH_OPERATOR, GH_READ
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W3, W2
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: apply_divergence_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      arg_type(gh_field, gh_real, gh_readwrite, W3), &
      arg_type(gh_operator, gh_real, gh_read, W3, W2), &
      arg_type(gh_field, gh_real, gh_read, W2)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: apply_divergence_code
  end type apply_divergence_kernel_type

  public :: apply_divergence_code

contains

  !> @brief Divergence of a mass flux by a prepared operator.
  !> @param[in,out] divergence Real field on W3, updated.
  !> @param[in] div Local operator from W2 to W3.
  !> @param[in] flux Real field on W2.
  subroutine apply_divergence_code(cell, nlayers, &
                                   divergence, &
                                   div_ncell_3d, div, &
                                   flux, &
                                   ndf_w3, undf_w3, map_w3, &
                                   ndf_w2, undf_w2, map_w2)

    implicit none

    integer(kind=i_def), intent(in) :: cell, nlayers, div_ncell_3d, ndf_w3, undf_w3
    integer(kind=i_def), intent(in) :: ndf_w2, undf_w2
    real(kind=r_def), intent(inout) :: divergence(undf_w3)
    real(kind=r_def), intent(in) :: div(div_ncell_3d, ndf_w3, ndf_w2)
    real(kind=r_def), intent(in) :: flux(undf_w2)
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)
    integer(kind=i_def), intent(in) :: map_w2(ndf_w2)

    integer(kind=i_def) :: k, ik

    do k = 0, nlayers - 1
      ik = (cell - 1) * nlayers + k + 1
      divergence(map_w3(1)+k) = dot_product(div(ik, 1, :), flux(map_w2(:)+k))
    end do

  end subroutine apply_divergence_code

end module apply_divergence_kernel_mod
