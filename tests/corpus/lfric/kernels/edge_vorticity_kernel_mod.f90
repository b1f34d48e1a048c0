!-----------------------------------------------------------------------------
! Corpus kernel: edge vorticity.
!-----------------------------------------------------------------------------
!> @brief Add the circulation of the wind around the edges of a cell.
module edge_vorticity_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_INC, GH_READ
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W1, W2, W0
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: edge_vorticity_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      & arg_type(gh_field, gh_real, gh_inc, W1), &
      & arg_type(gh_field, gh_real, gh_read, W2), &
      & arg_type(gh_field, gh_real, gh_read, W0)  &
      & /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: edge_vorticity_code
  end type edge_vorticity_kernel_type

  public :: edge_vorticity_code

contains

  !> @brief Add the circulation of the wind around the edges of a cell.
  !> @param[in,out] xi Real field on W1, incremented.
  !> @param[in] wind Real field on W2.
  !> @param[in] nodal Real field on W0.
  subroutine edge_vorticity_code(nlayers, &
                                 xi, &
                                 wind, &
                                 nodal, &
                                 ndf_w1, undf_w1, map_w1, &
                                 ndf_w2, undf_w2, map_w2, &
                                 ndf_w0, undf_w0, map_w0)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_w1, undf_w1, ndf_w2, undf_w2
    integer(kind=i_def), intent(in) :: ndf_w0, undf_w0
    real(kind=r_def), intent(inout) :: xi(undf_w1)
    real(kind=r_def), intent(in) :: wind(undf_w2)
    real(kind=r_def), intent(in) :: nodal(undf_w0)
    integer(kind=i_def), intent(in) :: map_w1(ndf_w1)
    integer(kind=i_def), intent(in) :: map_w2(ndf_w2)
    integer(kind=i_def), intent(in) :: map_w0(ndf_w0)

    integer(kind=i_def) :: k, df

    do k = 0, nlayers - 1
      do df = 1, ndf_w1
        xi(map_w1(df)+k) = xi(map_w1(df)+k) + nodal(map_w0(1)+k) &
            * sum(wind(map_w2(:)+k)) / real(ndf_w1, r_def)
      end do
    end do

  end subroutine edge_vorticity_code

end module edge_vorticity_kernel_mod
