!-----------------------------------------------------------------------------
! Corpus kernel: restrict wind.
!-----------------------------------------------------------------------------
!> @brief Sum fine winds into a coarse one, with weights on the fine mesh.
module restrict_wind_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_INC, &
                           ANY_SPACE_1, GH_COARSE, GH_READ, ANY_SPACE_2, GH_FINE
  use constants_mod, only : i_def, r_def
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: restrict_wind_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_INC, ANY_SPACE_1, mesh_arg=GH_COARSE), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_SPACE_2, mesh_arg=GH_FINE), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_SPACE_2, mesh_arg=GH_FINE)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: restrict_wind_code
  end type restrict_wind_kernel_type

  public :: restrict_wind_code

contains

  !> @brief Sum fine winds into a coarse one, with weights on the fine mesh.
  !> @param[in,out] coarse_u Real field on ANY_SPACE_1, coarse mesh, incremented.
  !> @param[in] fine_u Real field on ANY_SPACE_2, fine mesh.
  !> @param[in] weight Real field on ANY_SPACE_2, fine mesh.
  subroutine restrict_wind_code(nlayers, &
                                cell_map, ncell_fine_x, ncell_fine_y, ncell_fine, &
                                coarse_u, &
                                fine_u, &
                                weight, &
                                undf_s1, map_s1, &
                                ndf_s2, undf_s2, map_s2)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ncell_fine_x, ncell_fine_y, ncell_fine
    integer(kind=i_def), intent(in) :: undf_s1, ndf_s2, undf_s2
    integer(kind=i_def), intent(in) :: cell_map(ncell_fine_x, ncell_fine_y)
    real(kind=r_def), intent(inout) :: coarse_u(undf_s1)
    real(kind=r_def), intent(in) :: fine_u(undf_s2)
    real(kind=r_def), intent(in) :: weight(undf_s2)
    integer(kind=i_def), intent(in) :: map_s1(:)
    integer(kind=i_def), intent(in) :: map_s2(ndf_s2, ncell_fine)

    integer(kind=i_def) :: k, xf, yf, fine

    do k = 0, nlayers - 1
      do yf = 1, ncell_fine_y
        do xf = 1, ncell_fine_x
          fine = cell_map(xf, yf)
          coarse_u(map_s1(1)+k) = coarse_u(map_s1(1)+k) + weight(map_s2(1, fine)+k) &
              * fine_u(map_s2(1, fine)+k)
        end do
      end do
    end do

  end subroutine restrict_wind_code

end module restrict_wind_kernel_mod
