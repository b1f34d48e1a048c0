!-----------------------------------------------------------------------------
! Corpus kernel: break wind.
!-----------------------------------------------------------------------------
!> @brief Copy a continuous wind into its broken space, cell by cell.
module break_wind_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_WRITE, GH_READ
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W2broken, W2
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: break_wind_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      ARG_TYPE(GH_FIELD, GH_REAL, GH_WRITE, W2BROKEN), &
      ARG_TYPE(GH_FIELD, GH_REAL, GH_READ, W2)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: break_wind_code
  end type break_wind_kernel_type

  public :: break_wind_code

contains

  !> @brief Copy a continuous wind into its broken space, cell by cell.
  !> @param[in,out] u_broken Real field on W2broken, overwritten.
  !> @param[in] u Real field on W2.
  subroutine break_wind_code(nlayers, &
                             u_broken, &
                             u, &
                             ndf_w2broken, undf_w2broken, map_w2broken, &
                             ndf_w2, undf_w2, map_w2)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_w2broken, undf_w2broken, ndf_w2
    integer(kind=i_def), intent(in) :: undf_w2
    real(kind=r_def), intent(inout) :: u_broken(undf_w2broken)
    real(kind=r_def), intent(in) :: u(undf_w2)
    integer(kind=i_def), intent(in) :: map_w2broken(ndf_w2broken)
    integer(kind=i_def), intent(in) :: map_w2(ndf_w2)

    integer(kind=i_def) :: k, df

    do k = 0, nlayers - 1
      do df = 1, ndf_w2broken
        u_broken(map_w2broken(df)+k) = u(map_w2(df)+k)
      end do
    end do

  end subroutine break_wind_code

end module break_wind_kernel_mod
