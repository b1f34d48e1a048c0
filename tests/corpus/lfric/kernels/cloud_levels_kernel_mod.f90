!-----------------------------------------------------------------------------
! Corpus kernel: cloud levels.
!-----------------------------------------------------------------------------
!> @brief Count the cloudy levels below each level.
module cloud_levels_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_INTEGER, GH_WRITE, &
                           GH_REAL, GH_READ, ANY_DISCONTINUOUS_SPACE_1, GH_SCALAR
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : Wtheta
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: cloud_levels_kernel_type
    private
    type(arg_type) :: meta_args(4) = (/ &
      arg_type(gh_field, gh_integer, gh_write, Wtheta), &
      arg_type(gh_field, gh_real, gh_read, Wtheta), &
      arg_type(gh_field, gh_integer, gh_read, ANY_DISCONTINUOUS_SPACE_1), &
      arg_type(gh_scalar, gh_real, gh_read)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: cloud_levels_code
  end type cloud_levels_kernel_type

  public :: cloud_levels_code

contains

  !> @brief Count the cloudy levels below each level.
  !> @param[in,out] count Integer field on Wtheta, overwritten.
  !> @param[in] cloud Real field on Wtheta.
  !> @param[in] mask Integer field on ANY_DISCONTINUOUS_SPACE_1.
  !> @param[in] threshold Real scalar.
  subroutine cloud_levels_code(nlayers, &
                               count, &
                               cloud, &
                               mask, &
                               threshold, &
                               ndf_wtheta, undf_wtheta, map_wtheta, &
                               ndf_d1, undf_d1, map_d1)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_wtheta, undf_wtheta, ndf_d1
    integer(kind=i_def), intent(in) :: undf_d1
    integer(kind=i_def), intent(inout) :: count(undf_wtheta)
    real(kind=r_def), intent(in) :: cloud(undf_wtheta)
    integer(kind=i_def), intent(in) :: mask(undf_d1)
    real(kind=r_def), intent(in) :: threshold
    integer(kind=i_def), intent(in) :: map_wtheta(ndf_wtheta)
    integer(kind=i_def), intent(in) :: map_d1(ndf_d1)

    integer(kind=i_def) :: k

    count(map_wtheta(1)) = mask(map_d1(1))
    do k = 1, nlayers
      count(map_wtheta(1)+k) = count(map_wtheta(1)+k-1)
      if (cloud(map_wtheta(1)+k) > threshold) count(map_wtheta(1)+k) = &
          count(map_wtheta(1)+k) + 1_i_def
    end do

  end subroutine cloud_levels_code

end module cloud_levels_kernel_mod
