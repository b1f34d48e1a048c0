!-----------------------------------------------------------------------------
! Corpus kernel: project flux.
!-----------------------------------------------------------------------------
!> @brief Add a cell quantity to a flux on whichever wind space the flux has.
module project_flux_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_INC, ANY_W2, &
                           GH_READ
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: project_flux_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_INC, ANY_W2), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_W2)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: project_flux_code
  end type project_flux_kernel_type

  public :: project_flux_code

contains

  !> @brief Add a cell quantity to a flux on whichever wind space the flux has.
  !> @param[in,out] flux Real field on ANY_W2, incremented.
  !> @param[in] tracer Real field on W3.
  !> @param[in] wind Real field on ANY_W2.
  subroutine project_flux_code(nlayers, &
                               flux, &
                               tracer, &
                               wind, &
                               ndf_any_w2, undf_any_w2, map_any_w2, &
                               ndf_w3, undf_w3, map_w3)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_any_w2, undf_any_w2, ndf_w3
    integer(kind=i_def), intent(in) :: undf_w3
    real(kind=r_def), intent(inout) :: flux(undf_any_w2)
    real(kind=r_def), intent(in) :: tracer(undf_w3)
    real(kind=r_def), intent(in) :: wind(undf_any_w2)
    integer(kind=i_def), intent(in) :: map_any_w2(ndf_any_w2)
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)

    integer(kind=i_def) :: k, df

    do k = 0, nlayers - 1
      do df = 1, ndf_any_w2
        flux(map_any_w2(df)+k) = flux(map_any_w2(df)+k) + wind(map_any_w2(df)+k) &
            * tracer(map_w3(1)+k)
      end do
    end do

  end subroutine project_flux_code

end module project_flux_kernel_mod
