!-----------------------------------------------------------------------------
! Corpus kernel: evaluator and quadrature.
!-----------------------------------------------------------------------------
!> @brief Mix values at nodes with values at quadrature points.
module evaluator_and_quadrature_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_INC, GH_READ, &
                           ANY_SPACE_1, func_type, GH_BASIS, GH_DIFF_BASIS, &
                           GH_EVALUATOR, GH_QUADRATURE_XYOZ
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W0, Wtheta
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, extends(kernel_type), public :: evaluator_and_quadrature_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_INC, W0), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_SPACE_1), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, Wtheta)  &
      /)
    type(func_type) :: meta_funcs(2) = (/ &
      func_type(ANY_SPACE_1, GH_BASIS), &
      func_type(W0, GH_DIFF_BASIS)  &
      /)
    integer :: operates_on = CELL_COLUMN
    integer :: gh_shape(2) = (/ GH_EVALUATOR, GH_QUADRATURE_XYOZ /)
    integer :: gh_evaluator_targets(1) = (/ Wtheta /)
  contains
    procedure, nopass :: evaluator_and_quadrature_code
  end type evaluator_and_quadrature_kernel_type

  public :: evaluator_and_quadrature_code

contains

  !> @brief Mix values at nodes with values at quadrature points.
  !> @param[in,out] rhs Real field on W0, incremented.
  !> @param[in] x Real field on ANY_SPACE_1.
  !> @param[in] theta Real field on Wtheta.
  subroutine evaluator_and_quadrature_code(nlayers, &
                                           rhs, &
                                           x, &
                                           theta, &
                                           ndf_w0, undf_w0, map_w0, diff_basis_w0, &
                                           diff_basis_w0_on_wtheta, &
                                           ndf_s1, undf_s1, map_s1, basis_s1, &
                                           basis_s1_on_wtheta, &
                                           ndf_wtheta, undf_wtheta, map_wtheta, &
                                           np_xy, np_z, weights_xy, weights_z)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_w0, undf_w0, ndf_wtheta, ndf_s1
    integer(kind=i_def), intent(in) :: undf_s1, undf_wtheta, np_xy, np_z
    real(kind=r_def), intent(inout) :: rhs(undf_w0)
    real(kind=r_def), intent(in) :: x(undf_s1)
    real(kind=r_def), intent(in) :: theta(undf_wtheta)
    integer(kind=i_def), intent(in) :: map_w0(ndf_w0)
    real(kind=r_def), intent(in) :: diff_basis_w0(3, ndf_w0, np_xy, np_z)
    real(kind=r_def), intent(in) :: diff_basis_w0_on_wtheta(3, ndf_w0, ndf_wtheta)
    integer(kind=i_def), intent(in) :: map_s1(ndf_s1)
    real(kind=r_def), intent(in) :: basis_s1(3, ndf_s1, np_xy, np_z)
    real(kind=r_def), intent(in) :: basis_s1_on_wtheta(3, ndf_s1, ndf_wtheta)
    integer(kind=i_def), intent(in) :: map_wtheta(ndf_wtheta)
    real(kind=r_def), intent(in) :: weights_xy(np_xy)
    real(kind=r_def), intent(in) :: weights_z(np_z)

    integer(kind=i_def) :: k

    do k = 0, nlayers - 1
      rhs(map_w0(1)+k) = rhs(map_w0(1)+k) + x(map_s1(1)+k) * basis_s1(1, 1, 1, 1) &
          * weights_xy(1) &
        * weights_z(1) + theta(map_wtheta(1)+k) * basis_s1_on_wtheta(1, 1, 1)
    end do

  end subroutine evaluator_and_quadrature_code

end module evaluator_and_quadrature_kernel_mod
