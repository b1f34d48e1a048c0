!-----------------------------------------------------------------------------
! Corpus kernel: operator and field.
!-----------------------------------------------------------------------------
!> @brief Update an operator and a discontinuous field together.
module operator_and_field_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_READWRITE, &
                           GH_OPERATOR, GH_READ
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W3, W2, Wtheta
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: operator_and_field_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      arg_type(gh_field, gh_real, gh_readwrite, W3), &
      arg_type(gh_operator, gh_real, gh_readwrite, W2, W3), &
      arg_type(gh_field, gh_real, gh_read, Wtheta)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: operator_and_field_code
  end type operator_and_field_kernel_type

  public :: operator_and_field_code

contains

  !> @brief Update an operator and a discontinuous field together.
  !> @param[in,out] weights Real field on W3, updated.
  !> @param[in,out] projection Local operator from W3 to W2, updated.
  !> @param[in] theta Real field on Wtheta.
  subroutine operator_and_field_code(cell, nlayers, &
                                     weights, &
                                     projection_ncell_3d, projection, &
                                     theta, &
                                     ndf_w3, undf_w3, map_w3, &
                                     ndf_w2, &
                                     ndf_wtheta, undf_wtheta, map_wtheta)

    implicit none

    integer(kind=i_def), intent(in) :: cell, nlayers, projection_ncell_3d, ndf_w3
    integer(kind=i_def), intent(in) :: undf_w3, ndf_w2, ndf_wtheta, undf_wtheta
    real(kind=r_def), intent(inout) :: weights(undf_w3)
    real(kind=r_def), intent(inout) :: projection(projection_ncell_3d, ndf_w2, ndf_w3)
    real(kind=r_def), intent(in) :: theta(undf_wtheta)
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)
    integer(kind=i_def), intent(in) :: map_wtheta(ndf_wtheta)

    integer(kind=i_def) :: k, ik

    do k = 0, nlayers - 1
      ik = (cell - 1) * nlayers + k + 1
      projection(ik, :, :) = projection(ik, :, :) * theta(map_wtheta(1)+k)
      weights(map_w3(1)+k) = weights(map_w3(1)+k) + sum(projection(ik, :, 1))
    end do

  end subroutine operator_and_field_code

end module operator_and_field_kernel_mod
