module diffuse_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_INC, GH_READ, GH_REAL
  use constants_mod, only : i_def, r_double, r_single
  use fs_continuity_mod, only : W2, W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  interface diffuse_kernel_code
    module procedure diffuse_single, diffuse_double
  end interface

  public :: diffuse_kernel_code

  type, public, extends(kernel_type) :: diffuse_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
         arg_type(GH_FIELD, GH_REAL, GH_INC, W2), &
         arg_type(GH_FIELD, GH_REAL, GH_READ, W3) &
         /)
    integer :: operates_on = CELL_COLUMN
  end type diffuse_kernel_type

contains

  subroutine diffuse_single(nlayers, wind, theta, ndf_w2, undf_w2, map_w2, &
                  ndf_w3, undf_w3, map_w3)
    integer(i_def), intent(in) :: nlayers, ndf_w2, undf_w2, ndf_w3, undf_w3
    integer(i_def), intent(in) :: map_w2(ndf_w2), map_w3(ndf_w3)
    real(r_single), intent(inout) :: wind(undf_w2)
    real(r_single), intent(in) :: theta(undf_w3)

    wind(map_w2(1)) = theta(map_w3(1))
  end subroutine diffuse_single

  subroutine diffuse_double(nlayers, wind, theta, ndf_w2, undf_w2, map_w2, &
                  ndf_w3, undf_w3, map_w3)
    integer(i_def), intent(in) :: nlayers, ndf_w2, undf_w2, ndf_w3, undf_w3
    integer(i_def), intent(in) :: map_w2(ndf_w2), map_w3(ndf_w3)
    real(r_double), intent(inout) :: wind(undf_w2)
    real(r_double), intent(in) :: theta(undf_w3)

    wind(map_w2(1)) = theta(map_w3(1))
  end subroutine diffuse_double

end module diffuse_kernel_mod
