!-----------------------------------------------------------------------------
! Corpus kernel: smooth x.
!-----------------------------------------------------------------------------
!> @brief Smooth a field along the first horizontal direction.
module smooth_x_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_WRITE, GH_READ, &
                           STENCIL, X1D
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: smooth_x_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, W3), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3, STENCIL(X1D))  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: smooth_x_code
  end type smooth_x_kernel_type

  public :: smooth_x_code

contains

  !> @brief Smooth a field along the first horizontal direction.
  !> @param[in,out] smooth Real field on W3, overwritten.
  !> @param[in] rough Real field on W3, read through a stencil (x1d).
  subroutine smooth_x_code(nlayers, &
                           smooth, &
                           rough, rough_size, rough_stencil, &
                           ndf_w3, undf_w3, map_w3)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, rough_size, ndf_w3, undf_w3
    real(kind=r_def), intent(inout) :: smooth(undf_w3)
    real(kind=r_def), intent(in) :: rough(undf_w3)
    integer(kind=i_def), intent(in) :: rough_stencil(ndf_w3, rough_size)
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)

    integer(kind=i_def) :: k, p

    do k = 0, nlayers - 1
      smooth(map_w3(1)+k) = 0.0_r_def
      do p = 1, rough_size
        smooth(map_w3(1)+k) = smooth(map_w3(1)+k) + rough(rough_stencil(1, p)+k) &
            / real(rough_size, r_def)
      end do
    end do

  end subroutine smooth_x_code

end module smooth_x_kernel_mod
