!-----------------------------------------------------------------------------
! Corpus kernel: halo quadrature.
!-----------------------------------------------------------------------------
!> @brief Basis functions in the halo: quadrature first, then the depth.
module halo_quadrature_kernel_mod

  use argument_mod, only : arg_type, OWNED_AND_HALO_CELL_COLUMN, GH_FIELD, GH_REAL, &
                           GH_READWRITE, GH_READ, func_type, GH_BASIS, &
                           GH_QUADRATURE_XYOZ
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W3, W2
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: halo_quadrature_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_READWRITE, W3), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W2)  &
      /)
    type(func_type) :: meta_funcs(1) = (/ &
      func_type(W2, GH_BASIS)  &
      /)
    integer :: operates_on = OWNED_AND_HALO_CELL_COLUMN
    integer :: gh_shape = GH_QUADRATURE_XYOZ
  contains
    procedure, nopass :: halo_quadrature_code
  end type halo_quadrature_kernel_type

  public :: halo_quadrature_code

contains

  !> @brief Basis functions in the halo: quadrature first, then the depth.
  !> @param[in,out] x Real field on W3, updated.
  !> @param[in] u Real field on W2.
  subroutine halo_quadrature_code(nlayers, &
                                  x, &
                                  u, &
                                  ndf_w3, undf_w3, map_w3, &
                                  ndf_w2, undf_w2, map_w2, basis_w2, &
                                  np_xy, np_z, weights_xy, weights_z)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_w3, undf_w3, ndf_w2, undf_w2
    integer(kind=i_def), intent(in) :: np_xy, np_z
    real(kind=r_def), intent(inout) :: x(undf_w3)
    real(kind=r_def), intent(in) :: u(undf_w2)
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)
    integer(kind=i_def), intent(in) :: map_w2(ndf_w2)
    real(kind=r_def), intent(in) :: basis_w2(3, ndf_w2, np_xy, np_z)
    real(kind=r_def), intent(in) :: weights_xy(np_xy)
    real(kind=r_def), intent(in) :: weights_z(np_z)

    integer(kind=i_def) :: k

    do k = 0, nlayers - 1
      x(map_w3(1)+k) = u(map_w2(1)+k) * basis_w2(1, 1, 1, 1) * weights_xy(1) &
          * weights_z(1)
    end do

  end subroutine halo_quadrature_code

end module halo_quadrature_kernel_mod
