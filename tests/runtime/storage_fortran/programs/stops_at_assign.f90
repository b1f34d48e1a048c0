! expect: storage error R205: "field" cannot be assigned "other": assign the values through a window of each.
program stops_at_assign

  use field_storage_mod, only: field_storage_type
  use storage_constants_mod

  implicit none

  type(field_storage_type) :: field, other

  call field%create(element_real64, [4], name='field')
  call other%create(element_real64, [4], name='other')
  field = other

end program stops_at_assign
