module model_mod
  use constants_mod, only : r_def, i_def
  implicit none
  private
  real(r_def), public :: rate = 0.5_r_def, table(3)
  integer(i_def), public :: calls
end module model_mod
