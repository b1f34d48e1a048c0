!> Kinds that an LFRic build can choose: the mixed set.
!>
!> The solver and transport kinds are single precision, the default and boundary-layer kinds double,
!> so that using r_def for r_solver or r_tran is a type error. Compilers cannot distinguish kinds
!> that are equal here (r_def and r_bl; r_solver and r_tran).
module precision_kinds_mod

  use, intrinsic :: iso_fortran_env, only: real32, real64

  implicit none
  private

  integer, parameter, public :: r_def = real64
  integer, parameter, public :: r_solver = real32
  integer, parameter, public :: r_tran = real32
  integer, parameter, public :: r_bl = real64

end module precision_kinds_mod
