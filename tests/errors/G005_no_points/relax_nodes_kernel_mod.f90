!-----------------------------------------------------------------------------
! Corpus kernel: relax nodes.
!-----------------------------------------------------------------------------
!> @brief Relax a field on any space towards another, reading what it increments.
module relax_nodes_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_READINC, &
                           ANY_SPACE_3, GH_READ, GH_SCALAR
  use constants_mod, only : i_def, r_def
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: relax_nodes_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_READINC, ANY_SPACE_3), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_SPACE_3), &
      arg_type(GH_SCALAR, GH_REAL, GH_READ)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: relax_nodes_code
  end type relax_nodes_kernel_type

  public :: relax_nodes_code

contains

  !> @brief Relax a field on any space towards another, reading what it increments.
  !> @param[in,out] x Real field on ANY_SPACE_3, read and incremented.
  !> @param[in] goal Real field on ANY_SPACE_3.
  !> @param[in] rate Real scalar.
  subroutine relax_nodes_code(nlayers, &
                              x, &
                              goal, &
                              rate, &
                              ndf_s3, undf_s3, map_s3)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_s3, undf_s3
    real(kind=r_def), intent(inout) :: x(undf_s3)
    real(kind=r_def), intent(in) :: goal(undf_s3)
    real(kind=r_def), intent(in) :: rate
    integer(kind=i_def), intent(in) :: map_s3(ndf_s3)

    integer(kind=i_def) :: k, df

    do k = 0, nlayers - 1
      do df = 1, ndf_s3
        x(map_s3(df)+k) = x(map_s3(df)+k) + rate * (goal(map_s3(df)+k) - x(map_s3(df)+k))
      end do
    end do

  end subroutine relax_nodes_code

end module relax_nodes_kernel_mod
