module model_mod
  use kinds_elsewhere_mod
  use sizes_elsewhere_mod
  implicit none
  real(wp) :: rdt
end module model_mod
