!-----------------------------------------------------------------------------
! Corpus kernel: restrict bundle.
!-----------------------------------------------------------------------------
!> @brief Restrict a bundle and a mask, both discontinuous, with fields kept on the coarse mesh.
module restrict_bundle_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_READWRITE, &
                           GH_COARSE, GH_INTEGER, GH_READ, GH_FINE
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W3, Wtheta
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, extends(kernel_type), public :: restrict_bundle_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      arg_type(GH_FIELD*2, GH_REAL, GH_READWRITE, W3, mesh_arg=GH_COARSE), &
      arg_type(GH_FIELD, GH_INTEGER, GH_READ, W3, mesh_arg=GH_COARSE), &
      arg_type(GH_FIELD*2, GH_REAL, GH_READ, Wtheta, mesh_arg=GH_FINE)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: restrict_bundle_code
  end type restrict_bundle_kernel_type

  public :: restrict_bundle_code

contains

  !> @brief Restrict a bundle and a mask, both discontinuous, with fields kept on the coarse mesh.
  !> @param[in,out] coarse_v_1 and on Real field bundle of 2 on W3, coarse mesh, updated.
  !> @param[in] mask Integer field on W3, coarse mesh.
  !> @param[in] fine_v_1 and on Real field bundle of 2 on Wtheta, fine mesh.
  subroutine restrict_bundle_code(nlayers, &
                                  cell_map, ncell_fine_x, ncell_fine_y, ncell_fine, &
                                  coarse_v_1, coarse_v_2, &
                                  mask, &
                                  fine_v_1, fine_v_2, &
                                  undf_w3, map_w3, &
                                  ndf_wtheta, undf_wtheta, map_wtheta)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ncell_fine_x, ncell_fine_y, ncell_fine
    integer(kind=i_def), intent(in) :: undf_w3, ndf_wtheta, undf_wtheta
    integer(kind=i_def), intent(in) :: cell_map(ncell_fine_x, ncell_fine_y)
    real(kind=r_def), intent(inout) :: coarse_v_1(undf_w3)
    real(kind=r_def), intent(inout) :: coarse_v_2(undf_w3)
    integer(kind=i_def), intent(in) :: mask(undf_w3)
    real(kind=r_def), intent(in) :: fine_v_1(undf_wtheta)
    real(kind=r_def), intent(in) :: fine_v_2(undf_wtheta)
    integer(kind=i_def), intent(in) :: map_w3(:)
    integer(kind=i_def), intent(in) :: map_wtheta(ndf_wtheta, ncell_fine)

    integer(kind=i_def) :: k

    do k = 0, nlayers - 1
      if (mask(map_w3(1)+k) > 0_i_def) then
        coarse_v_1(map_w3(1)+k) = fine_v_1(map_wtheta(1, cell_map(1, 1))+k)
        coarse_v_2(map_w3(1)+k) = fine_v_2(map_wtheta(1, cell_map(1, 1))+k)
      end if
    end do

  end subroutine restrict_bundle_code

end module restrict_bundle_kernel_mod
