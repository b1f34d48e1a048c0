!> Two readers of one field: one exchange serves both, as deep as the second needs.
module stencil_near_then_far_mod

  use field_mod, only : r2d_field
  use kind_params_mod, only : go_wp
  use smooth_mod, only : smooth
  use smooth_far_mod, only : smooth_far
  use stencil_near_then_far_mod_psy, only: invoke_0

  implicit none

contains

  subroutine stencil_near_then_far(height, old, new)
    type(r2d_field), intent(inout) :: height, old, new

    call invoke_0(new, old, height)

  end subroutine stencil_near_then_far

end module stencil_near_then_far_mod
