!> Owns the value of the kinds that an LFRic build may choose: the uniform set.
!>
!> Every kind is double precision, as LFRic builds by default. Use it for code that relies on
!> the kinds being equal; it finds no mix-up between them.
module precision_kinds_mod

  use, intrinsic :: iso_fortran_env, only: real64

  implicit none
  private

  integer, parameter, public :: r_def = real64
  integer, parameter, public :: r_solver = real64
  integer, parameter, public :: r_tran = real64
  integer, parameter, public :: r_bl = real64

end module precision_kinds_mod
