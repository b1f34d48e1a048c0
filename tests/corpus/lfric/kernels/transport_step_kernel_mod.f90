!-----------------------------------------------------------------------------
! Corpus kernel: transport step.
!-----------------------------------------------------------------------------
!> @brief One explicit transport step in transport precision.
module transport_step_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_READWRITE, &
                           GH_READ, GH_SCALAR, GH_LOGICAL
  use constants_mod, only : i_def, l_def, r_tran
  use fs_continuity_mod, only : W3, W2
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: transport_step_kernel_type
    private
    type(arg_type) :: meta_args(4) = (/ &
      & arg_type(GH_FIELD, GH_REAL, GH_READWRITE, W3), &
      & arg_type(GH_FIELD, GH_REAL, GH_READ, W2), &
      & arg_type(GH_SCALAR, GH_REAL, GH_READ), &
      & arg_type(GH_SCALAR, GH_LOGICAL, GH_READ)  &
      & /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: transport_step_code
  end type transport_step_kernel_type

  public :: transport_step_code

contains

  !> @brief One explicit transport step in transport precision.
  !> @param[in,out] q Real field on W3, updated.
  !> @param[in] flux Real field on W2.
  !> @param[in] dt Real scalar.
  !> @param[in] limit Logical scalar.
  subroutine transport_step_code(nlayers, &
                                 q, &
                                 flux, &
                                 dt, &
                                 limit, &
                                 ndf_w3, undf_w3, map_w3, &
                                 ndf_w2, undf_w2, map_w2)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_w3, undf_w3, ndf_w2, undf_w2
    real(kind=r_tran), intent(inout) :: q(undf_w3)
    real(kind=r_tran), intent(in) :: flux(undf_w2)
    real(kind=r_tran), intent(in) :: dt
    logical(kind=l_def), intent(in) :: limit
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)
    integer(kind=i_def), intent(in) :: map_w2(ndf_w2)

    integer(kind=i_def) :: k

    do k = 0, nlayers - 1
      q(map_w3(1)+k) = q(map_w3(1)+k) - dt * flux(map_w2(1)+k)
      if (limit) q(map_w3(1)+k) = max(q(map_w3(1)+k), 0.0_r_tran)
    end do

  end subroutine transport_step_code

end module transport_step_kernel_mod
