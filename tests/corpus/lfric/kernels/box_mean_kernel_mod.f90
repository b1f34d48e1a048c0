!-----------------------------------------------------------------------------
! Corpus kernel: box mean.
!-----------------------------------------------------------------------------
!> @brief Mean over a square of cells.
module box_mean_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_WRITE, GH_READ, &
                           STENCIL, REGION
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : Wtheta
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: box_mean_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(gh_field, gh_real, gh_write, Wtheta), &
      arg_type(gh_field, gh_real, gh_read, Wtheta, stencil(region))  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: box_mean_code
  end type box_mean_kernel_type

  public :: box_mean_code

contains

  !> @brief Mean over a square of cells.
  !> @param[in,out] mean Real field on Wtheta, overwritten.
  !> @param[in] x Real field on Wtheta, read through a stencil (region).
  subroutine box_mean_code(nlayers, &
                           mean, &
                           x, x_size, x_stencil, &
                           ndf_wtheta, undf_wtheta, map_wtheta)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, x_size, ndf_wtheta, undf_wtheta
    real(kind=r_def), intent(inout) :: mean(undf_wtheta)
    real(kind=r_def), intent(in) :: x(undf_wtheta)
    integer(kind=i_def), intent(in) :: x_stencil(ndf_wtheta, x_size)
    integer(kind=i_def), intent(in) :: map_wtheta(ndf_wtheta)

    integer(kind=i_def) :: k, p

    do k = 0, nlayers
      mean(map_wtheta(1)+k) = 0.0_r_def
      do p = 1, x_size
        mean(map_wtheta(1)+k) = mean(map_wtheta(1)+k) + x(x_stencil(1, p)+k) &
            / real(x_size, r_def)
      end do
    end do

  end subroutine box_mean_code

end module box_mean_kernel_mod
