!-----------------------------------------------------------------------------
! Corpus kernel: assemble column square.
!-----------------------------------------------------------------------------
!> @brief Assemble a square column matrix with a field and a scalar.
module assemble_column_square_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_READ, &
                           ANY_DISCONTINUOUS_SPACE_1, GH_COLUMNWISE_OPERATOR, &
                           GH_READWRITE, GH_OPERATOR, GH_SCALAR
  use constants_mod, only : i_def, r_def, r_solver
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, extends(kernel_type), public :: assemble_column_square_kernel_type
    private
    type(arg_type) :: meta_args(4) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_DISCONTINUOUS_SPACE_1), &
      arg_type(GH_COLUMNWISE_OPERATOR, GH_REAL, GH_READWRITE, &
               ANY_DISCONTINUOUS_SPACE_1, ANY_DISCONTINUOUS_SPACE_1), &
      arg_type(GH_OPERATOR, GH_REAL, GH_READ, &
               ANY_DISCONTINUOUS_SPACE_1, ANY_DISCONTINUOUS_SPACE_1), &
      arg_type(GH_SCALAR, GH_REAL, GH_READ)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: code => assemble_column_square_code
  end type assemble_column_square_kernel_type

  public :: assemble_column_square_code

contains

  !> @brief Assemble a square column matrix with a field and a scalar.
  !> @param[in] rho Real field on ANY_DISCONTINUOUS_SPACE_1.
  !> @param[in,out] column_op Column-wise operator on ANY_DISCONTINUOUS_SPACE_1, updated.
  !> @param[in] local Local operator on ANY_DISCONTINUOUS_SPACE_1.
  !> @param[in] sign Real scalar.
  subroutine assemble_column_square_code(cell, nlayers, ncell_2d, &
                                         rho, &
                                         column_op, column_op_nrow, &
                                         column_op_bandwidth, column_op_alpha, &
                                         column_op_beta, column_op_gamma_m, &
                                         column_op_gamma_p, &
                                         local_ncell_3d, local, &
                                         sign, &
                                         ndf_d1, undf_d1, map_d1, banded_map_d1)

    implicit none

    integer(kind=i_def), intent(in) :: cell, nlayers, ncell_2d, column_op_nrow
    integer(kind=i_def), intent(in) :: column_op_bandwidth, column_op_alpha
    integer(kind=i_def), intent(in) :: column_op_beta, column_op_gamma_m
    integer(kind=i_def), intent(in) :: column_op_gamma_p, local_ncell_3d, ndf_d1
    integer(kind=i_def), intent(in) :: undf_d1
    real(kind=r_def), intent(in) :: rho(undf_d1)
    real(kind=r_solver), intent(inout) :: column_op(column_op_bandwidth, column_op_nrow, ncell_2d)
    real(kind=r_def), intent(in) :: local(local_ncell_3d, ndf_d1, ndf_d1)
    real(kind=r_def), intent(in) :: sign
    integer(kind=i_def), intent(in) :: map_d1(ndf_d1)
    integer(kind=i_def), intent(in) :: banded_map_d1(ndf_d1, nlayers)

    integer(kind=i_def) :: k, row, ik

    do k = 0, nlayers - 1
      ik = (cell - 1) * nlayers + k + 1
      row = banded_map_d1(1, k+1)
      column_op(1, row, cell) = real(sign * rho(map_d1(1)+k) * local(ik, 1, 1), r_solver)
    end do

  end subroutine assemble_column_square_code

end module assemble_column_square_kernel_mod
