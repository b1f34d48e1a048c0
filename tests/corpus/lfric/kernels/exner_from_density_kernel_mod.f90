!-----------------------------------------------------------------------------
! Corpus kernel: exner from density.
!-----------------------------------------------------------------------------
!> @brief Diagnose the Exner pressure of each cell from density and potential temperature.
module exner_from_density_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_WRITE, GH_READ, &
                           GH_SCALAR
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W3, Wtheta
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, extends(kernel_type), public :: exner_from_density_kernel_type
    private
    type(arg_type) :: meta_args(4) = (/ &
      arg_type(gh_field, gh_real, gh_write, W3), &
      arg_type(gh_field, gh_real, gh_read, W3), &
      arg_type(gh_field, gh_real, gh_read, Wtheta), &
      arg_type(gh_scalar, gh_real, gh_read)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: exner_from_density_code
  end type exner_from_density_kernel_type

  public :: exner_from_density_code

contains

  !> @brief Diagnose the Exner pressure of each cell from density and potential temperature.
  !> @param[in,out] exner Real field on W3, overwritten.
  !> @param[in] rho Real field on W3.
  !> @param[in] theta Real field on Wtheta.
  !> @param[in] kappa Real scalar.
  subroutine exner_from_density_code(nlayers, &
                                     exner, &
                                     rho, &
                                     theta, &
                                     kappa, &
                                     ndf_w3, undf_w3, map_w3, &
                                     ndf_wtheta, undf_wtheta, map_wtheta)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_w3, undf_w3, ndf_wtheta
    integer(kind=i_def), intent(in) :: undf_wtheta
    real(kind=r_def), intent(inout) :: exner(undf_w3)
    real(kind=r_def), intent(in) :: rho(undf_w3)
    real(kind=r_def), intent(in) :: theta(undf_wtheta)
    real(kind=r_def), intent(in) :: kappa
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)
    integer(kind=i_def), intent(in) :: map_wtheta(ndf_wtheta)

    integer(kind=i_def) :: k
    real(kind=r_def) :: theta_mean

    do k = 0, nlayers - 1
      theta_mean = 0.5_r_def * (theta(map_wtheta(1)+k) + theta(map_wtheta(2)+k))
      exner(map_w3(1)+k) = (rho(map_w3(1)+k) * theta_mean)**(kappa / (1.0_r_def - kappa))
    end do

  end subroutine exner_from_density_code

end module exner_from_density_kernel_mod
