!-----------------------------------------------------------------------------
! Corpus kernel: sample node.
!-----------------------------------------------------------------------------
!> @brief Overwrite a nodal field from another nodal field; cells agree on shared nodes.
module sample_node_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_WRITE, &
                           ANY_SPACE_1, GH_READ, GH_SCALAR
  use constants_mod, only : i_def, r_def
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: sample_node_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, ANY_SPACE_1), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_SPACE_1), &
      arg_type(GH_SCALAR, GH_REAL, GH_READ)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: code => sample_node_code
  end type sample_node_kernel_type

  public :: sample_node_code

contains

  !> @brief Overwrite a nodal field from another nodal field; cells agree on shared nodes.
  !> @param[in,out] copy Real field on ANY_SPACE_1, overwritten.
  !> @param[in] origin Real field on ANY_SPACE_1.
  !> @param[in] factor Real scalar.
  subroutine sample_node_code(nlayers, &
                              copy, &
                              origin, &
                              factor, &
                              ndf_s1, undf_s1, map_s1)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_s1, undf_s1
    real(kind=r_def), intent(inout) :: copy(undf_s1)
    real(kind=r_def), intent(in) :: origin(undf_s1)
    real(kind=r_def), intent(in) :: factor
    integer(kind=i_def), intent(in) :: map_s1(ndf_s1)

    integer(kind=i_def) :: k, df

    do k = 0, nlayers - 1
      do df = 1, ndf_s1
        copy(map_s1(df)+k) = factor * origin(map_s1(df)+k)
      end do
    end do

  end subroutine sample_node_code

end module sample_node_kernel_mod
