!-----------------------------------------------------------------------------
! Corpus kernel: penalty fluxes.
!-----------------------------------------------------------------------------
!> @brief Interior penalty with outward normals, neighbours and a face quadrature.
module penalty_fluxes_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_INC, GH_READ, &
                           func_type, GH_BASIS, GH_QUADRATURE_FACE, &
                           reference_element_data_type, &
                           outward_normals_to_vertical_faces, &
                           outward_normals_to_horizontal_faces, mesh_data_type, &
                           adjacent_face
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W2, W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: penalty_fluxes_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_INC, W2), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3)  &
      /)
    type(func_type) :: meta_funcs(1) = (/ &
      func_type(W2, GH_BASIS)  &
      /)
    type(reference_element_data_type) :: meta_reference_element(2) = (/ &
      reference_element_data_type(outward_normals_to_vertical_faces), &
      reference_element_data_type(outward_normals_to_horizontal_faces)  &
      /)
    type(mesh_data_type) :: meta_mesh(1) = (/ &
      mesh_data_type(adjacent_face)  &
      /)
    integer :: operates_on = CELL_COLUMN
    integer :: gh_shape = GH_QUADRATURE_FACE
  contains
    procedure, nopass :: penalty_fluxes_code
  end type penalty_fluxes_kernel_type

  public :: penalty_fluxes_code

contains

  !> @brief Interior penalty with outward normals, neighbours and a face quadrature.
  !> @param[in,out] rhs Real field on W2, incremented.
  !> @param[in] p Real field on W3.
  subroutine penalty_fluxes_code(nlayers, &
                                 rhs, &
                                 p, &
                                 ndf_w2, undf_w2, map_w2, basis_w2, &
                                 ndf_w3, undf_w3, map_w3, &
                                 nfaces_re_v, nfaces_re_h, &
                                 outward_normals_to_vertical_faces, &
                                 outward_normals_to_horizontal_faces, &
                                 adjacent_face, &
                                 nfaces_qr, np_xyz, weights_xyz)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_w2, undf_w2, ndf_w3, undf_w3
    integer(kind=i_def), intent(in) :: nfaces_re_v, nfaces_re_h, nfaces_qr, np_xyz
    real(kind=r_def), intent(inout) :: rhs(undf_w2)
    real(kind=r_def), intent(in) :: p(undf_w3)
    integer(kind=i_def), intent(in) :: map_w2(ndf_w2)
    real(kind=r_def), intent(in) :: basis_w2(3, ndf_w2, np_xyz, nfaces_qr)
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)
    real(kind=r_def), intent(in) :: outward_normals_to_vertical_faces(3, nfaces_re_v)
    real(kind=r_def), intent(in) :: outward_normals_to_horizontal_faces(3, nfaces_re_h)
    integer(kind=i_def), intent(in) :: adjacent_face(nfaces_re_h)
    real(kind=r_def), intent(in) :: weights_xyz(np_xyz, nfaces_qr)

    integer(kind=i_def) :: k, face

    do k = 0, nlayers - 1
      do face = 1, nfaces_re_h
        rhs(map_w2(face)+k) = rhs(map_w2(face)+k) + p(map_w3(1)+k) &
            * outward_normals_to_horizontal_faces(1, face) &
          * outward_normals_to_vertical_faces(3, 1) * weights_xyz(1, face) &
            * basis_w2(1, face, 1, face) &
          * real(adjacent_face(face), r_def)
      end do
    end do

  end subroutine penalty_fluxes_code

end module penalty_fluxes_kernel_mod
