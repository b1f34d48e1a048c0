module spread_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_INC, GH_READ, GH_REAL
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W2, W3
  use kernel_mod, only : kernel_type

  implicit none

  public :: spread_kernel_code

  integer :: calls = 0

  type, public, extends(kernel_type) :: spread_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
         arg_type(GH_FIELD, GH_REAL, GH_INC, W2), &
         arg_type(GH_FIELD, GH_REAL, GH_READ, W3) &
         /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: spread_kernel_code
  end type spread_kernel_type

contains

  subroutine spread_kernel_code(nlayers, wind, theta, ndf_w2, undf_w2, map_w2, &
                                 ndf_w3, undf_w3, map_w3)
    integer(i_def), intent(in) :: nlayers, ndf_w2, undf_w2, ndf_w3, undf_w3
    integer(i_def), intent(in) :: map_w2(ndf_w2), map_w3(ndf_w3)
    real(r_def), intent(inout) :: wind(undf_w2)
    real(r_def), intent(in) :: theta(undf_w3)

    calls = calls + 1
  end subroutine spread_kernel_code

end module spread_kernel_mod
