!> Owns the scalars of 64-bit reals; the text is shared with the other kind.
module scalar_real64_body_mod

  use, intrinsic :: iso_fortran_env, only: scalar_kind => real64

  implicit none
  private

  include 'scalar_real_body.inc'

end module scalar_real64_body_mod

!> Owns the name by which the scalars of 64-bit reals are known.
module scalar_real64_mod

  use scalar_real64_body_mod, only: scalar_real64_type => scalar_type

  implicit none
  private

  public :: scalar_real64_type

end module scalar_real64_mod
