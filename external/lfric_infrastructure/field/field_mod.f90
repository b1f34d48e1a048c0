!> Owns the fields of kind r_def.
module field_mod

  use precision_fields_mod, only: field_type, field_proxy_type, field_pointer_type

  implicit none
  private

  public :: field_type, field_proxy_type, field_pointer_type

end module field_mod
