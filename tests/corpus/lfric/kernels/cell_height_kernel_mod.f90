!-----------------------------------------------------------------------------
! Corpus kernel: cell height.
!-----------------------------------------------------------------------------
!> @brief Take the mean height of a cell from the three coordinate fields.
module cell_height_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_WRITE, GH_READ, &
                           ANY_DISCONTINUOUS_SPACE_1
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W3, Wchi
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, extends(kernel_type), public :: cell_height_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      & arg_type(GH_FIELD, GH_REAL, GH_WRITE, W3), &
      & arg_type(GH_FIELD*3, GH_REAL, GH_READ, Wchi), &
      & arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_DISCONTINUOUS_SPACE_1)  &
      & /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: cell_height_code
  end type cell_height_kernel_type

  public :: cell_height_code

contains

  !> @brief Take the mean height of a cell from the three coordinate fields.
  !> @param[in,out] height Real field on W3, overwritten.
  !> @param[in] chi_1 and on Real field bundle of 3 on Wchi.
  !> @param[in] panel Real field on ANY_DISCONTINUOUS_SPACE_1.
  subroutine cell_height_code(nlayers, &
                              height, &
                              chi_1, chi_2, chi_3, &
                              panel, &
                              ndf_w3, undf_w3, map_w3, &
                              ndf_wchi, undf_wchi, map_wchi, &
                              ndf_d1, undf_d1, map_d1)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, ndf_w3, undf_w3, ndf_wchi, undf_wchi
    integer(kind=i_def), intent(in) :: ndf_d1, undf_d1
    real(kind=r_def), intent(inout) :: height(undf_w3)
    real(kind=r_def), intent(in) :: chi_1(undf_wchi)
    real(kind=r_def), intent(in) :: chi_2(undf_wchi)
    real(kind=r_def), intent(in) :: chi_3(undf_wchi)
    real(kind=r_def), intent(in) :: panel(undf_d1)
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)
    integer(kind=i_def), intent(in) :: map_wchi(ndf_wchi)
    integer(kind=i_def), intent(in) :: map_d1(ndf_d1)

    integer(kind=i_def) :: k

    do k = 0, nlayers - 1
      height(map_w3(1)+k) = sum(chi_3(map_wchi(:)+k)) / real(ndf_wchi, r_def)
    end do
    if (panel(map_d1(1)) < 1.0_r_def) height(map_w3(1)) = chi_1(map_wchi(1)) &
        + chi_2(map_wchi(1))

  end subroutine cell_height_code

end module cell_height_kernel_mod
