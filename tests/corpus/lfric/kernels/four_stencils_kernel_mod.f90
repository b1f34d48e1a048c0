!-----------------------------------------------------------------------------
! Corpus kernel: four stencils.
!-----------------------------------------------------------------------------
!> @brief Combine four fields, each read through a stencil of another shape.
module four_stencils_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_READWRITE, &
                           GH_READ, STENCIL, X1D, Y1D, CROSS, &
                           ANY_DISCONTINUOUS_SPACE_1, REGION
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W3, Wtheta, W2
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: four_stencils_kernel_type
    private
    type(arg_type) :: meta_args(5) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_READWRITE, W3), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3, STENCIL(X1D)), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, Wtheta, STENCIL(Y1D)), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W2, STENCIL(CROSS)), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_DISCONTINUOUS_SPACE_1, STENCIL(REGION))  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: four_stencils_code
  end type four_stencils_kernel_type

  public :: four_stencils_code

contains

  !> @brief Combine four fields, each read through a stencil of another shape.
  !> @param[in,out] out Real field on W3, updated.
  !> @param[in] a Real field on W3, read through a stencil (x1d).
  !> @param[in] b Real field on Wtheta, read through a stencil (y1d).
  !> @param[in] c Real field on W2, read through a stencil (cross).
  !> @param[in] d Real field on ANY_DISCONTINUOUS_SPACE_1, read through a stencil (region).
  subroutine four_stencils_code(nlayers, &
                                out, &
                                a, a_size, a_stencil, &
                                b, b_size, b_stencil, &
                                c, c_size, c_stencil, &
                                d, d_size, d_stencil, &
                                ndf_w3, undf_w3, map_w3, &
                                ndf_wtheta, undf_wtheta, map_wtheta, &
                                ndf_w2, undf_w2, map_w2, &
                                ndf_d1, undf_d1, map_d1)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, a_size, b_size, c_size, d_size, ndf_w3
    integer(kind=i_def), intent(in) :: undf_w3, ndf_wtheta, undf_wtheta, ndf_w2
    integer(kind=i_def), intent(in) :: undf_w2, ndf_d1, undf_d1
    real(kind=r_def), intent(inout) :: out(undf_w3)
    real(kind=r_def), intent(in) :: a(undf_w3)
    integer(kind=i_def), intent(in) :: a_stencil(ndf_w3, a_size)
    real(kind=r_def), intent(in) :: b(undf_wtheta)
    integer(kind=i_def), intent(in) :: b_stencil(ndf_wtheta, b_size)
    real(kind=r_def), intent(in) :: c(undf_w2)
    integer(kind=i_def), intent(in) :: c_stencil(ndf_w2, c_size)
    real(kind=r_def), intent(in) :: d(undf_d1)
    integer(kind=i_def), intent(in) :: d_stencil(ndf_d1, d_size)
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)
    integer(kind=i_def), intent(in) :: map_wtheta(ndf_wtheta)
    integer(kind=i_def), intent(in) :: map_w2(ndf_w2)
    integer(kind=i_def), intent(in) :: map_d1(ndf_d1)

    integer(kind=i_def) :: k

    do k = 0, nlayers - 1
      out(map_w3(1)+k) = out(map_w3(1)+k) + a(a_stencil(1, a_size)+k) &
          + b(b_stencil(1, b_size)+k) &
        + c(c_stencil(1, c_size)+k) + d(d_stencil(1, d_size))
    end do

  end subroutine four_stencils_code

end module four_stencils_kernel_mod
