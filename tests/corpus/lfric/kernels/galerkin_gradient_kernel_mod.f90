!-----------------------------------------------------------------------------
! Corpus kernel: galerkin gradient.
!-----------------------------------------------------------------------------
!> @brief Weak gradient of the pressure with a quadrature.
module galerkin_gradient_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_INC, GH_READ, &
                           func_type, GH_BASIS, GH_DIFF_BASIS, GH_QUADRATURE_XYOZ
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W2, W3, Wtheta, Wchi
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: galerkin_gradient_kernel_type
    private
    type(arg_type) :: meta_args(4) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_INC, W2), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, Wtheta), &
      arg_type(GH_FIELD*3, GH_REAL, GH_READ, Wchi)  &
      /)
    type(func_type) :: meta_funcs(4) = (/ &
      func_type(W2, GH_BASIS, GH_DIFF_BASIS), &
      func_type(Wtheta, GH_BASIS), &
      func_type(W3, GH_BASIS), &
      func_type(Wchi, GH_DIFF_BASIS)  &
      /)
    integer :: operates_on = CELL_COLUMN
    integer :: gh_shape = GH_QUADRATURE_XYOZ
  contains
    procedure, nopass :: code => galerkin_gradient_code
  end type galerkin_gradient_kernel_type

  public :: galerkin_gradient_code

contains

  !> @brief Weak gradient of the pressure with a quadrature.
  !> @param[in,out] rhs Real field on W2, incremented.
  !> @param[in] p Real field on W3.
  !> @param[in] theta Real field on Wtheta.
  !> @param[in] chi_1 and on Real field bundle of 3 on Wchi.
  subroutine galerkin_gradient_code(nlayers, &
                                    rhs, &
                                    p, &
                                    theta, &
                                    chi_1, chi_2, chi_3, &
                                    ndf_w2, undf_w2, map_w2, basis_w2, diff_basis_w2, &
                                    ndf_w3, undf_w3, map_w3, basis_w3, &
                                    ndf_wtheta, undf_wtheta, map_wtheta, &
                                    basis_wtheta, &
                                    ndf_wchi, undf_wchi, map_wchi, diff_basis_wchi, &
                                    np_xy, np_z, weights_xy, weights_z)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_w2, undf_w2, ndf_w3, undf_w3
    integer(kind=i_def), intent(in) :: ndf_wtheta, undf_wtheta, ndf_wchi, undf_wchi
    integer(kind=i_def), intent(in) :: np_xy, np_z
    real(kind=r_def), intent(inout) :: rhs(undf_w2)
    real(kind=r_def), intent(in) :: p(undf_w3)
    real(kind=r_def), intent(in) :: theta(undf_wtheta)
    real(kind=r_def), intent(in) :: chi_1(undf_wchi)
    real(kind=r_def), intent(in) :: chi_2(undf_wchi)
    real(kind=r_def), intent(in) :: chi_3(undf_wchi)
    integer(kind=i_def), intent(in) :: map_w2(ndf_w2)
    real(kind=r_def), intent(in) :: basis_w2(3, ndf_w2, np_xy, np_z)
    real(kind=r_def), intent(in) :: diff_basis_w2(1, ndf_w2, np_xy, np_z)
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)
    real(kind=r_def), intent(in) :: basis_w3(1, ndf_w3, np_xy, np_z)
    integer(kind=i_def), intent(in) :: map_wtheta(ndf_wtheta)
    real(kind=r_def), intent(in) :: basis_wtheta(1, ndf_wtheta, np_xy, np_z)
    integer(kind=i_def), intent(in) :: map_wchi(ndf_wchi)
    real(kind=r_def), intent(in) :: diff_basis_wchi(3, ndf_wchi, np_xy, np_z)
    real(kind=r_def), intent(in) :: weights_xy(np_xy)
    real(kind=r_def), intent(in) :: weights_z(np_z)

    integer(kind=i_def) :: k, df

    do k = 0, nlayers - 1
      do df = 1, ndf_w2
        rhs(map_w2(df)+k) = rhs(map_w2(df)+k) + p(map_w3(1)+k) &
            * diff_basis_w2(1, df, 1, 1) &
          * basis_wtheta(1, 1, 1, 1) * theta(map_wtheta(1)+k) * chi_1(map_wchi(1)+k) &
          * diff_basis_wchi(1, 1, 1, 1) * weights_xy(1) * weights_z(1)
      end do
    end do

  end subroutine galerkin_gradient_code

end module galerkin_gradient_kernel_mod
