!-----------------------------------------------------------------------------
! Corpus kernel: set wind.
!-----------------------------------------------------------------------------
!> @brief Overwrite the wind with a value that every cell agrees on.
module set_wind_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_WRITE, &
                           GH_SCALAR, GH_READ
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W2
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: set_wind_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, W2), &
      arg_type(GH_SCALAR, GH_REAL, GH_READ)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: set_wind_code
  end type set_wind_kernel_type

  public :: set_wind_code

contains

  !> @brief Overwrite the wind with a value that every cell agrees on.
  !> @param[in,out] u Real field on W2, overwritten.
  !> @param[in] speed Real scalar.
  subroutine set_wind_code(nlayers, &
                           u, &
                           speed, &
                           ndf_w2, undf_w2, map_w2)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_w2, undf_w2
    real(kind=r_def), intent(inout) :: u(undf_w2)
    real(kind=r_def), intent(in) :: speed
    integer(kind=i_def), intent(in) :: map_w2(ndf_w2)

    integer(kind=i_def) :: k, df

    do k = 0, nlayers - 1
      do df = 1, ndf_w2
        u(map_w2(df)+k) = speed
      end do
    end do

  end subroutine set_wind_code

end module set_wind_kernel_mod
