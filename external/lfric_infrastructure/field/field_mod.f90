!> The fields of kind r_def, which has 64 bits in any set of precisions.
module field_mod

  use field_real64_mod, only: &
    field_type => field_real64_type, &
    field_proxy_type => field_real64_proxy_type, &
    field_pointer_type => field_real64_pointer_type

  implicit none
  private

  public :: field_type, field_proxy_type, field_pointer_type

end module field_mod
