!-----------------------------------------------------------------------------
! Corpus kernel: accumulate mass flux.
!-----------------------------------------------------------------------------
!> @brief Add to a mass flux a share that depends on its present value.
module accumulate_mass_flux_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_READINC, GH_READ
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W2, W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: accumulate_mass_flux_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      & arg_type(GH_FIELD, GH_REAL, GH_READINC, W2), &
      & arg_type(GH_FIELD, GH_REAL, GH_READ, W3)  &
      & /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: accumulate_mass_flux_code
  end type accumulate_mass_flux_kernel_type

  public :: accumulate_mass_flux_code

contains

  !> @brief Add to a mass flux a share that depends on its present value.
  !> @param[in,out] flux Real field on W2, read and incremented.
  !> @param[in] rho Real field on W3.
  subroutine accumulate_mass_flux_code(nlayers, &
                                       flux, &
                                       rho, &
                                       ndf_w2, undf_w2, map_w2, &
                                       ndf_w3, undf_w3, map_w3)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_w2, undf_w2, ndf_w3, undf_w3
    real(kind=r_def), intent(inout) :: flux(undf_w2)
    real(kind=r_def), intent(in) :: rho(undf_w3)
    integer(kind=i_def), intent(in) :: map_w2(ndf_w2)
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)

    integer(kind=i_def) :: k, df

    do k = 0, nlayers - 1
      do df = 1, ndf_w2
        flux(map_w2(df)+k) = flux(map_w2(df)+k) + 0.1_r_def * flux(map_w2(df)+k) &
            * rho(map_w3(1)+k)
      end do
    end do

  end subroutine accumulate_mass_flux_code

end module accumulate_mass_flux_kernel_mod
