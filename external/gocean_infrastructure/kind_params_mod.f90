!> Kinds of the numbers in fields.
module kind_params_mod

  use, intrinsic :: iso_fortran_env, only: real64

  implicit none
  private

  !> The working precision of all fields and grid properties.
  integer, public, parameter :: go_wp = real64

  !> Double precision, whatever the working precision is.
  integer, public, parameter :: go_dp = real64

end module kind_params_mod
