!-----------------------------------------------------------------------------
! Corpus kernel: smooth y.
!-----------------------------------------------------------------------------
!> @brief Smooth a level field along the second horizontal direction.
module smooth_y_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_READWRITE, &
                           GH_READ, STENCIL, Y1D
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : Wtheta
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, extends(kernel_type), public :: smooth_y_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_READWRITE, Wtheta), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, Wtheta, STENCIL(Y1D))  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: code => smooth_y_code
  end type smooth_y_kernel_type

  public :: smooth_y_code

contains

  !> @brief Smooth a level field along the second horizontal direction.
  !> @param[in,out] smooth Real field on Wtheta, updated.
  !> @param[in] rough Real field on Wtheta, read through a stencil (y1d).
  subroutine smooth_y_code(nlayers, &
                           smooth, &
                           rough, rough_size, rough_stencil, &
                           ndf_wtheta, undf_wtheta, map_wtheta)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, rough_size, ndf_wtheta, undf_wtheta
    real(kind=r_def), intent(inout) :: smooth(undf_wtheta)
    real(kind=r_def), intent(in) :: rough(undf_wtheta)
    integer(kind=i_def), intent(in) :: rough_stencil(ndf_wtheta, rough_size)
    integer(kind=i_def), intent(in) :: map_wtheta(ndf_wtheta)

    integer(kind=i_def) :: k, p

    do k = 0, nlayers
      do p = 2, rough_size
        smooth(map_wtheta(1)+k) = smooth(map_wtheta(1)+k) + rough(rough_stencil(1, p)+k)
      end do
    end do

  end subroutine smooth_y_code

end module smooth_y_kernel_mod
