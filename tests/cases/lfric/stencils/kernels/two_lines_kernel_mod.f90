!-----------------------------------------------------------------------------
! Corpus kernel: two lines.
!-----------------------------------------------------------------------------
!> @brief Difference of two fields along lines of their own.
module two_lines_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_WRITE, GH_READ, &
                           STENCIL, XORY1D
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W3, Wtheta
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, extends(kernel_type), public :: two_lines_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      arg_type(gh_field, gh_real, gh_write, W3), &
      arg_type(gh_field, gh_real, gh_read, W3, stencil(xory1d)), &
      arg_type(gh_field, gh_real, gh_read, Wtheta, stencil(xory1d))  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: two_lines_code
  end type two_lines_kernel_type

  public :: two_lines_code

contains

  !> @brief Difference of two fields along lines of their own.
  !> @param[in,out] out Real field on W3, overwritten.
  !> @param[in] a Real field on W3, read through a stencil (xory1d).
  !> @param[in] b Real field on Wtheta, read through a stencil (xory1d).
  subroutine two_lines_code(nlayers, &
                            out, &
                            a, a_size, a_direction, a_stencil, &
                            b, b_size, b_direction, b_stencil, &
                            ndf_w3, undf_w3, map_w3, &
                            ndf_wtheta, undf_wtheta, map_wtheta)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, a_size, a_direction, b_size
    integer(kind=i_def), intent(in) :: b_direction, ndf_w3, undf_w3, ndf_wtheta
    integer(kind=i_def), intent(in) :: undf_wtheta
    real(kind=r_def), intent(inout) :: out(undf_w3)
    real(kind=r_def), intent(in) :: a(undf_w3)
    integer(kind=i_def), intent(in) :: a_stencil(ndf_w3, a_size)
    real(kind=r_def), intent(in) :: b(undf_wtheta)
    integer(kind=i_def), intent(in) :: b_stencil(ndf_wtheta, b_size)
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)
    integer(kind=i_def), intent(in) :: map_wtheta(ndf_wtheta)

    integer(kind=i_def) :: k

    do k = 0, nlayers - 1
      out(map_w3(1)+k) = a(a_stencil(1, a_size)+k) - b(b_stencil(1, b_size)+k)
    end do

  end subroutine two_lines_code

end module two_lines_kernel_mod
