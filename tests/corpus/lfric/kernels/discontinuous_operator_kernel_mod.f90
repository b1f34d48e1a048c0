!-----------------------------------------------------------------------------
! Corpus kernel: discontinuous operator.
!-----------------------------------------------------------------------------
!> @brief Apply an operator on spaces that no cells share.
module discontinuous_operator_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_WRITE, &
                           ANY_DISCONTINUOUS_SPACE_1, GH_READ, &
                           ANY_DISCONTINUOUS_SPACE_2, GH_OPERATOR
  use constants_mod, only : i_def, r_def
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: discontinuous_operator_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, ANY_DISCONTINUOUS_SPACE_1), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_DISCONTINUOUS_SPACE_2), &
      arg_type(GH_OPERATOR, GH_REAL, GH_READ, &
               ANY_DISCONTINUOUS_SPACE_1, ANY_DISCONTINUOUS_SPACE_2)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: discontinuous_operator_code
  end type discontinuous_operator_kernel_type

  public :: discontinuous_operator_code

contains

  !> @brief Apply an operator on spaces that no cells share.
  !> @param[in,out] y Real field on ANY_DISCONTINUOUS_SPACE_1, overwritten.
  !> @param[in] x Real field on ANY_DISCONTINUOUS_SPACE_2.
  !> @param[in] matrix Local operator from ANY_DISCONTINUOUS_SPACE_2 to ANY_DISCONTINUOUS_SPACE_1.
  subroutine discontinuous_operator_code(cell, nlayers, &
                                         y, &
                                         x, &
                                         matrix_ncell_3d, matrix, &
                                         ndf_d1, undf_d1, map_d1, &
                                         ndf_d2, undf_d2, map_d2)

    implicit none

    integer(kind=i_def), intent(in) :: cell, nlayers, matrix_ncell_3d, ndf_d1, undf_d1
    integer(kind=i_def), intent(in) :: ndf_d2, undf_d2
    real(kind=r_def), intent(inout) :: y(undf_d1)
    real(kind=r_def), intent(in) :: x(undf_d2)
    real(kind=r_def), intent(in) :: matrix(matrix_ncell_3d, ndf_d1, ndf_d2)
    integer(kind=i_def), intent(in) :: map_d1(ndf_d1)
    integer(kind=i_def), intent(in) :: map_d2(ndf_d2)

    integer(kind=i_def) :: k, ik

    do k = 0, nlayers - 1
      ik = (cell - 1) * nlayers + k + 1
      y(map_d1(1)+k) = matrix(ik, 1, 1) * x(map_d2(1)+k)
    end do

  end subroutine discontinuous_operator_code

end module discontinuous_operator_kernel_mod
