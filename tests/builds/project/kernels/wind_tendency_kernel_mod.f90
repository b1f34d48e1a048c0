!-----------------------------------------------------------------------------
! Corpus kernel: wind tendency.
!-----------------------------------------------------------------------------
!> @brief Add the pressure gradient force to the wind.
module wind_tendency_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_INC, GH_READ, &
                           GH_SCALAR
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W2, W3, Wtheta
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: wind_tendency_kernel_type
    private
    type(arg_type) :: meta_args(6) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_INC, W2), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W2), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, Wtheta), &
      arg_type(GH_SCALAR, GH_REAL, GH_READ), &
      arg_type(GH_SCALAR, GH_REAL, GH_READ)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: code => wind_tendency_code
  end type wind_tendency_kernel_type

  public :: wind_tendency_code

contains

  !> @brief Add the pressure gradient force to the wind.
  !> @param[in,out] du Real field on W2, incremented.
  !> @param[in] u Real field on W2.
  !> @param[in] exner Real field on W3.
  !> @param[in] theta Real field on Wtheta.
  !> @param[in] cp Real scalar.
  !> @param[in] dt Real scalar.
  subroutine wind_tendency_code(nlayers, &
                                du, &
                                u, &
                                exner, &
                                theta, &
                                cp, &
                                dt, &
                                ndf_w2, undf_w2, map_w2, &
                                ndf_w3, undf_w3, map_w3, &
                                ndf_wtheta, undf_wtheta, map_wtheta)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_w2, undf_w2, ndf_w3, undf_w3
    integer(kind=i_def), intent(in) :: ndf_wtheta, undf_wtheta
    real(kind=r_def), intent(inout) :: du(undf_w2)
    real(kind=r_def), intent(in) :: u(undf_w2)
    real(kind=r_def), intent(in) :: exner(undf_w3)
    real(kind=r_def), intent(in) :: theta(undf_wtheta)
    real(kind=r_def), intent(in) :: cp
    real(kind=r_def), intent(in) :: dt
    integer(kind=i_def), intent(in) :: map_w2(ndf_w2)
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)
    integer(kind=i_def), intent(in) :: map_wtheta(ndf_wtheta)

    integer(kind=i_def) :: k, df

    do k = 0, nlayers - 1
      do df = 1, ndf_w2
        du(map_w2(df)+k) = du(map_w2(df)+k) + 0.5_r_def * dt * (u(map_w2(df)+k) &
          - cp * theta(map_wtheta(1)+k) * exner(map_w3(1)+k))
      end do
    end do

  end subroutine wind_tendency_code

end module wind_tendency_kernel_mod
