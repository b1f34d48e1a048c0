!-----------------------------------------------------------------------------
! Corpus kernel: two branches.
!-----------------------------------------------------------------------------
!> @brief Compare the branches of two crosses of different length.
module two_branches_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_WRITE, &
                           ANY_DISCONTINUOUS_SPACE_1, GH_READ, STENCIL, CROSS2D, &
                           GH_SCALAR, ANY_DISCONTINUOUS_SPACE_2
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: two_branches_kernel_type
    private
    type(arg_type) :: meta_args(4) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, ANY_DISCONTINUOUS_SPACE_1), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3, STENCIL(CROSS2D)), &
      arg_type(GH_SCALAR, GH_REAL, GH_READ), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_DISCONTINUOUS_SPACE_2, STENCIL(CROSS2D))  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: two_branches_code
  end type two_branches_kernel_type

  public :: two_branches_code

contains

  !> @brief Compare the branches of two crosses of different length.
  !> @param[in,out] out Real field on ANY_DISCONTINUOUS_SPACE_1, overwritten.
  !> @param[in] tracer Real field on W3, read through a stencil (cross2d).
  !> @param[in] weight Real scalar.
  !> @param[in] panel Real field on ANY_DISCONTINUOUS_SPACE_2, read through a stencil (cross2d).
  subroutine two_branches_code(nlayers, &
                               out, &
                               tracer, tracer_sizes, tracer_longest, tracer_stencil, &
                               weight, &
                               panel, panel_sizes, panel_longest, panel_stencil, &
                               ndf_d1, undf_d1, map_d1, &
                               ndf_w3, undf_w3, map_w3, &
                               ndf_d2, undf_d2, map_d2)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, tracer_longest, panel_longest, ndf_d1
    integer(kind=i_def), intent(in) :: undf_d1, ndf_w3, undf_w3, ndf_d2, undf_d2
    real(kind=r_def), intent(inout) :: out(undf_d1)
    real(kind=r_def), intent(in) :: tracer(undf_w3)
    integer(kind=i_def), intent(in) :: tracer_sizes(4)
    integer(kind=i_def), intent(in) :: tracer_stencil(ndf_w3, tracer_longest, 4)
    real(kind=r_def), intent(in) :: weight
    real(kind=r_def), intent(in) :: panel(undf_d2)
    integer(kind=i_def), intent(in) :: panel_sizes(4)
    integer(kind=i_def), intent(in) :: panel_stencil(ndf_d2, panel_longest, 4)
    integer(kind=i_def), intent(in) :: map_d1(ndf_d1)
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)
    integer(kind=i_def), intent(in) :: map_d2(ndf_d2)

    integer(kind=i_def) :: branch

    out(map_d1(1)) = 0.0_r_def
    do branch = 1, 4
      out(map_d1(1)) = out(map_d1(1)) + weight * real(tracer_sizes(branch) &
          - panel_sizes(branch), r_def)
    end do

  end subroutine two_branches_code

end module two_branches_kernel_mod
