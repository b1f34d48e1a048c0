!-----------------------------------------------------------------------------
! Corpus kernel: general matvec.
!-----------------------------------------------------------------------------
!> @brief Apply an operator between any two spaces.
module general_matvec_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_INC, &
                           ANY_SPACE_1, GH_READ, ANY_SPACE_2, GH_OPERATOR
  use constants_mod, only : i_def, r_def
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, extends(kernel_type), public :: general_matvec_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_INC, ANY_SPACE_1), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_SPACE_2), &
      arg_type(GH_OPERATOR, GH_REAL, GH_READ, ANY_SPACE_1, ANY_SPACE_2)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: general_matvec_code
  end type general_matvec_kernel_type

  public :: general_matvec_code

contains

  !> @brief Apply an operator between any two spaces.
  !> @param[in,out] lhs Real field on ANY_SPACE_1, incremented.
  !> @param[in] x Real field on ANY_SPACE_2.
  !> @param[in] matrix Local operator from ANY_SPACE_2 to ANY_SPACE_1.
  subroutine general_matvec_code(cell, nlayers, &
                                 lhs, &
                                 x, &
                                 matrix_ncell_3d, matrix, &
                                 ndf_s1, undf_s1, map_s1, &
                                 ndf_s2, undf_s2, map_s2)

    implicit none

    integer(kind=i_def), intent(in) :: cell, nlayers, matrix_ncell_3d, ndf_s1, undf_s1
    integer(kind=i_def), intent(in) :: ndf_s2, undf_s2
    real(kind=r_def), intent(inout) :: lhs(undf_s1)
    real(kind=r_def), intent(in) :: x(undf_s2)
    real(kind=r_def), intent(in) :: matrix(matrix_ncell_3d, ndf_s1, ndf_s2)
    integer(kind=i_def), intent(in) :: map_s1(ndf_s1)
    integer(kind=i_def), intent(in) :: map_s2(ndf_s2)

    integer(kind=i_def) :: k, df, ik

    do k = 0, nlayers - 1
      ik = (cell - 1) * nlayers + k + 1
      do df = 1, ndf_s1
        lhs(map_s1(df)+k) = lhs(map_s1(df)+k) &
            + dot_product(matrix(ik, df, :), x(map_s2(:)+k))
      end do
    end do

  end subroutine general_matvec_code

end module general_matvec_kernel_mod
