!-----------------------------------------------------------------------------
! Corpus kernel: scale tracer.
!-----------------------------------------------------------------------------
!> @brief Scale a tracer in the precision of the caller.
module scale_tracer_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_READWRITE, &
                           GH_SCALAR, GH_READ
  use constants_mod, only : i_def, r_single, r_double
  use fs_continuity_mod, only : W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: scale_tracer_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(gh_field, gh_real, gh_readwrite, W3), &
      arg_type(gh_scalar, gh_real, gh_read)  &
      /)
    integer :: operates_on = CELL_COLUMN
  end type scale_tracer_kernel_type

  public :: scale_tracer_code

  !> One body per precision; the arguments choose.
  interface scale_tracer_code
    module procedure &
      scale_tracer_code_r_single, &
      scale_tracer_code_r_double
  end interface scale_tracer_code

contains

  !> @brief Scale a tracer in the precision of the caller.
  !> @param[in,out] tracer Real field on W3, updated.
  !> @param[in] factor Real scalar.
  subroutine scale_tracer_code_r_single(nlayers, &
                                        tracer, &
                                        factor, &
                                        ndf_w3, undf_w3, map_w3)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_w3, undf_w3
    real(kind=r_single), intent(inout) :: tracer(undf_w3)
    real(kind=r_single), intent(in) :: factor
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)

    integer(kind=i_def) :: k

    do k = 0, nlayers - 1
      tracer(map_w3(1)+k) = factor * tracer(map_w3(1)+k)
    end do

  end subroutine scale_tracer_code_r_single

  !> @brief Scale a tracer in the precision of the caller.
  !> @param[in,out] tracer Real field on W3, updated.
  !> @param[in] factor Real scalar.
  subroutine scale_tracer_code_r_double(nlayers, &
                                        tracer, &
                                        factor, &
                                        ndf_w3, undf_w3, map_w3)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_w3, undf_w3
    real(kind=r_double), intent(inout) :: tracer(undf_w3)
    real(kind=r_double), intent(in) :: factor
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)

    integer(kind=i_def) :: k

    do k = 0, nlayers - 1
      tracer(map_w3(1)+k) = factor * tracer(map_w3(1)+k)
    end do

  end subroutine scale_tracer_code_r_double

end module scale_tracer_kernel_mod
