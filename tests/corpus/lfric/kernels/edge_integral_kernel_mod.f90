!-----------------------------------------------------------------------------
! Corpus kernel: edge integral.
!-----------------------------------------------------------------------------
!> @brief Line integral of a nodal field along the edges.
module edge_integral_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_INC, GH_READ, &
                           func_type, GH_BASIS, GH_DIFF_BASIS, GH_QUADRATURE_EDGE
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W1, W0
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: edge_integral_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(gh_field, gh_real, gh_inc, W1), &
      arg_type(gh_field, gh_real, gh_read, W0)  &
      /)
    type(func_type) :: meta_funcs(2) = (/ &
      func_type(W1, GH_BASIS), &
      func_type(W0, GH_DIFF_BASIS)  &
      /)
    integer :: operates_on = CELL_COLUMN
    integer :: gh_shape = GH_QUADRATURE_EDGE
  contains
    procedure, nopass :: edge_integral_code
  end type edge_integral_kernel_type

  public :: edge_integral_code

contains

  !> @brief Line integral of a nodal field along the edges.
  !> @param[in,out] circulation Real field on W1, incremented.
  !> @param[in] nodal Real field on W0.
  subroutine edge_integral_code(nlayers, &
                                circulation, &
                                nodal, &
                                ndf_w1, undf_w1, map_w1, basis_w1, &
                                ndf_w0, undf_w0, map_w0, diff_basis_w0, &
                                nedges_qr, np_xyz, weights_xyz)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_w1, undf_w1, ndf_w0, undf_w0
    integer(kind=i_def), intent(in) :: nedges_qr, np_xyz
    real(kind=r_def), intent(inout) :: circulation(undf_w1)
    real(kind=r_def), intent(in) :: nodal(undf_w0)
    integer(kind=i_def), intent(in) :: map_w1(ndf_w1)
    real(kind=r_def), intent(in) :: basis_w1(3, ndf_w1, np_xyz, nedges_qr)
    integer(kind=i_def), intent(in) :: map_w0(ndf_w0)
    real(kind=r_def), intent(in) :: diff_basis_w0(3, ndf_w0, np_xyz, nedges_qr)
    real(kind=r_def), intent(in) :: weights_xyz(np_xyz, nedges_qr)

    integer(kind=i_def) :: k, edge

    do k = 0, nlayers - 1
      do edge = 1, nedges_qr
        circulation(map_w1(1)+k) = circulation(map_w1(1)+k) + weights_xyz(1, edge) &
          * basis_w1(1, 1, 1, edge) * diff_basis_w0(1, 1, 1, edge) * nodal(map_w0(1)+k)
      end do
    end do

  end subroutine edge_integral_code

end module edge_integral_kernel_mod
