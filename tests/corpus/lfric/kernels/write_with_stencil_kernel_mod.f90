!-----------------------------------------------------------------------------
! Corpus kernel: write with stencil.
!-----------------------------------------------------------------------------
!> @brief Overwrite a continuous field from a nodal stencil.
module write_with_stencil_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_WRITE, GH_READ, &
                           STENCIL, CROSS
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W2, W0
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: write_with_stencil_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(gh_field, gh_real, gh_write, W2), &
      arg_type(gh_field, gh_real, gh_read, W0, stencil(cross))  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: write_with_stencil_code
  end type write_with_stencil_kernel_type

  public :: write_with_stencil_code

contains

  !> @brief Overwrite a continuous field from a nodal stencil.
  !> @param[in,out] u Real field on W2, overwritten.
  !> @param[in] nodal Real field on W0, read through a stencil (cross).
  subroutine write_with_stencil_code(nlayers, &
                                     u, &
                                     nodal, nodal_size, nodal_stencil, &
                                     ndf_w2, undf_w2, map_w2, &
                                     ndf_w0, undf_w0, map_w0)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, nodal_size, ndf_w2, undf_w2, ndf_w0
    integer(kind=i_def), intent(in) :: undf_w0
    real(kind=r_def), intent(inout) :: u(undf_w2)
    real(kind=r_def), intent(in) :: nodal(undf_w0)
    integer(kind=i_def), intent(in) :: nodal_stencil(ndf_w0, nodal_size)
    integer(kind=i_def), intent(in) :: map_w2(ndf_w2)
    integer(kind=i_def), intent(in) :: map_w0(ndf_w0)

    integer(kind=i_def) :: k

    do k = 0, nlayers - 1
      u(map_w2(:)+k) = nodal(nodal_stencil(1, nodal_size)+k)
    end do

  end subroutine write_with_stencil_code

end module write_with_stencil_kernel_mod
