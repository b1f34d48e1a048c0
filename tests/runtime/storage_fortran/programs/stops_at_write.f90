! expect: storage error R201: "field" cannot give write-only access at the device: conflict with a write access at the host.
program stops_at_write

  use field_storage_mod, only: field_storage_type
  use storage_constants_mod

  implicit none

  type(field_storage_type) :: field

  call field%create(element_real64, [4], name='field')
  call field%acquire(space_host, access_read_write)
  call field%acquire(space_device, access_write)

end program stops_at_write
