!> Kernels over all points that look at the mask.
module boundaries_mod

  use field_mod, only : r2d_field
  use kind_params_mod, only : go_wp
  use tide_mod, only : tide
  use wall_u_mod, only : wall_u
  use boundaries_mod_psy, only: invoke_0

  implicit none

contains

  subroutine boundaries(u, height)
    type(r2d_field), intent(inout) :: u, height
    integer :: step

    step = 3

    call invoke_0(u, step, height)

  end subroutine boundaries

end module boundaries_mod
