! The body of a separate module procedure: the parent module declares its interface.
submodule (dynamics_mod) pressure_gradient_smod

  use constants_mod, only : r_def
  use field_mod,     only : field_type
  use wind_tendency_kernel_mod, only : wind_tendency_kernel_type
  use pressure_gradient_smod_psy, only: invoke_0_wind_tendency_kernel_type

  implicit none

contains

  module subroutine add_pressure_gradient(du, u, exner, theta, dt)
    type(field_type), intent(inout) :: du
    type(field_type), intent(in)    :: u, exner, theta
    real(kind=r_def), intent(in)    :: dt

    real(kind=r_def), parameter :: cp = 1005.0_r_def

    call invoke_0_wind_tendency_kernel_type(du, u, exner, theta, cp, dt)

  end subroutine add_pressure_gradient

end submodule pressure_gradient_smod
