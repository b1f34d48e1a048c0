module smooth_kernel_mod

  use argument_mod,      only : arg_type, gh_field, gh_real, gh_read, gh_write, &
                                stencil, cross, cell_column
  use constants_mod,     only : i_def, r_def
  use fs_continuity_mod, only : w3
  use kernel_mod,        only : kernel_type

  implicit none

  private

  type, public, extends(kernel_type) :: smooth_kernel_type
    private
    type(arg_type) :: meta_args(2) = (/                            &
         arg_type(gh_field, gh_real, gh_write, w3),                &
         arg_type(gh_field, gh_real, gh_read,  w3, stencil(cross)) &
         /)
    integer :: operates_on = cell_column
  contains
    procedure, nopass :: smooth_code
  end type smooth_kernel_type

contains

  subroutine smooth_code(nlayers, smooth, rough, points, map, ndf, undf, map_w3)

    integer(i_def), intent(in) :: nlayers, points, ndf, undf
    integer(i_def), intent(in) :: map(ndf, points), map_w3(ndf)
    real(r_def), intent(inout) :: smooth(undf)
    real(r_def), intent(in)    :: rough(undf)
    integer(i_def)             :: k, p

    do k = 0, nlayers - 1
      smooth(map_w3(1) + k) = 0.0_r_def
      do p = 1, points
        smooth(map_w3(1) + k) = smooth(map_w3(1) + k) + rough(map(1, p) + k) / points
      end do
    end do

  end subroutine smooth_code

end module smooth_kernel_mod
