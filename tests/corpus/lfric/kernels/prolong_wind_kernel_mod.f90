!-----------------------------------------------------------------------------
! Corpus kernel: prolong wind.
!-----------------------------------------------------------------------------
!> @brief Take a wind from the coarse mesh to the fine one.
module prolong_wind_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_INC, GH_FINE, &
                           GH_READ, GH_COARSE
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W1, W2
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: prolong_wind_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_INC, W1, mesh_arg=GH_FINE), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W2, mesh_arg=GH_COARSE)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: prolong_wind_code
  end type prolong_wind_kernel_type

  public :: prolong_wind_code

contains

  !> @brief Take a wind from the coarse mesh to the fine one.
  !> @param[in,out] fine_u Real field on W1, fine mesh, incremented.
  !> @param[in] coarse_u Real field on W2, coarse mesh.
  subroutine prolong_wind_code(nlayers, &
                               cell_map, ncell_fine_x, ncell_fine_y, ncell_fine, &
                               fine_u, &
                               coarse_u, &
                               ndf_w1, undf_w1, map_w1, &
                               undf_w2, map_w2)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ncell_fine_x, ncell_fine_y, ncell_fine
    integer(kind=i_def), intent(in) :: ndf_w1, undf_w1, undf_w2
    integer(kind=i_def), intent(in) :: cell_map(ncell_fine_x, ncell_fine_y)
    real(kind=r_def), intent(inout) :: fine_u(undf_w1)
    real(kind=r_def), intent(in) :: coarse_u(undf_w2)
    integer(kind=i_def), intent(in) :: map_w1(ndf_w1, ncell_fine)
    integer(kind=i_def), intent(in) :: map_w2(:)

    integer(kind=i_def) :: k, xf, yf, fine

    do k = 0, nlayers - 1
      do yf = 1, ncell_fine_y
        do xf = 1, ncell_fine_x
          fine = cell_map(xf, yf)
          fine_u(map_w1(:, fine)+k) = fine_u(map_w1(:, fine)+k) + coarse_u(map_w2(1)+k)
        end do
      end do
    end do

  end subroutine prolong_wind_code

end module prolong_wind_kernel_mod
