!> What a cell gains by the fluxes through its sides.
module gain_kernel_mod

  use argument_mod, only: arg_type, CELL_COLUMN, GH_FIELD, GH_READ, GH_READWRITE, GH_REAL, &
                          GH_SCALAR
  use constants_mod, only: i_def, r_def
  use fs_continuity_mod, only: W2H, W3
  use kernel_mod, only: kernel_type

  implicit none
  private

  public :: gain_code

  type, public, extends(kernel_type) :: gain_type
    private
    type(arg_type) :: meta_args(4) = (/ &
      arg_type(GH_FIELD, GH_REAL, GH_READWRITE, W3), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W2H), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, W3), &
      arg_type(GH_SCALAR, GH_REAL, GH_READ) &
    /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: gain_code
  end type gain_type

contains

  !> Add what has flowed in, through W and N, less what has flowed out, through S and E.
  subroutine gain_code(nlayers, tracer, flux, area, time_step, ndf_w3, undf_w3, map_w3, ndf_w2h, &
                       undf_w2h, map_w2h)
    integer(i_def), intent(in) :: nlayers
    integer(i_def), intent(in) :: ndf_w3, undf_w3, map_w3(ndf_w3)
    integer(i_def), intent(in) :: ndf_w2h, undf_w2h, map_w2h(ndf_w2h)
    real(r_def), intent(inout) :: tracer(undf_w3)
    real(r_def), intent(in) :: flux(undf_w2h)
    real(r_def), intent(in) :: area(undf_w3)
    real(r_def), intent(in) :: time_step

    integer(i_def) :: k

    do k = 0, nlayers - 1
      tracer(map_w3(1) + k) = tracer(map_w3(1) + k) + time_step / area(map_w3(1) + k) * &
        ((flux(map_w2h(1) + k) - flux(map_w2h(3) + k)) &
         + (flux(map_w2h(4) + k) - flux(map_w2h(2) + k)))
    end do
  end subroutine gain_code

end module gain_kernel_mod
