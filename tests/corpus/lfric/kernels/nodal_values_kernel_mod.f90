!-----------------------------------------------------------------------------
! Corpus kernel: nodal values.
!-----------------------------------------------------------------------------
!> @brief Evaluate a wind at the nodes of what is written.
module nodal_values_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_INC, GH_READ, &
                           func_type, GH_BASIS, GH_EVALUATOR
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W0, W2
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: nodal_values_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(gh_field, gh_real, gh_inc, W0), &
      arg_type(gh_field, gh_real, gh_read, W2)  &
      /)
    type(func_type) :: meta_funcs(1) = (/ &
      func_type(W2, GH_BASIS)  &
      /)
    integer :: operates_on = CELL_COLUMN
    integer :: gh_shape = GH_EVALUATOR
  contains
    procedure, nopass :: nodal_values_code
  end type nodal_values_kernel_type

  public :: nodal_values_code

contains

  !> @brief Evaluate a wind at the nodes of what is written.
  !> @param[in,out] nodal Real field on W0, incremented.
  !> @param[in] u Real field on W2.
  subroutine nodal_values_code(nlayers, &
                               nodal, &
                               u, &
                               ndf_w0, undf_w0, map_w0, &
                               ndf_w2, undf_w2, map_w2, basis_w2_on_w0)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_w0, undf_w0, ndf_w2, undf_w2
    real(kind=r_def), intent(inout) :: nodal(undf_w0)
    real(kind=r_def), intent(in) :: u(undf_w2)
    integer(kind=i_def), intent(in) :: map_w0(ndf_w0)
    integer(kind=i_def), intent(in) :: map_w2(ndf_w2)
    real(kind=r_def), intent(in) :: basis_w2_on_w0(3, ndf_w2, ndf_w0)

    integer(kind=i_def) :: k, df

    do k = 0, nlayers - 1
      do df = 1, ndf_w0
        nodal(map_w0(df)+k) = nodal(map_w0(df)+k) + sum(basis_w2_on_w0(1, :, df) &
            * u(map_w2(:)+k))
      end do
    end do

  end subroutine nodal_values_code

end module nodal_values_kernel_mod
