!-----------------------------------------------------------------------------
! Corpus kernel: general basis.
!-----------------------------------------------------------------------------
!> @brief Basis of spaces that the caller chooses.
module general_basis_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_INC, &
                           ANY_SPACE_1, GH_READ, ANY_DISCONTINUOUS_SPACE_1, ANY_W2, &
                           func_type, GH_BASIS, GH_DIFF_BASIS, GH_QUADRATURE_XYOZ
  use constants_mod, only : i_def, r_def
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: general_basis_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_INC, ANY_SPACE_1), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_DISCONTINUOUS_SPACE_1), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_W2)  &
      /)
    type(func_type) :: meta_funcs(3) = (/ &
      func_type(ANY_SPACE_1, GH_BASIS, GH_DIFF_BASIS), &
      func_type(ANY_DISCONTINUOUS_SPACE_1, GH_BASIS), &
      func_type(ANY_W2, GH_BASIS)  &
      /)
    integer :: operates_on = CELL_COLUMN
    integer :: gh_shape = GH_QUADRATURE_XYOZ
  contains
    procedure, nopass :: general_basis_code
  end type general_basis_kernel_type

  public :: general_basis_code

contains

  !> @brief Basis of spaces that the caller chooses.
  !> @param[in,out] out Real field on ANY_SPACE_1, incremented.
  !> @param[in] in1 Real field on ANY_DISCONTINUOUS_SPACE_1.
  !> @param[in] in2 Real field on ANY_W2.
  subroutine general_basis_code(nlayers, &
                                out, &
                                in1, &
                                in2, &
                                ndf_s1, undf_s1, map_s1, basis_s1, diff_basis_s1, &
                                ndf_d1, undf_d1, map_d1, basis_d1, &
                                ndf_any_w2, undf_any_w2, map_any_w2, basis_any_w2, &
                                np_xy, np_z, weights_xy, weights_z)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_s1, undf_s1, ndf_d1, undf_d1
    integer(kind=i_def), intent(in) :: ndf_any_w2, undf_any_w2, np_xy, np_z
    real(kind=r_def), intent(inout) :: out(undf_s1)
    real(kind=r_def), intent(in) :: in1(undf_d1)
    real(kind=r_def), intent(in) :: in2(undf_any_w2)
    integer(kind=i_def), intent(in) :: map_s1(ndf_s1)
    real(kind=r_def), intent(in) :: basis_s1(3, ndf_s1, np_xy, np_z)
    real(kind=r_def), intent(in) :: diff_basis_s1(3, ndf_s1, np_xy, np_z)
    integer(kind=i_def), intent(in) :: map_d1(ndf_d1)
    real(kind=r_def), intent(in) :: basis_d1(3, ndf_d1, np_xy, np_z)
    integer(kind=i_def), intent(in) :: map_any_w2(ndf_any_w2)
    real(kind=r_def), intent(in) :: basis_any_w2(3, ndf_any_w2, np_xy, np_z)
    real(kind=r_def), intent(in) :: weights_xy(np_xy)
    real(kind=r_def), intent(in) :: weights_z(np_z)

    integer(kind=i_def) :: k

    do k = 0, nlayers - 1
      out(map_s1(1)+k) = out(map_s1(1)+k) + in1(map_d1(1)+k) * basis_d1(1, 1, 1, 1) &
        + in2(map_any_w2(1)+k) * basis_any_w2(1, 1, 1, 1) * diff_basis_s1(1, 1, 1, 1)
    end do

  end subroutine general_basis_code

end module general_basis_kernel_mod
