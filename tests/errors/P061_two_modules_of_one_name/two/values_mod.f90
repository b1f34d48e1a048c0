module values_mod
  implicit none
  integer, parameter :: rows = 2
end module values_mod
