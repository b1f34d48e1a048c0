!-----------------------------------------------------------------------------
! Corpus kernel: boundary layer mix.
!-----------------------------------------------------------------------------
!> @brief Mix a column in boundary-layer precision.
module boundary_layer_mix_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_READWRITE, &
                           GH_READ
  use constants_mod, only : i_def, r_bl
  use fs_continuity_mod, only : Wtheta
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: boundary_layer_mix_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(gh_field, gh_real, gh_readwrite, Wtheta), &
      arg_type(gh_field, gh_real, gh_read, Wtheta)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: boundary_layer_mix_code
  end type boundary_layer_mix_kernel_type

  public :: boundary_layer_mix_code

contains

  !> @brief Mix a column in boundary-layer precision.
  !> @param[in,out] q Real field on Wtheta, updated.
  !> @param[in] k_mix Real field on Wtheta.
  subroutine boundary_layer_mix_code(nlayers, &
                                     q, &
                                     k_mix, &
                                     ndf_wtheta, undf_wtheta, map_wtheta)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_wtheta, undf_wtheta
    real(kind=r_bl), intent(inout) :: q(undf_wtheta)
    real(kind=r_bl), intent(in) :: k_mix(undf_wtheta)
    integer(kind=i_def), intent(in) :: map_wtheta(ndf_wtheta)

    integer(kind=i_def) :: k

    do k = 0, nlayers
      q(map_wtheta(1)+k) = q(map_wtheta(1)+k) * (1.0_r_bl - k_mix(map_wtheta(1)+k))
    end do

  end subroutine boundary_layer_mix_code

end module boundary_layer_mix_kernel_mod
