!-----------------------------------------------------------------------------
! Corpus kernel: sweep line.
!-----------------------------------------------------------------------------
!> @brief Sweep a tracer along a line whose direction is known at run time.
module sweep_line_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_WRITE, GH_READ, &
                           STENCIL, XORY1D
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: sweep_line_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(gh_field, gh_real, gh_write, W3), &
      arg_type(gh_field, gh_real, gh_read, W3, stencil(xory1d))  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: sweep_line_code
  end type sweep_line_kernel_type

  public :: sweep_line_code

contains

  !> @brief Sweep a tracer along a line whose direction is known at run time.
  !> @param[in,out] flux Real field on W3, overwritten.
  !> @param[in] tracer Real field on W3, read through a stencil (xory1d).
  subroutine sweep_line_code(nlayers, &
                             flux, &
                             tracer, tracer_size, tracer_direction, tracer_stencil, &
                             ndf_w3, undf_w3, map_w3)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, tracer_size, tracer_direction, ndf_w3
    integer(kind=i_def), intent(in) :: undf_w3
    real(kind=r_def), intent(inout) :: flux(undf_w3)
    real(kind=r_def), intent(in) :: tracer(undf_w3)
    integer(kind=i_def), intent(in) :: tracer_stencil(ndf_w3, tracer_size)
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)

    integer(kind=i_def) :: k

    do k = 0, nlayers - 1
      flux(map_w3(1)+k) = tracer(tracer_stencil(1, tracer_size)+k) &
          * real(tracer_direction, r_def)
    end do

  end subroutine sweep_line_code

end module sweep_line_kernel_mod
