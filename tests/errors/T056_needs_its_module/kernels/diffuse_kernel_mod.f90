module diffuse_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_INC, GH_READ, GH_REAL
  use constants_mod, only : i_def, r_def
  use fs_continuity_mod, only : W2, W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  type, public, extends(kernel_type) :: diffuse_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/ &
         arg_type(GH_FIELD, GH_REAL, GH_INC, W2), &
         arg_type(GH_FIELD, GH_REAL, GH_READ, W3) &
         /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: diffuse_kernel_code
  end type diffuse_kernel_type

  type :: pair_type
    real(r_def) :: total, part
  end type pair_type

contains

  subroutine diffuse_kernel_code(nlayers, wind, theta, ndf_w2, undf_w2, map_w2, &
                                 ndf_w3, undf_w3, map_w3)
    integer(i_def), intent(in) :: nlayers, ndf_w2, undf_w2, ndf_w3, undf_w3
    integer(i_def), intent(in) :: map_w2(ndf_w2), map_w3(ndf_w3)
    real(r_def), intent(inout) :: wind(undf_w2)
    real(r_def), intent(in) :: theta(undf_w3)
    type(pair_type) :: pair

    pair = pair_type(wind(map_w2(1)), theta(map_w3(1)))
    wind(map_w2(1)) = pair%total + pair%part
  end subroutine diffuse_kernel_code

end module diffuse_kernel_mod
