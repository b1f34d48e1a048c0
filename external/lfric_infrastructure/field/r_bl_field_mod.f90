!> The fields of kind r_bl, which has 64 bits in any set of precisions.
module r_bl_field_mod

  use field_real64_mod, only: &
    r_bl_field_type => field_real64_type, &
    r_bl_field_proxy_type => field_real64_proxy_type, &
    r_bl_field_pointer_type => field_real64_pointer_type

  implicit none
  private

  public :: r_bl_field_type, r_bl_field_proxy_type, r_bl_field_pointer_type

end module r_bl_field_mod
