!> Fluxes and their divergence, with properties of the grid.
module continuity_mod

  use field_mod, only : r2d_field
  use kind_params_mod, only : go_wp
  use diverge_mod, only : diverge
  use flux_u_mod, only : flux_u
  use flux_v_mod, only : flux_v
  use continuity_mod_psy, only: invoke_0

  implicit none

contains

  subroutine continuity(flux_x, flux_y, height, u, v, time_step)
    type(r2d_field), intent(inout) :: flux_x, flux_y, height, u, v
    real(go_wp), intent(in) :: time_step

    call invoke_0(flux_x, height, u, flux_y, v, time_step)

  end subroutine continuity

end module continuity_mod
