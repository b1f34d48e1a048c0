!-----------------------------------------------------------------------------
! Corpus kernel: enforce operator bc.
!-----------------------------------------------------------------------------
!> @brief Set the boundary rows of an operator to zero.
module enforce_operator_bc_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_OPERATOR, GH_REAL, GH_READWRITE, &
                           ANY_SPACE_1, ANY_SPACE_2
  use constants_mod, only : i_def, r_def
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, extends(kernel_type), public :: enforce_operator_bc_kernel_type
    private
    type(arg_type) :: meta_args(1) = (/ &
      arg_type(gh_operator, gh_real, gh_readwrite, ANY_SPACE_1, ANY_SPACE_2)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: enforce_operator_bc_code
  end type enforce_operator_bc_kernel_type

  public :: enforce_operator_bc_code

contains

  !> @brief Set the boundary rows of an operator to zero.
  !> @param[in,out] matrix Local operator from ANY_SPACE_2 to ANY_SPACE_1, updated.
  subroutine enforce_operator_bc_code(cell, nlayers, &
                                      matrix_ncell_3d, matrix, &
                                      ndf_s1, &
                                      ndf_s2, &
                                      boundary_dofs)

    implicit none

    integer(kind=i_def), intent(in) :: cell, nlayers, matrix_ncell_3d, ndf_s1, ndf_s2
    real(kind=r_def), intent(inout) :: matrix(matrix_ncell_3d, ndf_s1, ndf_s2)
    integer(kind=i_def), intent(in) :: boundary_dofs(ndf_s1, 2)

    integer(kind=i_def) :: df, ik

    do df = 1, ndf_s1
      ik = (cell - 1) * nlayers + 1
      matrix(ik, df, :) = matrix(ik, df, :) * real(boundary_dofs(df, 1), r_def)
    end do

  end subroutine enforce_operator_bc_code

end module enforce_operator_bc_kernel_mod
