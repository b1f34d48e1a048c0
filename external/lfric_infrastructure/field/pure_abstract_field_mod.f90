!> The type that is common to fields, arrays of fields and pointers to fields.
module pure_abstract_field_mod

  use linked_list_data_mod, only: linked_list_data_type

  implicit none
  private

  !> Anything that a collection of fields can hold.
  type, abstract, extends(linked_list_data_type), public :: pure_abstract_field_type
  end type pure_abstract_field_type

end module pure_abstract_field_mod
