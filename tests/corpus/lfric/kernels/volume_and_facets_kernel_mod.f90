!-----------------------------------------------------------------------------
! Corpus kernel: volume and facets.
!-----------------------------------------------------------------------------
!> @brief Integrate over the cell and over its facets.
module volume_and_facets_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_INC, GH_READ, &
                           func_type, GH_BASIS, GH_DIFF_BASIS, GH_QUADRATURE_XYOZ, &
                           GH_QUADRATURE_FACE
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W2, W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: volume_and_facets_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      & arg_type(GH_FIELD, GH_REAL, GH_INC, W2), &
      & arg_type(GH_FIELD, GH_REAL, GH_READ, W3)  &
      & /)
    type(func_type) :: meta_funcs(2) = (/ &
      & func_type(W2, GH_BASIS, GH_DIFF_BASIS), &
      & func_type(W3, GH_BASIS)  &
      & /)
    integer :: operates_on = CELL_COLUMN
    integer :: gh_shape(2) = (/ GH_QUADRATURE_XYOZ, GH_QUADRATURE_FACE /)
  contains
    procedure, nopass :: volume_and_facets_code
  end type volume_and_facets_kernel_type

  public :: volume_and_facets_code

contains

  !> @brief Integrate over the cell and over its facets.
  !> @param[in,out] rhs Real field on W2, incremented.
  !> @param[in] rho Real field on W3.
  subroutine volume_and_facets_code(nlayers, &
                                    rhs, &
                                    rho, &
                                    ndf_w2, undf_w2, map_w2, basis_w2_xyoz, &
                                    basis_w2_face, diff_basis_w2_xyoz, &
                                    diff_basis_w2_face, &
                                    ndf_w3, undf_w3, map_w3, basis_w3_xyoz, &
                                    basis_w3_face, &
                                    np_xy_xyoz, np_z_xyoz, weights_xy_xyoz, &
                                    weights_z_xyoz, &
                                    nfaces_qr, np_xyz_face, weights_xyz_face)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_w2, undf_w2, ndf_w3, undf_w3
    integer(kind=i_def), intent(in) :: np_xy_xyoz, np_z_xyoz, nfaces_qr, np_xyz_face
    real(kind=r_def), intent(inout) :: rhs(undf_w2)
    real(kind=r_def), intent(in) :: rho(undf_w3)
    integer(kind=i_def), intent(in) :: map_w2(ndf_w2)
    real(kind=r_def), intent(in) :: basis_w2_xyoz(3, ndf_w2, np_xy_xyoz, np_z_xyoz)
    real(kind=r_def), intent(in) :: basis_w2_face(3, ndf_w2, np_xyz_face, nfaces_qr)
    real(kind=r_def), intent(in) :: diff_basis_w2_xyoz(1, ndf_w2, np_xy_xyoz, np_z_xyoz)
    real(kind=r_def), intent(in) :: diff_basis_w2_face(1, ndf_w2, np_xyz_face, nfaces_qr)
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)
    real(kind=r_def), intent(in) :: basis_w3_xyoz(1, ndf_w3, np_xy_xyoz, np_z_xyoz)
    real(kind=r_def), intent(in) :: basis_w3_face(1, ndf_w3, np_xyz_face, nfaces_qr)
    real(kind=r_def), intent(in) :: weights_xy_xyoz(np_xy_xyoz)
    real(kind=r_def), intent(in) :: weights_z_xyoz(np_z_xyoz)
    real(kind=r_def), intent(in) :: weights_xyz_face(np_xyz_face, nfaces_qr)

    integer(kind=i_def) :: k

    do k = 0, nlayers - 1
      rhs(map_w2(1)+k) = rhs(map_w2(1)+k) + rho(map_w3(1)+k) * (weights_xy_xyoz(1) &
          * weights_z_xyoz(1) &
        * diff_basis_w2_xyoz(1, 1, 1, 1) + weights_xyz_face(1, 1) &
          * basis_w2_face(1, 1, 1, 1))
    end do

  end subroutine volume_and_facets_code

end module volume_and_facets_kernel_mod
