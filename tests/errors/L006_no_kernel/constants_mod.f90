module constants_mod

  implicit none

  integer, parameter :: levels = 70

end module constants_mod
