!> The numbers that the kernels of NEMOLite2D read from the model: its time step and two coefficients.
module model_mod

  use kind_params_mod, only: go_wp

  implicit none
  public

  real(go_wp), save :: rdt = 20.0_go_wp
  real(go_wp), save :: cbfr = 0.00015_go_wp
  real(go_wp), save :: visc = 0.1_go_wp

end module model_mod
