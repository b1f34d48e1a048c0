!> Directions for stencils whose direction is known only at run time.
module flux_direction_mod

  use constants_mod, only: i_def

  implicit none
  private

  integer(i_def), parameter, public :: x_direction = 1
  integer(i_def), parameter, public :: y_direction = 2
  integer(i_def), parameter, public :: z_direction = 3

end module flux_direction_mod
