!-----------------------------------------------------------------------------
! Corpus kernel: wide update.
!-----------------------------------------------------------------------------
!> @brief Update a level field on owned columns and in the halo.
module wide_update_kernel_mod

  use argument_mod, only : arg_type, OWNED_AND_HALO_CELL_COLUMN, GH_FIELD, GH_REAL, &
                           GH_READWRITE, GH_READ
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : Wtheta
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: wide_update_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(gh_field, gh_real, gh_readwrite, Wtheta), &
      arg_type(gh_field, gh_real, gh_read, Wtheta)  &
      /)
    integer :: operates_on = OWNED_AND_HALO_CELL_COLUMN
  contains
    procedure, nopass :: wide_update_code
  end type wide_update_kernel_type

  public :: wide_update_code

contains

  !> @brief Update a level field on owned columns and in the halo.
  !> @param[in,out] theta Real field on Wtheta, updated.
  !> @param[in] tendency Real field on Wtheta.
  subroutine wide_update_code(nlayers, &
                              theta, &
                              tendency, &
                              ndf_wtheta, undf_wtheta, map_wtheta)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_wtheta, undf_wtheta
    real(kind=r_def), intent(inout) :: theta(undf_wtheta)
    real(kind=r_def), intent(in) :: tendency(undf_wtheta)
    integer(kind=i_def), intent(in) :: map_wtheta(ndf_wtheta)

    integer(kind=i_def) :: k

    do k = 0, nlayers
      theta(map_wtheta(1)+k) = theta(map_wtheta(1)+k) + tendency(map_wtheta(1)+k)
    end do

  end subroutine wide_update_code

end module wide_update_kernel_mod
