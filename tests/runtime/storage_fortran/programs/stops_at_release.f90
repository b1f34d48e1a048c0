! expect: storage error R206: "field" is released at the host without an access there.
program stops_at_release

  use field_storage_mod, only: field_storage_type
  use storage_constants_mod

  implicit none

  type(field_storage_type) :: field

  call field%create(element_real64, [4], name='field')
  call field%release(space_host)

end program stops_at_release
