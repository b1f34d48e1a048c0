!-----------------------------------------------------------------------------
! Corpus kernel: write mixed.
!-----------------------------------------------------------------------------
!> @brief Overwrite a continuous and a discontinuous field in one pass.
module write_mixed_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_WRITE, GH_READ
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W2, W3, Wtheta
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, extends(kernel_type), public :: write_mixed_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, W2), &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, W3), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, Wtheta)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: write_mixed_code
  end type write_mixed_kernel_type

  public :: write_mixed_code

contains

  !> @brief Overwrite a continuous and a discontinuous field in one pass.
  !> @param[in,out] u Real field on W2, overwritten.
  !> @param[in,out] rho Real field on W3, overwritten.
  !> @param[in] theta Real field on Wtheta.
  subroutine write_mixed_code(nlayers, &
                              u, &
                              rho, &
                              theta, &
                              ndf_w2, undf_w2, map_w2, &
                              ndf_w3, undf_w3, map_w3, &
                              ndf_wtheta, undf_wtheta, map_wtheta)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_w2, undf_w2, ndf_w3, undf_w3
    integer(kind=i_def), intent(in) :: ndf_wtheta, undf_wtheta
    real(kind=r_def), intent(inout) :: u(undf_w2)
    real(kind=r_def), intent(inout) :: rho(undf_w3)
    real(kind=r_def), intent(in) :: theta(undf_wtheta)
    integer(kind=i_def), intent(in) :: map_w2(ndf_w2)
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)
    integer(kind=i_def), intent(in) :: map_wtheta(ndf_wtheta)

    integer(kind=i_def) :: k

    do k = 0, nlayers - 1
      u(map_w2(:)+k) = theta(map_wtheta(1)+k)
      rho(map_w3(1)+k) = 1.0_r_def / theta(map_wtheta(1)+k)
    end do

  end subroutine write_mixed_code

end module write_mixed_kernel_mod
