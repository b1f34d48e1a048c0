!-----------------------------------------------------------------------------
! Corpus kernel: facet flux.
!-----------------------------------------------------------------------------
!> @brief Flux through the vertical facets with a quadrature on each.
module facet_flux_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_INC, GH_READ, &
                           func_type, GH_BASIS, GH_QUADRATURE_FACE
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W2, W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: facet_flux_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_INC, W2), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3)  &
      /)
    type(func_type) :: meta_funcs(2) = (/ &
      func_type(W2, GH_BASIS), &
      func_type(W3, GH_BASIS)  &
      /)
    integer :: operates_on = CELL_COLUMN
    integer :: gh_shape = GH_QUADRATURE_FACE
  contains
    procedure, nopass :: facet_flux_code
  end type facet_flux_kernel_type

  public :: facet_flux_code

contains

  !> @brief Flux through the vertical facets with a quadrature on each.
  !> @param[in,out] flux Real field on W2, incremented.
  !> @param[in] rho Real field on W3.
  subroutine facet_flux_code(nlayers, &
                             flux, &
                             rho, &
                             ndf_w2, undf_w2, map_w2, basis_w2, &
                             ndf_w3, undf_w3, map_w3, basis_w3, &
                             nfaces_qr, np_xyz, weights_xyz)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_w2, undf_w2, ndf_w3, undf_w3
    integer(kind=i_def), intent(in) :: nfaces_qr, np_xyz
    real(kind=r_def), intent(inout) :: flux(undf_w2)
    real(kind=r_def), intent(in) :: rho(undf_w3)
    integer(kind=i_def), intent(in) :: map_w2(ndf_w2)
    real(kind=r_def), intent(in) :: basis_w2(3, ndf_w2, np_xyz, nfaces_qr)
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)
    real(kind=r_def), intent(in) :: basis_w3(1, ndf_w3, np_xyz, nfaces_qr)
    real(kind=r_def), intent(in) :: weights_xyz(np_xyz, nfaces_qr)

    integer(kind=i_def) :: k, p, face

    do k = 0, nlayers - 1
      do face = 1, nfaces_qr
        do p = 1, np_xyz
          flux(map_w2(face)+k) = flux(map_w2(face)+k) + weights_xyz(p, face) &
            * basis_w2(1, face, p, face) * rho(map_w3(1)+k) * basis_w3(1, 1, p, face)
        end do
      end do
    end do

  end subroutine facet_flux_code

end module facet_flux_kernel_mod
