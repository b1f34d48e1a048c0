!-----------------------------------------------------------------------------
! Corpus kernel: surface flux bulk.
!-----------------------------------------------------------------------------
!> @brief Bulk formula for the surface flux from single-level fields.
module surface_flux_bulk_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_WRITE, &
                           ANY_DISCONTINUOUS_SPACE_1, GH_READ, &
                           ANY_DISCONTINUOUS_SPACE_2, ANY_DISCONTINUOUS_SPACE_3, &
                           GH_SCALAR
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : Wtheta
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, extends(kernel_type), public :: surface_flux_bulk_kernel_type
    private
    type(arg_type) :: meta_args(5) = (/ &
      arg_type(gh_field, gh_real, gh_write, ANY_DISCONTINUOUS_SPACE_1), &
      arg_type(gh_field, gh_real, gh_read, ANY_DISCONTINUOUS_SPACE_2), &
      arg_type(gh_field, gh_real, gh_read, Wtheta), &
      arg_type(gh_field, gh_real, gh_read, ANY_DISCONTINUOUS_SPACE_3), &
      arg_type(gh_scalar, gh_real, gh_read)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: surface_flux_bulk_code
  end type surface_flux_bulk_kernel_type

  public :: surface_flux_bulk_code

contains

  !> @brief Bulk formula for the surface flux from single-level fields.
  !> @param[in,out] flux Real field on ANY_DISCONTINUOUS_SPACE_1, overwritten.
  !> @param[in] speed Real field on ANY_DISCONTINUOUS_SPACE_2.
  !> @param[in] t_air Real field on Wtheta.
  !> @param[in] t_surface Real field on ANY_DISCONTINUOUS_SPACE_3.
  !> @param[in] exchange Real scalar.
  subroutine surface_flux_bulk_code(nlayers, &
                                    flux, &
                                    speed, &
                                    t_air, &
                                    t_surface, &
                                    exchange, &
                                    ndf_d1, undf_d1, map_d1, &
                                    ndf_d2, undf_d2, map_d2, &
                                    ndf_wtheta, undf_wtheta, map_wtheta, &
                                    ndf_d3, undf_d3, map_d3)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_d1, undf_d1, ndf_d2, undf_d2
    integer(kind=i_def), intent(in) :: ndf_wtheta, undf_wtheta, ndf_d3, undf_d3
    real(kind=r_def), intent(inout) :: flux(undf_d1)
    real(kind=r_def), intent(in) :: speed(undf_d2)
    real(kind=r_def), intent(in) :: t_air(undf_wtheta)
    real(kind=r_def), intent(in) :: t_surface(undf_d3)
    real(kind=r_def), intent(in) :: exchange
    integer(kind=i_def), intent(in) :: map_d1(ndf_d1)
    integer(kind=i_def), intent(in) :: map_d2(ndf_d2)
    integer(kind=i_def), intent(in) :: map_wtheta(ndf_wtheta)
    integer(kind=i_def), intent(in) :: map_d3(ndf_d3)


    flux(map_d1(1)) = exchange * speed(map_d2(1)) * (t_surface(map_d3(1)) &
        - t_air(map_wtheta(1)))

  end subroutine surface_flux_bulk_code

end module surface_flux_bulk_kernel_mod
