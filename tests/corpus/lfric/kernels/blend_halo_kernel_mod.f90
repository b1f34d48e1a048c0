!-----------------------------------------------------------------------------
! Corpus kernel: blend halo.
!-----------------------------------------------------------------------------
!> @brief Blend the wind into a driving model within the halo.
module blend_halo_kernel_mod

  use argument_mod, only : arg_type, HALO_CELL_COLUMN, GH_FIELD, GH_REAL, GH_INC, &
                           GH_READ
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W2, W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, extends(kernel_type), public :: blend_halo_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_INC, W2), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W2), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3)  &
      /)
    integer :: operates_on = HALO_CELL_COLUMN
  contains
    procedure, nopass :: code => blend_halo_code
  end type blend_halo_kernel_type

  public :: blend_halo_code

contains

  !> @brief Blend the wind into a driving model within the halo.
  !> @param[in,out] u Real field on W2, incremented.
  !> @param[in] driver Real field on W2.
  !> @param[in] weight Real field on W3.
  subroutine blend_halo_code(nlayers, &
                             u, &
                             driver, &
                             weight, &
                             ndf_w2, undf_w2, map_w2, &
                             ndf_w3, undf_w3, map_w3)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_w2, undf_w2, ndf_w3, undf_w3
    real(kind=r_def), intent(inout) :: u(undf_w2)
    real(kind=r_def), intent(in) :: driver(undf_w2)
    real(kind=r_def), intent(in) :: weight(undf_w3)
    integer(kind=i_def), intent(in) :: map_w2(ndf_w2)
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)

    integer(kind=i_def) :: k

    do k = 0, nlayers - 1
      u(map_w2(:)+k) = u(map_w2(:)+k) + 0.5_r_def * weight(map_w3(1)+k) &
          * driver(map_w2(:)+k)
    end do

  end subroutine blend_halo_code

end module blend_halo_kernel_mod
