module values_mod
  implicit none
  integer, parameter :: rows = 1
end module values_mod
