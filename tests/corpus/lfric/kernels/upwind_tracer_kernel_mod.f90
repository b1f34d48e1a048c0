!-----------------------------------------------------------------------------
! Corpus kernel: upwind tracer.
!-----------------------------------------------------------------------------
!> @brief Upwind a tracer with the four branches of a cross.
module upwind_tracer_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_WRITE, GH_READ, &
                           STENCIL, CROSS2D
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: upwind_tracer_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, W3), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3, STENCIL(CROSS2D))  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: upwind_tracer_code
  end type upwind_tracer_kernel_type

  public :: upwind_tracer_code

contains

  !> @brief Upwind a tracer with the four branches of a cross.
  !> @param[in,out] out Real field on W3, overwritten.
  !> @param[in] tracer Real field on W3, read through a stencil (cross2d).
  subroutine upwind_tracer_code(nlayers, &
                                out, &
                                tracer, tracer_sizes, tracer_longest, tracer_stencil, &
                                ndf_w3, undf_w3, map_w3)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, tracer_longest, ndf_w3, undf_w3
    real(kind=r_def), intent(inout) :: out(undf_w3)
    real(kind=r_def), intent(in) :: tracer(undf_w3)
    integer(kind=i_def), intent(in) :: tracer_sizes(4)
    integer(kind=i_def), intent(in) :: tracer_stencil(ndf_w3, tracer_longest, 4)
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)

    integer(kind=i_def) :: k, p, branch

    do k = 0, nlayers - 1
      out(map_w3(1)+k) = 0.0_r_def
      do branch = 1, 4
        do p = 1, tracer_sizes(branch)
          out(map_w3(1)+k) = out(map_w3(1)+k) + tracer(tracer_stencil(1, p, branch)+k)
        end do
      end do
    end do

  end subroutine upwind_tracer_code

end module upwind_tracer_kernel_mod
