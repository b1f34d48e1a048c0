!> Constants and variables of a model.
module model_mod

  use kind_params_mod, only : wp => go_wp

  implicit none

  private

  real(wp), parameter, public :: gravity = 9.81_wp
  real(wp), public :: rdt, drag(2), depth_scale(0:3)
  integer, public :: launches = 1

end module model_mod
