!-----------------------------------------------------------------------------
! Corpus kernel: assemble divergence.
!-----------------------------------------------------------------------------
!> @brief Build the divergence operator of each cell.
module assemble_divergence_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_OPERATOR, GH_REAL, GH_WRITE, &
                           GH_FIELD, GH_READ, ANY_DISCONTINUOUS_SPACE_3
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W3, W2, Wchi
  use kernel_mod, only : kernel_type

  implicit none

  private

  !> Metadata: what the kernel reads and writes, and where it runs.
  type, public, extends(kernel_type) :: assemble_divergence_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      arg_type(GH_OPERATOR, GH_REAL, GH_WRITE, W3, W2), &
      arg_type(GH_FIELD*3, GH_REAL, GH_READ, Wchi), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_DISCONTINUOUS_SPACE_3)  &
      /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: code => assemble_divergence_code
  end type assemble_divergence_kernel_type

  public :: assemble_divergence_code

contains

  !> @brief Build the divergence operator of each cell.
  !> @param[in,out] div Local operator from W2 to W3, overwritten.
  !> @param[in] chi_1 and on Real field bundle of 3 on Wchi.
  !> @param[in] panel Real field on ANY_DISCONTINUOUS_SPACE_3.
  subroutine assemble_divergence_code(cell, nlayers, &
                                      div_ncell_3d, div, &
                                      chi_1, chi_2, chi_3, &
                                      panel, &
                                      ndf_w3, &
                                      ndf_w2, &
                                      ndf_wchi, undf_wchi, map_wchi, &
                                      ndf_d3, undf_d3, map_d3)

    implicit none

    integer(kind=i_def), intent(in) :: cell, nlayers, div_ncell_3d, ndf_w3, ndf_w2
    integer(kind=i_def), intent(in) :: ndf_wchi, undf_wchi, ndf_d3, undf_d3
    real(kind=r_def), intent(inout) :: div(div_ncell_3d, ndf_w3, ndf_w2)
    real(kind=r_def), intent(in) :: chi_1(undf_wchi)
    real(kind=r_def), intent(in) :: chi_2(undf_wchi)
    real(kind=r_def), intent(in) :: chi_3(undf_wchi)
    real(kind=r_def), intent(in) :: panel(undf_d3)
    integer(kind=i_def), intent(in) :: map_wchi(ndf_wchi)
    integer(kind=i_def), intent(in) :: map_d3(ndf_d3)

    integer(kind=i_def) :: k, ik

    do k = 0, nlayers - 1
      ik = (cell - 1) * nlayers + k + 1
      div(ik, :, :) = chi_1(map_wchi(1)+k) + chi_2(map_wchi(1)+k) &
          + chi_3(map_wchi(1)+k) + panel(map_d3(1))
    end do

  end subroutine assemble_divergence_code

end module assemble_divergence_kernel_mod
