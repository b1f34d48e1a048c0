!-----------------------------------------------------------------------------
! Corpus kernel: operator stencil.
!-----------------------------------------------------------------------------
!> @brief Build an operator from a cross of wind values.
module operator_stencil_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_OPERATOR, GH_REAL, GH_WRITE, &
                           GH_FIELD, GH_READ, STENCIL, CROSS
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W2
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: operator_stencil_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(GH_OPERATOR, GH_REAL, GH_WRITE, W2, W2), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W2, STENCIL(CROSS))  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: operator_stencil_code
  end type operator_stencil_kernel_type

  public :: operator_stencil_code

contains

  !> @brief Build an operator from a cross of wind values.
  !> @param[in,out] matrix Local operator on W2, overwritten.
  !> @param[in] u Real field on W2, read through a stencil (cross).
  subroutine operator_stencil_code(cell, nlayers, &
                                   matrix_ncell_3d, matrix, &
                                   u, u_size, u_stencil, &
                                   ndf_w2, undf_w2, map_w2)

    implicit none

    integer(kind=i_def), intent(in) :: cell, nlayers, matrix_ncell_3d, u_size, ndf_w2
    integer(kind=i_def), intent(in) :: undf_w2
    real(kind=r_def), intent(inout) :: matrix(matrix_ncell_3d, ndf_w2, ndf_w2)
    real(kind=r_def), intent(in) :: u(undf_w2)
    integer(kind=i_def), intent(in) :: u_stencil(ndf_w2, u_size)
    integer(kind=i_def), intent(in) :: map_w2(ndf_w2)

    integer(kind=i_def) :: k, ik

    do k = 0, nlayers - 1
      ik = (cell - 1) * nlayers + k + 1
      matrix(ik, :, :) = u(u_stencil(1, u_size)+k)
    end do

  end subroutine operator_stencil_code

end module operator_stencil_kernel_mod
