module diffuse_kernel_mod

  use argument_mod, only : arg_type, CELL_COLUMN, GH_FIELD, GH_INC, GH_READ, GH_REAL
  use fs_continuity_mod, only : W2, W3
  use kernel_mod, only : kernel_type

  implicit none

  private

  type, public, extends(kernel_type) :: diffuse_kernel_type
    private
    type(arg_type) :: meta_args(3) = (/ &
         arg_type(GH_FIELD, GH_REAL, GH_INC, W2), &
         arg_type(GH_FIELD, GH_REAL, GH_READ, W3), &
         arg_type(GH_FIELD, GH_REAL, GH_READ, W3) &
         /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: diffuse_kernel_code
  end type diffuse_kernel_type

contains

  subroutine diffuse_kernel_code(nlayers, wind, theta, mass, ndf_w2, undf_w2, map_w2, &
                                 ndf_w3, undf_w3, map_w3)
    use step_shape_mod, only : width
    integer, intent(in) :: nlayers, ndf_w2, undf_w2, ndf_w3, undf_w3
    integer, intent(in) :: map_w2(ndf_w2), map_w3(ndf_w3)
    real, intent(inout) :: wind(undf_w2)
    real, intent(in) :: theta(undf_w3), mass(undf_w3)

    wind(map_w2(1)) = wind(map_w2(1)) + width * theta(map_w3(1)) * mass(map_w3(1))
  end subroutine diffuse_kernel_code

end module diffuse_kernel_mod
