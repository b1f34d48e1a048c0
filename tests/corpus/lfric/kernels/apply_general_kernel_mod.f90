!-----------------------------------------------------------------------------
! Corpus kernel: apply general.
!-----------------------------------------------------------------------------
!> @brief Apply an operator in the precision of the caller.
module apply_general_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_INC, &
                           ANY_SPACE_1, GH_READ, ANY_SPACE_2, GH_OPERATOR
  use constants_mod, only : i_def, r_single, r_double
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: apply_general_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_INC, ANY_SPACE_1), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_SPACE_2), &
      arg_type(GH_OPERATOR, GH_REAL, GH_READ, ANY_SPACE_1, ANY_SPACE_2)  &
      /)
    integer :: operates_on = CELL_COLUMN
  end type apply_general_kernel_type

  public :: apply_general_code

  !> One body per precision; the arguments choose.
  interface apply_general_code
    module procedure &
      apply_general_code_r_single, &
      apply_general_code_r_double
  end interface

contains

  !> @brief Apply an operator in the precision of the caller.
  !> @param[in,out] lhs Real field on ANY_SPACE_1, incremented.
  !> @param[in] x Real field on ANY_SPACE_2.
  !> @param[in] matrix Local operator from ANY_SPACE_2 to ANY_SPACE_1.
  subroutine apply_general_code_r_single(cell, nlayers, &
                                         lhs, &
                                         x, &
                                         matrix_ncell_3d, matrix, &
                                         ndf_s1, undf_s1, map_s1, &
                                         ndf_s2, undf_s2, map_s2)

    implicit none

    integer(kind=i_def), intent(in) :: cell, nlayers, matrix_ncell_3d, ndf_s1, undf_s1
    integer(kind=i_def), intent(in) :: ndf_s2, undf_s2
    real(kind=r_single), intent(inout) :: lhs(undf_s1)
    real(kind=r_single), intent(in) :: x(undf_s2)
    real(kind=r_single), intent(in) :: matrix(matrix_ncell_3d, ndf_s1, ndf_s2)
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

  end subroutine apply_general_code_r_single

  !> @brief Apply an operator in the precision of the caller.
  !> @param[in,out] lhs Real field on ANY_SPACE_1, incremented.
  !> @param[in] x Real field on ANY_SPACE_2.
  !> @param[in] matrix Local operator from ANY_SPACE_2 to ANY_SPACE_1.
  subroutine apply_general_code_r_double(cell, nlayers, &
                                         lhs, &
                                         x, &
                                         matrix_ncell_3d, matrix, &
                                         ndf_s1, undf_s1, map_s1, &
                                         ndf_s2, undf_s2, map_s2)

    implicit none

    integer(kind=i_def), intent(in) :: cell, nlayers, matrix_ncell_3d, ndf_s1, undf_s1
    integer(kind=i_def), intent(in) :: ndf_s2, undf_s2
    real(kind=r_double), intent(inout) :: lhs(undf_s1)
    real(kind=r_double), intent(in) :: x(undf_s2)
    real(kind=r_double), intent(in) :: matrix(matrix_ncell_3d, ndf_s1, ndf_s2)
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

  end subroutine apply_general_code_r_double

end module apply_general_kernel_mod
