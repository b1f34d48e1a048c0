!-----------------------------------------------------------------------------
! Corpus kernel: radiation bands.
!-----------------------------------------------------------------------------
!> @brief Sum heating over bands given as an array.
module radiation_bands_kernel_mod

  use argument_mod, only : arg_type, DOMAIN, GH_FIELD, GH_REAL, GH_WRITE, &
                           GH_SCALAR_ARRAY, GH_READ
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: radiation_bands_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(gh_field, gh_real, gh_write, W3), &
      arg_type(gh_scalar_array, gh_real, gh_read, 1)  &
      /)
    integer :: operates_on = DOMAIN
  contains
    procedure, nopass :: code => radiation_bands_code
  end type radiation_bands_kernel_type

  public :: radiation_bands_code

contains

  !> @brief Sum heating over bands given as an array.
  !> @param[in,out] heating Real field on W3, overwritten.
  !> @param[in] bands Real array of scalars.
  subroutine radiation_bands_code(nlayers, ncell_2d_no_halos, &
                                  heating, &
                                  dims_bands, bands, &
                                  ndf_w3, undf_w3, map_w3)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ncell_2d_no_halos, ndf_w3, undf_w3
    real(kind=r_def), intent(inout) :: heating(undf_w3)
    integer(kind=i_def), intent(in) :: dims_bands(1)
    real(kind=r_def), intent(in) :: bands(dims_bands(1))
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3, ncell_2d_no_halos)

    integer(kind=i_def) :: cell

    do cell = 1, ncell_2d_no_halos
      heating(map_w3(1, cell)) = sum(bands)
    end do

  end subroutine radiation_bands_code

end module radiation_bands_kernel_mod
