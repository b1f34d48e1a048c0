!> The fields of kind r_tran.
module r_tran_field_mod

  use precision_fields_mod, only: r_tran_field_type, r_tran_field_proxy_type, &
                                  r_tran_field_pointer_type

  implicit none
  private

  public :: r_tran_field_type, r_tran_field_proxy_type, r_tran_field_pointer_type

end module r_tran_field_mod
