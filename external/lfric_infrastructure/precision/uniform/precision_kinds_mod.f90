!> Kinds that an LFRic build can choose: the uniform set.
!>
!> Every kind is double precision, the default of LFRic. It is for code that relies on equal kinds;
!> it cannot detect that kinds were confused.
module precision_kinds_mod

  use, intrinsic :: iso_fortran_env, only: real64

  implicit none
  private

  integer, parameter, public :: r_def = real64
  integer, parameter, public :: r_solver = real64
  integer, parameter, public :: r_tran = real64
  integer, parameter, public :: r_bl = real64

end module precision_kinds_mod
