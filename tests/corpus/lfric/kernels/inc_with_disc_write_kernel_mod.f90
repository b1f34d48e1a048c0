!-----------------------------------------------------------------------------
! Corpus kernel: inc with disc write.
!-----------------------------------------------------------------------------
!> @brief Increment a wind and overwrite the divergence found on the way.
module inc_with_disc_write_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_WRITE, GH_INC, &
                           GH_READ, ANY_W2
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W3, W2
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: inc_with_disc_write_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      arg_type(gh_field, gh_real, gh_write, W3), &
      arg_type(gh_field, gh_real, gh_inc, W2), &
      arg_type(gh_field, gh_real, gh_read, ANY_W2)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: inc_with_disc_write_code
  end type inc_with_disc_write_kernel_type

  public :: inc_with_disc_write_code

contains

  !> @brief Increment a wind and overwrite the divergence found on the way.
  !> @param[in,out] divergence Real field on W3, overwritten.
  !> @param[in,out] u Real field on W2, incremented.
  !> @param[in] mean_u Real field on ANY_W2.
  subroutine inc_with_disc_write_code(nlayers, &
                                      divergence, &
                                      u, &
                                      mean_u, &
                                      ndf_w3, undf_w3, map_w3, &
                                      ndf_w2, undf_w2, map_w2, &
                                      ndf_any_w2, undf_any_w2, map_any_w2)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_w3, undf_w3, ndf_w2, undf_w2
    integer(kind=i_def), intent(in) :: ndf_any_w2, undf_any_w2
    real(kind=r_def), intent(inout) :: divergence(undf_w3)
    real(kind=r_def), intent(inout) :: u(undf_w2)
    real(kind=r_def), intent(in) :: mean_u(undf_any_w2)
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)
    integer(kind=i_def), intent(in) :: map_w2(ndf_w2)
    integer(kind=i_def), intent(in) :: map_any_w2(ndf_any_w2)

    integer(kind=i_def) :: k

    do k = 0, nlayers - 1
      divergence(map_w3(1)+k) = u(map_w2(2)+k) - u(map_w2(1)+k)
      u(map_w2(:)+k) = u(map_w2(:)+k) + mean_u(map_any_w2(1)+k)
    end do

  end subroutine inc_with_disc_write_code

end module inc_with_disc_write_kernel_mod
