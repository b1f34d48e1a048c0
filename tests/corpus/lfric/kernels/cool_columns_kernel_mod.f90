!-----------------------------------------------------------------------------
! Corpus kernel: cool columns.
!-----------------------------------------------------------------------------
!> @brief Cool all columns of a partition at once.
module cool_columns_kernel_mod

  use argument_mod, only : arg_type, DOMAIN, GH_FIELD, GH_REAL, GH_READWRITE, &
                           GH_SCALAR, GH_READ
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: cool_columns_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_READWRITE, W3), &
      arg_type(GH_SCALAR, GH_REAL, GH_READ)  &
      /)
    integer :: operates_on = DOMAIN
  contains
    procedure, nopass :: cool_columns_code
  end type cool_columns_kernel_type

  public :: cool_columns_code

contains

  !> @brief Cool all columns of a partition at once.
  !> @param[in,out] temperature Real field on W3, updated.
  !> @param[in] rate Real scalar.
  subroutine cool_columns_code(nlayers, ncell_2d_no_halos, &
                               temperature, &
                               rate, &
                               ndf_w3, undf_w3, map_w3)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ncell_2d_no_halos, ndf_w3, undf_w3
    real(kind=r_def), intent(inout) :: temperature(undf_w3)
    real(kind=r_def), intent(in) :: rate
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3, ncell_2d_no_halos)

    integer(kind=i_def) :: cell, k

    do cell = 1, ncell_2d_no_halos
      do k = 0, nlayers - 1
        temperature(map_w3(1, cell)+k) = temperature(map_w3(1, cell)+k) - rate
      end do
    end do

  end subroutine cool_columns_code

end module cool_columns_kernel_mod
