!-----------------------------------------------------------------------------
! Corpus kernel: solver residual.
!-----------------------------------------------------------------------------
!> @brief Residual of the pressure solver in solver precision.
module solver_residual_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_WRITE, GH_READ, &
                           GH_OPERATOR
  use constants_mod, only : i_def, r_solver
  use fs_continuity_mod, only : W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, extends(kernel_type), public :: solver_residual_kernel_type
    private
    type(arg_type) :: meta_args(4) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, W3), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3), &
      arg_type(GH_OPERATOR, GH_REAL, GH_READ, W3, W3)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: solver_residual_code
  end type solver_residual_kernel_type

  public :: solver_residual_code

contains

  !> @brief Residual of the pressure solver in solver precision.
  !> @param[in,out] residual Real field on W3, overwritten.
  !> @param[in] rhs Real field on W3.
  !> @param[in] x Real field on W3.
  !> @param[in] matrix Local operator on W3.
  subroutine solver_residual_code(cell, nlayers, &
                                  residual, &
                                  rhs, &
                                  x, &
                                  matrix_ncell_3d, matrix, &
                                  ndf_w3, undf_w3, map_w3)

    implicit none

    integer(kind=i_def), intent(in) :: cell, nlayers, matrix_ncell_3d, ndf_w3, undf_w3
    real(kind=r_solver), intent(inout) :: residual(undf_w3)
    real(kind=r_solver), intent(in) :: rhs(undf_w3)
    real(kind=r_solver), intent(in) :: x(undf_w3)
    real(kind=r_solver), intent(in) :: matrix(matrix_ncell_3d, ndf_w3, ndf_w3)
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)

    integer(kind=i_def) :: k, ik

    do k = 0, nlayers - 1
      ik = (cell - 1) * nlayers + k + 1
      residual(map_w3(1)+k) = rhs(map_w3(1)+k) - matrix(ik, 1, 1) * x(map_w3(1)+k)
    end do

  end subroutine solver_residual_code

end module solver_residual_kernel_mod
