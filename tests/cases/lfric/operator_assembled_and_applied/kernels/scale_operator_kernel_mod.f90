!-----------------------------------------------------------------------------
! Corpus kernel: scale operator.
!-----------------------------------------------------------------------------
!> @brief Scale an operator in place.
module scale_operator_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_OPERATOR, GH_REAL, GH_READWRITE, &
                           ANY_SPACE_1, ANY_SPACE_2, GH_SCALAR, GH_READ
  use constants_mod, only : i_def, r_def
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: scale_operator_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      ARG_TYPE(GH_OPERATOR, GH_REAL, GH_READWRITE, ANY_SPACE_1, ANY_SPACE_2), &
      ARG_TYPE(GH_SCALAR, GH_REAL, GH_READ)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: scale_operator_code
  end type scale_operator_kernel_type

  public :: scale_operator_code

contains

  !> @brief Scale an operator in place.
  !> @param[in,out] matrix Local operator from ANY_SPACE_2 to ANY_SPACE_1, updated.
  !> @param[in] factor Real scalar.
  subroutine scale_operator_code(cell, nlayers, &
                                 matrix_ncell_3d, matrix, &
                                 factor, &
                                 ndf_s1, &
                                 ndf_s2)

    implicit none

    integer(kind=i_def), intent(in) :: cell, nlayers, matrix_ncell_3d, ndf_s1, ndf_s2
    real(kind=r_def), intent(inout) :: matrix(matrix_ncell_3d, ndf_s1, ndf_s2)
    real(kind=r_def), intent(in) :: factor

    integer(kind=i_def) :: k, ik

    do k = 0, nlayers - 1
      ik = (cell - 1) * nlayers + k + 1
      matrix(ik, :, :) = factor * matrix(ik, :, :)
    end do

  end subroutine scale_operator_code

end module scale_operator_kernel_mod
