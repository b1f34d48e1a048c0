!-----------------------------------------------------------------------------
! Corpus kernel: coordinate stencil.
!-----------------------------------------------------------------------------
!> @brief Measure the spread of the coordinates over a cross.
module coordinate_stencil_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_REAL, GH_WRITE, GH_READ, &
                           STENCIL, CROSS
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W3, Wchi
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, extends(kernel_type), public :: coordinate_stencil_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, W3), &
      arg_type(GH_FIELD*3, GH_REAL, GH_READ, Wchi, STENCIL(CROSS))  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: coordinate_stencil_code
  end type coordinate_stencil_kernel_type

  public :: coordinate_stencil_code

contains

  !> @brief Measure the spread of the coordinates over a cross.
  !> @param[in,out] spread Real field on W3, overwritten.
  !> @param[in] chi_1 and on Real field bundle of 3 on Wchi, read through a stencil (cross).
  subroutine coordinate_stencil_code(nlayers, &
                                     spread, &
                                     chi_1, chi_2, chi_3, chi_size, chi_stencil, &
                                     ndf_w3, undf_w3, map_w3, &
                                     ndf_wchi, undf_wchi, map_wchi)

    implicit none

    integer(kind=i_def), intent(in) :: nlayers, chi_size, ndf_w3, undf_w3, ndf_wchi
    integer(kind=i_def), intent(in) :: undf_wchi
    real(kind=r_def), intent(inout) :: spread(undf_w3)
    real(kind=r_def), intent(in) :: chi_1(undf_wchi)
    real(kind=r_def), intent(in) :: chi_2(undf_wchi)
    real(kind=r_def), intent(in) :: chi_3(undf_wchi)
    integer(kind=i_def), intent(in) :: chi_stencil(ndf_wchi, chi_size)
    integer(kind=i_def), intent(in) :: map_w3(ndf_w3)
    integer(kind=i_def), intent(in) :: map_wchi(ndf_wchi)

    integer(kind=i_def) :: k

    do k = 0, nlayers - 1
      spread(map_w3(1)+k) = chi_1(chi_stencil(1, chi_size)+k) - chi_1(map_wchi(1)+k) &
        + chi_2(map_wchi(1)+k) - chi_3(map_wchi(1)+k)
    end do

  end subroutine coordinate_stencil_code

end module coordinate_stencil_kernel_mod
