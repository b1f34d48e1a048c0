
!> One step as a person has written it, with the arguments of the algorithm's.
subroutine step(istp, ua, va, un, vn, sshn_t, sshn_u, sshn_v, ssha_t, ssha_u, ssha_v, hu, hv, ht)

  use field_mod, only: r2d_field
  use kind_params_mod, only: go_wp
  use time_step_mod, only: invoke_time_step

  implicit none

  integer, intent(inout) :: istp
  type(r2d_field), intent(inout) :: un, vn, sshn_t, sshn_u, sshn_v
  type(r2d_field), intent(inout) :: ua, va, ssha_t, ssha_u, ssha_v
  type(r2d_field), intent(inout) :: hu, hv, ht

  call invoke_time_step(real(istp, go_wp), ssha_t, ssha_u, ssha_v, sshn_t, sshn_u, sshn_v, hu, hv, &
                        ht, ua, va, un, vn)
end subroutine step
