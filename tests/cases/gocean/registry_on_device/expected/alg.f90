!> Pointwise readers between stencils need no exchange.
module read_between_mod

  use field_mod, only : r2d_field
  use kind_params_mod, only : go_wp
  use add_heights_mod, only : add_heights
  use smooth_mod, only : smooth
  use smooth_corners_mod, only : smooth_corners
  use read_between_mod_psy, only: invoke_0

  implicit none

contains

  subroutine read_between(height, old, new)
    type(r2d_field), intent(inout) :: height, old, new

    call invoke_0(new, old, height)

  end subroutine read_between

end module read_between_mod
