!-----------------------------------------------------------------------------
! Corpus kernel: wide tracer flux.
!-----------------------------------------------------------------------------
!> @brief Tracer flux on owned columns and in the halo, with a stencil.
module wide_tracer_flux_kernel_mod

  use argument_mod, only : arg_type, OWNED_AND_HALO_CELL_COLUMN, GH_FIELD, GH_REAL, &
                           GH_WRITE, GH_READ, STENCIL, CROSS
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W3, W2
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: wide_tracer_flux_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, W3), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3, STENCIL(CROSS)), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W2)  &
      /)
    integer :: operates_on = OWNED_AND_HALO_CELL_COLUMN
  contains
    procedure, nopass :: wide_tracer_flux_code
  end type wide_tracer_flux_kernel_type

  public :: wide_tracer_flux_code

contains

  !> @brief Tracer flux on owned columns and in the halo, with a stencil.
  !> @param[in,out] flux Real field on W3, overwritten.
  !> @param[in] tracer Real field on W3, read through a stencil (cross).
  !> @param[in] wind Real field on W2.
  subroutine wide_tracer_flux_code(nlayers, &
                                   flux, &
                                   tracer, tracer_size, tracer_stencil, &
                                   wind, &
                                   ndf_w3, undf_w3, map_w3, &
                                   ndf_w2, undf_w2, map_w2)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, tracer_size, ndf_w3, undf_w3, ndf_w2
    integer(kind=i_def), intent(in) :: undf_w2
    real(kind=r_def), intent(inout) :: flux(undf_w3)
    real(kind=r_def), intent(in) :: tracer(undf_w3)
    integer(kind=i_def), intent(in) :: tracer_stencil(ndf_w3, tracer_size)
    real(kind=r_def), intent(in) :: wind(undf_w2)
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)
    integer(kind=i_def), intent(in) :: map_w2(ndf_w2)

    integer(kind=i_def) :: k

    do k = 0, nlayers - 1
      flux(map_w3(1)+k) = tracer(tracer_stencil(1, tracer_size)+k) * wind(map_w2(1)+k)
    end do

  end subroutine wide_tracer_flux_code

end module wide_tracer_flux_kernel_mod
