!-----------------------------------------------------------------------------
! Corpus kernel: faces then edges.
!-----------------------------------------------------------------------------
!> @brief Face quadrature first, then edges, on a discontinuous target.
module faces_then_edges_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_READWRITE, &
                           ANY_DISCONTINUOUS_SPACE_1, GH_READ, func_type, GH_BASIS, &
                           GH_DIFF_BASIS, GH_QUADRATURE_FACE, GH_QUADRATURE_EDGE
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W1
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, extends(kernel_type), public :: faces_then_edges_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_READWRITE, ANY_DISCONTINUOUS_SPACE_1), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W1)  &
      /)
    type(func_type) :: meta_funcs(2) = (/ &
      func_type(W1, GH_BASIS, GH_DIFF_BASIS), &
      func_type(ANY_DISCONTINUOUS_SPACE_1, GH_DIFF_BASIS)  &
      /)
    integer :: operates_on = CELL_COLUMN
    integer :: gh_shape(2) = (/ GH_QUADRATURE_FACE, GH_QUADRATURE_EDGE /)
  contains
    procedure, nopass :: faces_then_edges_code
  end type faces_then_edges_kernel_type

  public :: faces_then_edges_code

contains

  !> @brief Face quadrature first, then edges, on a discontinuous target.
  !> @param[in,out] out Real field on ANY_DISCONTINUOUS_SPACE_1, updated.
  !> @param[in] xi Real field on W1.
  subroutine faces_then_edges_code(nlayers, &
                                   out, &
                                   xi, &
                                   ndf_d1, undf_d1, map_d1, diff_basis_d1_face, &
                                   diff_basis_d1_edge, &
                                   ndf_w1, undf_w1, map_w1, basis_w1_face, &
                                   basis_w1_edge, diff_basis_w1_face, &
                                   diff_basis_w1_edge, &
                                   nfaces_qr, np_xyz_face, weights_xyz_face, &
                                   nedges_qr, np_xyz_edge, weights_xyz_edge)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_d1, undf_d1, ndf_w1, undf_w1
    integer(kind=i_def), intent(in) :: nfaces_qr, np_xyz_face, nedges_qr, np_xyz_edge
    real(kind=r_def), intent(inout) :: out(undf_d1)
    real(kind=r_def), intent(in) :: xi(undf_w1)
    integer(kind=i_def), intent(in) :: map_d1(ndf_d1)
    real(kind=r_def), intent(in) :: diff_basis_d1_face(3, ndf_d1, np_xyz_face, nfaces_qr)
    real(kind=r_def), intent(in) :: diff_basis_d1_edge(3, ndf_d1, np_xyz_edge, nedges_qr)
    integer(kind=i_def), intent(in) :: map_w1(ndf_w1)
    real(kind=r_def), intent(in) :: basis_w1_face(3, ndf_w1, np_xyz_face, nfaces_qr)
    real(kind=r_def), intent(in) :: basis_w1_edge(3, ndf_w1, np_xyz_edge, nedges_qr)
    real(kind=r_def), intent(in) :: diff_basis_w1_face(3, ndf_w1, np_xyz_face, nfaces_qr)
    real(kind=r_def), intent(in) :: diff_basis_w1_edge(3, ndf_w1, np_xyz_edge, nedges_qr)
    real(kind=r_def), intent(in) :: weights_xyz_face(np_xyz_face, nfaces_qr)
    real(kind=r_def), intent(in) :: weights_xyz_edge(np_xyz_edge, nedges_qr)


    out(map_d1(1)) = out(map_d1(1)) + xi(map_w1(1)) * (weights_xyz_face(1, 1) &
        * basis_w1_face(1, 1, 1, 1) &
      + weights_xyz_edge(1, 1) * basis_w1_edge(1, 1, 1, 1) &
        + diff_basis_d1_face(1, 1, 1, 1))

  end subroutine faces_then_edges_code

end module faces_then_edges_kernel_mod
