!-----------------------------------------------------------------------------
! Corpus kernel: smooth bundle.
!-----------------------------------------------------------------------------
!> @brief Smooth a bundle of three fields with one stencil.
module smooth_bundle_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_WRITE, GH_READ, &
                           STENCIL, CROSS
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: smooth_bundle_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(gh_field*3, gh_real, gh_write, W3), &
      arg_type(gh_field*3, gh_real, gh_read, W3, stencil(cross))  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: smooth_bundle_code
  end type smooth_bundle_kernel_type

  public :: smooth_bundle_code

contains

  !> @brief Smooth a bundle of three fields with one stencil.
  !> @param[in,out] smooth_1 and on Real field bundle of 3 on W3, overwritten.
  !> @param[in] rough_1 and on Real field bundle of 3 on W3, read through a stencil (cross).
  subroutine smooth_bundle_code(nlayers, &
                                smooth_1, smooth_2, smooth_3, &
                                rough_1, rough_2, rough_3, rough_size, rough_stencil, &
                                ndf_w3, undf_w3, map_w3)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, rough_size, ndf_w3, undf_w3
    real(kind=r_def), intent(inout) :: smooth_1(undf_w3)
    real(kind=r_def), intent(inout) :: smooth_2(undf_w3)
    real(kind=r_def), intent(inout) :: smooth_3(undf_w3)
    real(kind=r_def), intent(in) :: rough_1(undf_w3)
    real(kind=r_def), intent(in) :: rough_2(undf_w3)
    real(kind=r_def), intent(in) :: rough_3(undf_w3)
    integer(kind=i_def), intent(in) :: rough_stencil(ndf_w3, rough_size)
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)

    integer(kind=i_def) :: k

    do k = 0, nlayers - 1
      smooth_1(map_w3(1)+k) = rough_1(rough_stencil(1, rough_size)+k)
      smooth_2(map_w3(1)+k) = rough_2(rough_stencil(1, rough_size)+k)
      smooth_3(map_w3(1)+k) = rough_3(rough_stencil(1, rough_size)+k)
    end do

  end subroutine smooth_bundle_code

end module smooth_bundle_kernel_mod
