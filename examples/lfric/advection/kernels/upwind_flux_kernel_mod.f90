!> The flux of a tracer through the sides of a cell: what the wind brings from where it blows.
module upwind_flux_kernel_mod

  use argument_mod, only: arg_type, CELL_COLUMN, CROSS2D, GH_FIELD, GH_READ, GH_REAL, GH_WRITE, &
                          STENCIL
  use constants_mod, only: i_def, r_def
  use fs_continuity_mod, only: W2H, W3
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: upwind_flux_code

  type, public, extends(kernel_type) :: upwind_flux_type
    private
    type(arg_type) :: meta_args(3) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_WRITE, W2H), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W2H), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3, STENCIL(CROSS2D)) &
    /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: upwind_flux_code
  end type upwind_flux_type

contains

  !> Set the fluxes through the sides (W, S, E, N), positive eastwards and northwards. The cells on
  !> both sides of a face set its flux, to the same value.
  subroutine upwind_flux_code(nlayers, flux, wind, tracer, branch_cells, longest, around, &
                              ndf_w2h, undf_w2h, map_w2h, ndf_w3, undf_w3, map_w3)
    integer(i_def), intent(in) :: nlayers, longest, branch_cells(4)
    integer(i_def), intent(in) :: ndf_w2h, undf_w2h, map_w2h(ndf_w2h)
    integer(i_def), intent(in) :: ndf_w3, undf_w3, map_w3(ndf_w3)
    integer(i_def), intent(in) :: around(ndf_w3, longest, 4)
    real(r_def), intent(inout) :: flux(undf_w2h)
    real(r_def), intent(in) :: wind(undf_w2h)
    real(r_def), intent(in) :: tracer(undf_w3)

    logical, parameter :: side_is_upwind(4) = [.true., .true., .false., .false.]
    integer(i_def) :: k, side, upwind
    real(r_def) :: carried

    do k = 0, nlayers - 1
      do side = 1, 4
        ! Through a wall there is no neighbour, and nothing flows.
        carried = 0.0_r_def
        if (branch_cells(side) > 1) then
          upwind = map_w3(1)
          if (side_is_upwind(side) .eqv. wind(map_w2h(side) + k) > 0.0_r_def) &
            upwind = around(1, 2, side)
          carried = tracer(upwind + k)
        end if
        flux(map_w2h(side) + k) = wind(map_w2h(side) + k) * carried
      end do
    end do
  end subroutine upwind_flux_code

end module upwind_flux_kernel_mod
