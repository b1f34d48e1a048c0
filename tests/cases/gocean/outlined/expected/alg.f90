!> Loops in procedures of their own, with names that are taken twice.
module basin_mod

  use field_mod, only : r2d_field
  use kind_params_mod, only : go_wp
  use diverge_mod, only : diverge
  use flux_u_mod, only : flux_u
  use flux_v_mod, only : flux_v
  use basin_mod_psy, only: invoke_0, invoke_again

  implicit none

contains

  subroutine basin(flux, area_t, xstart, u, v, i)
    type(r2d_field), intent(inout) :: flux, area_t, xstart, u, v
    real(go_wp), intent(in) :: i

    call invoke_0(flux, xstart, u, area_t, v, i)
    call invoke_again(flux, xstart, u)

  end subroutine basin

end module basin_mod
