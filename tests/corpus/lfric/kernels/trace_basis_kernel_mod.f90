!-----------------------------------------------------------------------------
! Corpus kernel: trace basis.
!-----------------------------------------------------------------------------
!> @brief Basis functions on the trace spaces.
module trace_basis_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_INC, GH_READ, &
                           func_type, GH_BASIS, GH_DIFF_BASIS, GH_QUADRATURE_XYOZ
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W2trace, W2Htrace, W2Vtrace, W2broken, W2h, W2v
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: trace_basis_kernel_type
    private
    type(arg_type) :: meta_args(6) = (/ &
      arg_type(gh_field, gh_real, gh_inc, W2trace), &
      arg_type(gh_field, gh_real, gh_read, W2Htrace), &
      arg_type(gh_field, gh_real, gh_read, W2Vtrace), &
      arg_type(gh_field, gh_real, gh_read, W2broken), &
      arg_type(gh_field, gh_real, gh_read, W2h), &
      arg_type(gh_field, gh_real, gh_read, W2v)  &
      /)
    type(func_type) :: meta_funcs(6) = (/ &
      func_type(W2trace, GH_BASIS), &
      func_type(W2Htrace, GH_BASIS, GH_DIFF_BASIS), &
      func_type(W2Vtrace, GH_BASIS), &
      func_type(W2broken, GH_BASIS, GH_DIFF_BASIS), &
      func_type(W2h, GH_BASIS), &
      func_type(W2v, GH_DIFF_BASIS)  &
      /)
    integer :: operates_on = CELL_COLUMN
    integer :: gh_shape = GH_QUADRATURE_XYOZ
  contains
    procedure, nopass :: trace_basis_code
  end type trace_basis_kernel_type

  public :: trace_basis_code

contains

  !> @brief Basis functions on the trace spaces.
  !> @param[in,out] facet Real field on W2trace, incremented.
  !> @param[in] side Real field on W2Htrace.
  !> @param[in] lid Real field on W2Vtrace.
  !> @param[in] broken Real field on W2broken.
  !> @param[in] wh Real field on W2h.
  !> @param[in] wv Real field on W2v.
  subroutine trace_basis_code(nlayers, &
                              facet, &
                              side, &
                              lid, &
                              broken, &
                              wh, &
                              wv, &
                              ndf_w2trace, undf_w2trace, map_w2trace, basis_w2trace, &
                              ndf_w2htrace, undf_w2htrace, map_w2htrace, &
                              basis_w2htrace, diff_basis_w2htrace, &
                              ndf_w2vtrace, undf_w2vtrace, map_w2vtrace, &
                              basis_w2vtrace, &
                              ndf_w2broken, undf_w2broken, map_w2broken, &
                              basis_w2broken, diff_basis_w2broken, &
                              ndf_w2h, undf_w2h, map_w2h, basis_w2h, &
                              ndf_w2v, undf_w2v, map_w2v, diff_basis_w2v, &
                              np_xy, np_z, weights_xy, weights_z)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_w2trace, undf_w2trace
    integer(kind=i_def), intent(in) :: ndf_w2htrace, undf_w2htrace, ndf_w2vtrace
    integer(kind=i_def), intent(in) :: undf_w2vtrace, ndf_w2broken, undf_w2broken
    integer(kind=i_def), intent(in) :: ndf_w2h, undf_w2h, ndf_w2v, undf_w2v, np_xy
    integer(kind=i_def), intent(in) :: np_z
    real(kind=r_def), intent(inout) :: facet(undf_w2trace)
    real(kind=r_def), intent(in) :: side(undf_w2htrace)
    real(kind=r_def), intent(in) :: lid(undf_w2vtrace)
    real(kind=r_def), intent(in) :: broken(undf_w2broken)
    real(kind=r_def), intent(in) :: wh(undf_w2h)
    real(kind=r_def), intent(in) :: wv(undf_w2v)
    integer(kind=i_def), intent(in) :: map_w2trace(ndf_w2trace)
    real(kind=r_def), intent(in) :: basis_w2trace(1, ndf_w2trace, np_xy, np_z)
    integer(kind=i_def), intent(in) :: map_w2htrace(ndf_w2htrace)
    real(kind=r_def), intent(in) :: basis_w2htrace(1, ndf_w2htrace, np_xy, np_z)
    real(kind=r_def), intent(in) :: diff_basis_w2htrace(3, ndf_w2htrace, np_xy, np_z)
    integer(kind=i_def), intent(in) :: map_w2vtrace(ndf_w2vtrace)
    real(kind=r_def), intent(in) :: basis_w2vtrace(1, ndf_w2vtrace, np_xy, np_z)
    integer(kind=i_def), intent(in) :: map_w2broken(ndf_w2broken)
    real(kind=r_def), intent(in) :: basis_w2broken(3, ndf_w2broken, np_xy, np_z)
    real(kind=r_def), intent(in) :: diff_basis_w2broken(1, ndf_w2broken, np_xy, np_z)
    integer(kind=i_def), intent(in) :: map_w2h(ndf_w2h)
    real(kind=r_def), intent(in) :: basis_w2h(3, ndf_w2h, np_xy, np_z)
    integer(kind=i_def), intent(in) :: map_w2v(ndf_w2v)
    real(kind=r_def), intent(in) :: diff_basis_w2v(1, ndf_w2v, np_xy, np_z)
    real(kind=r_def), intent(in) :: weights_xy(np_xy)
    real(kind=r_def), intent(in) :: weights_z(np_z)

    integer(kind=i_def) :: k

    do k = 0, nlayers - 1
      facet(map_w2trace(1)+k) = facet(map_w2trace(1)+k) + side(map_w2htrace(1)+k) &
          * basis_w2trace(1, 1, 1, 1) &
        + lid(map_w2vtrace(1)+k) * basis_w2vtrace(1, 1, 1, 1) &
          + broken(map_w2broken(1)+k) &
        + wh(map_w2h(1)+k) * basis_w2h(1, 1, 1, 1) + wv(map_w2v(1)+k) &
          * diff_basis_w2v(1, 1, 1, 1)
    end do

  end subroutine trace_basis_code

end module trace_basis_kernel_mod
