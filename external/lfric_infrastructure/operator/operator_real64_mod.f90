!> Owns the operators of 64-bit reals; the text is shared with the other kind.
module operator_real64_body_mod

  use, intrinsic :: iso_fortran_env, only: operator_kind => real64
  use constants_mod, only: i_def
  use function_space_mod, only: function_space_type
  use mesh_mod, only: mesh_type
  use operator_parent_mod, only: operator_parent_proxy_type, operator_parent_type

  implicit none
  private

  include 'operator_real_body.inc'

end module operator_real64_body_mod

!> Owns the names by which the operators of 64-bit reals are known.
module operator_real64_mod

  use operator_real64_body_mod, only: &
    operator_real64_type => operator_type, &
    operator_real64_proxy_type => operator_proxy_type

  implicit none
  private

  public :: operator_real64_type, operator_real64_proxy_type

end module operator_real64_mod
