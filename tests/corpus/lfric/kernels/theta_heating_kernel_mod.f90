!-----------------------------------------------------------------------------
! Corpus kernel: theta heating.
!-----------------------------------------------------------------------------
!> @brief Warm each level of a column by a heating rate.
module theta_heating_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_READWRITE, &
                           GH_READ, GH_SCALAR
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : Wtheta
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: theta_heating_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      ARG_TYPE(GH_FIELD, GH_REAL, GH_READWRITE, WTHETA), &
      ARG_TYPE(GH_FIELD, GH_REAL, GH_READ, WTHETA), &
      ARG_TYPE(GH_SCALAR, GH_REAL, GH_READ)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: code => theta_heating_code
  end type theta_heating_kernel_type

  public :: theta_heating_code

contains

  !> @brief Warm each level of a column by a heating rate.
  !> @param[in,out] theta Real field on Wtheta, updated.
  !> @param[in] rate Real field on Wtheta.
  !> @param[in] dt Real scalar.
  subroutine theta_heating_code(nlayers, &
                                theta, &
                                rate, &
                                dt, &
                                ndf_wtheta, undf_wtheta, map_wtheta)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_wtheta, undf_wtheta
    real(kind=r_def), intent(inout) :: theta(undf_wtheta)
    real(kind=r_def), intent(in) :: rate(undf_wtheta)
    real(kind=r_def), intent(in) :: dt
    integer(kind=i_def), intent(in) :: map_wtheta(ndf_wtheta)

    integer(kind=i_def) :: k

    do k = 0, nlayers
      theta(map_wtheta(1)+k) = theta(map_wtheta(1)+k) + dt * rate(map_wtheta(1)+k)
    end do

  end subroutine theta_heating_code

end module theta_heating_kernel_mod
