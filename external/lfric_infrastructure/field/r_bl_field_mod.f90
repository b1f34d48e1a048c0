!> Owns the fields of kind r_bl.
module r_bl_field_mod

  use precision_fields_mod, only: r_bl_field_type, r_bl_field_proxy_type, r_bl_field_pointer_type

  implicit none
  private

  public :: r_bl_field_type, r_bl_field_proxy_type, r_bl_field_pointer_type

end module r_bl_field_mod
