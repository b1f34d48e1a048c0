! psyclone-storage: changed for psy.f90
!-----------------------------------------------------------------------------
! Corpus kernel: laplacian.
!-----------------------------------------------------------------------------
!> @brief Five-point Laplacian of a cell field, or a wider cross.
module laplacian_kernel_0_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_WRITE, GH_READ, &
                           STENCIL, CROSS, GH_SCALAR
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: laplacian_kernel_0_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, W3), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3, STENCIL(CROSS)), &
      arg_type(GH_SCALAR, GH_REAL, GH_READ)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: laplacian_0_code
  end type laplacian_kernel_0_type

  public :: laplacian_0_code

contains

  !> @brief Five-point Laplacian of a cell field, or a wider cross.
  !> @param[in,out] lap Real field on W3, overwritten.
  !> @param[in] x Real field on W3, read through a stencil (cross).
  !> @param[in] dx Real scalar.
  subroutine laplacian_0_code(nlayers, lap, x, x_size, x_stencil, dx, ndf_w3, undf_w3, map_w3)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, x_size, ndf_w3, undf_w3
    real(kind=r_def), intent(inout) :: lap(undf_w3)
    real(kind=r_def), intent(in) :: x(undf_w3)
    integer(kind=i_def), intent(in) :: x_stencil(ndf_w3, x_size)
    real(kind=r_def), intent(in) :: dx
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)

    integer(kind=i_def) :: k, p
    !$acc routine vector

    !$acc loop vector independent private(p)
    do k = 0, nlayers - 1
      lap(map_w3(1) + k) = -real(x_size - 1, r_def) * x(map_w3(1) + k)
      do p = 2, x_size
        lap(map_w3(1) + k) = lap(map_w3(1) + k) + x(x_stencil(1, p) + k)
      end do
      lap(map_w3(1) + k) = lap(map_w3(1) + k) / dx ** 2
    end do

  end subroutine laplacian_0_code

end module laplacian_kernel_0_mod
