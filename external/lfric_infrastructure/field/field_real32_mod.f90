!> Owns the fields of 32-bit reals; the text is shared with the other kind.
module field_real32_body_mod

  use, intrinsic :: iso_fortran_env, only: field_kind => real32
  use constants_mod, only: i_def, l_def
  use field_parent_mod, only: checkpoint_read_interface, checkpoint_write_interface, &
                              field_parent_proxy_type, field_parent_type, read_interface, &
                              write_interface
  use function_space_mod, only: function_space_type
  use log_mod, only: log_event, log_scratch_space
  use pure_abstract_field_mod, only: pure_abstract_field_type

  implicit none
  private

  include 'field_real_body.inc'

end module field_real32_body_mod

!> Owns the names by which the fields of 32-bit reals are known.
module field_real32_mod

  use field_real32_body_mod, only: &
    field_real32_type => field_type, &
    field_real32_proxy_type => field_proxy_type, &
    field_real32_pointer_type => field_pointer_type

  implicit none
  private

  public :: field_real32_type, field_real32_proxy_type, field_real32_pointer_type

end module field_real32_mod
