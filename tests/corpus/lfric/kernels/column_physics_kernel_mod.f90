!-----------------------------------------------------------------------------
! Corpus kernel: column physics.
!-----------------------------------------------------------------------------
!> @brief Physics on all columns of a partition at once.
module column_physics_kernel_mod

  use argument_mod, only : arg_type, DOMAIN, GH_FIELD, GH_REAL, GH_READWRITE, GH_WRITE, &
                           GH_INTEGER, ANY_DISCONTINUOUS_SPACE_1, GH_READ, GH_SCALAR, &
                           GH_LOGICAL
  use constants_mod, only : i_def, l_def, r_def
  use fs_continuity_mod, only : Wtheta, W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: column_physics_kernel_type
    private
    type(arg_type) :: meta_args(6) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_READWRITE, Wtheta), &
      arg_type(GH_FIELD*2, GH_REAL, GH_WRITE, Wtheta), &
      arg_type(GH_FIELD, GH_INTEGER, GH_WRITE, ANY_DISCONTINUOUS_SPACE_1), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3), &
      arg_type(GH_SCALAR, GH_INTEGER, GH_READ), &
      arg_type(GH_SCALAR, GH_LOGICAL, GH_READ)  &
      /)
    integer :: operates_on = DOMAIN
  contains
    procedure, nopass :: column_physics_code
  end type column_physics_kernel_type

  public :: column_physics_code

contains

  !> @brief Physics on all columns of a partition at once.
  !> @param[in,out] theta Real field on Wtheta, updated.
  !> @param[in,out] moisture_1 and on Real field bundle of 2 on Wtheta, overwritten.
  !> @param[in,out] cloud Integer field on ANY_DISCONTINUOUS_SPACE_1, overwritten.
  !> @param[in] wind Real field on W3.
  !> @param[in] steps Integer scalar.
  !> @param[in] active Logical scalar.
  subroutine column_physics_code(nlayers, ncell_2d_no_halos, &
                                 theta, &
                                 moisture_1, moisture_2, &
                                 cloud, &
                                 wind, &
                                 steps, &
                                 active, &
                                 ndf_wtheta, undf_wtheta, map_wtheta, &
                                 ndf_d1, undf_d1, map_d1, &
                                 ndf_w3, undf_w3, map_w3)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ncell_2d_no_halos, steps, ndf_wtheta
    integer(kind=i_def), intent(in) :: undf_wtheta, ndf_d1, undf_d1, ndf_w3, undf_w3
    real(kind=r_def), intent(inout) :: theta(undf_wtheta)
    real(kind=r_def), intent(inout) :: moisture_1(undf_wtheta)
    real(kind=r_def), intent(inout) :: moisture_2(undf_wtheta)
    integer(kind=i_def), intent(inout) :: cloud(undf_d1)
    real(kind=r_def), intent(in) :: wind(undf_w3)
    logical(kind=l_def), intent(in) :: active
    integer(kind=i_def), intent(in) :: map_wtheta(ndf_wtheta, ncell_2d_no_halos)
    integer(kind=i_def), intent(in) :: map_d1(ndf_d1, ncell_2d_no_halos)
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3, ncell_2d_no_halos)

    integer(kind=i_def) :: cell

    do cell = 1, ncell_2d_no_halos
      if (active) theta(map_wtheta(1, cell)) = theta(map_wtheta(1, cell)) &
          + wind(map_w3(1, cell))
      moisture_1(map_wtheta(1, cell)) = real(steps, r_def)
      moisture_2(map_wtheta(1, cell)) = 0.0_r_def
      cloud(map_d1(1, cell)) = 1_i_def
    end do

  end subroutine column_physics_code

end module column_physics_kernel_mod
