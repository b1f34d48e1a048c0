!-----------------------------------------------------------------------------
! Corpus kernel: rotate wind.
!-----------------------------------------------------------------------------
!> @brief Turn a wind given by three components about the vertical.
module rotate_wind_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_READWRITE, &
                           GH_SCALAR, GH_READ
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: rotate_wind_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(gh_field*3, gh_real, gh_readwrite, W3), &
      arg_type(gh_scalar, gh_real, gh_read)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: rotate_wind_code
  end type rotate_wind_kernel_type

  public :: rotate_wind_code

contains

  !> @brief Turn a wind given by three components about the vertical.
  !> @param[in,out] v_1 and on Real field bundle of 3 on W3, updated.
  !> @param[in] angle Real scalar.
  subroutine rotate_wind_code(nlayers, &
                              v_1, v_2, v_3, &
                              angle, &
                              ndf_w3, undf_w3, map_w3)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_w3, undf_w3
    real(kind=r_def), intent(inout) :: v_1(undf_w3)
    real(kind=r_def), intent(inout) :: v_2(undf_w3)
    real(kind=r_def), intent(inout) :: v_3(undf_w3)
    real(kind=r_def), intent(in) :: angle
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)

    integer(kind=i_def) :: k
    real(kind=r_def) :: east

    do k = 0, nlayers - 1
      east = v_1(map_w3(1)+k)
      v_1(map_w3(1)+k) = cos(angle) * east - sin(angle) * v_2(map_w3(1)+k)
      v_2(map_w3(1)+k) = sin(angle) * east + cos(angle) * v_2(map_w3(1)+k)
      v_3(map_w3(1)+k) = v_3(map_w3(1)+k)
    end do

  end subroutine rotate_wind_code

end module rotate_wind_kernel_mod
