!> What kernels of other modules read: numbers that are set while a program runs, and constants.
module settings_mod

  use kind_params_mod, only: go_wp

  implicit none

  real(go_wp) :: time_step = 0.5_go_wp
  integer :: level = 2
  logical :: is_cold = .true.
  real(go_wp), parameter :: pi = 3.141592653589793_go_wp
  real(go_wp), parameter :: to_radians = pi / 180.0_go_wp

end module settings_mod
