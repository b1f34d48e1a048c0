!-----------------------------------------------------------------------------
! Corpus kernel: fill halo.
!-----------------------------------------------------------------------------
!> @brief Fill a field in the halo only.
module fill_halo_kernel_mod

  use argument_mod, only : arg_type, HALO_CELL_COLUMN, GH_FIELD, GH_REAL, GH_READWRITE, &
                           GH_SCALAR, GH_READ
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: fill_halo_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(gh_field, gh_real, gh_readwrite, W3), &
      arg_type(gh_scalar, gh_real, gh_read)  &
      /)
    integer :: operates_on = HALO_CELL_COLUMN
  contains
    procedure, nopass :: fill_halo_code
  end type fill_halo_kernel_type

  public :: fill_halo_code

contains

  !> @brief Fill a field in the halo only.
  !> @param[in,out] x Real field on W3, updated.
  !> @param[in] edge_value Real scalar.
  subroutine fill_halo_code(nlayers, &
                            x, &
                            edge_value, &
                            ndf_w3, undf_w3, map_w3)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_w3, undf_w3
    real(kind=r_def), intent(inout) :: x(undf_w3)
    real(kind=r_def), intent(in) :: edge_value
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)

    integer(kind=i_def) :: k

    do k = 0, nlayers - 1
      x(map_w3(1)+k) = edge_value
    end do

  end subroutine fill_halo_code

end module fill_halo_kernel_mod
