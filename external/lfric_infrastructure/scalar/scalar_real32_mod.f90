!> Owns the scalars of 32-bit reals; the text is shared with the other kind.
module scalar_real32_body_mod

  use, intrinsic :: iso_fortran_env, only: scalar_kind => real32

  implicit none
  private

  include 'scalar_real_body.inc'

end module scalar_real32_body_mod

!> Owns the name by which the scalars of 32-bit reals are known.
module scalar_real32_mod

  use scalar_real32_body_mod, only: scalar_real32_type => scalar_type

  implicit none
  private

  public :: scalar_real32_type

end module scalar_real32_mod
