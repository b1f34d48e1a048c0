!-----------------------------------------------------------------------------
! Corpus kernel: write and inc.
!-----------------------------------------------------------------------------
!> @brief Overwrite one continuous field and increment another.
module write_and_inc_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_WRITE, GH_INC, &
                           GH_READ
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W2, W0, W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: write_and_inc_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      ARG_TYPE(GH_FIELD, GH_REAL, GH_WRITE, W2), &
      ARG_TYPE(GH_FIELD, GH_REAL, GH_INC, W0), &
      ARG_TYPE(GH_FIELD, GH_REAL, GH_READ, W3)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: write_and_inc_code
  end type write_and_inc_kernel_type

  public :: write_and_inc_code

contains

  !> @brief Overwrite one continuous field and increment another.
  !> @param[in,out] u Real field on W2, overwritten.
  !> @param[in,out] p_node Real field on W0, incremented.
  !> @param[in] rho Real field on W3.
  subroutine write_and_inc_code(nlayers, &
                                u, &
                                p_node, &
                                rho, &
                                ndf_w2, undf_w2, map_w2, &
                                ndf_w0, undf_w0, map_w0, &
                                ndf_w3, undf_w3, map_w3)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_w2, undf_w2, ndf_w0, undf_w0
    integer(kind=i_def), intent(in) :: ndf_w3, undf_w3
    real(kind=r_def), intent(inout) :: u(undf_w2)
    real(kind=r_def), intent(inout) :: p_node(undf_w0)
    real(kind=r_def), intent(in) :: rho(undf_w3)
    integer(kind=i_def), intent(in) :: map_w2(ndf_w2)
    integer(kind=i_def), intent(in) :: map_w0(ndf_w0)
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)

    integer(kind=i_def) :: k

    do k = 0, nlayers - 1
      u(map_w2(:)+k) = 1.0_r_def
      p_node(map_w0(:)+k) = p_node(map_w0(:)+k) + rho(map_w3(1)+k)
    end do

  end subroutine write_and_inc_code

end module write_and_inc_kernel_mod
