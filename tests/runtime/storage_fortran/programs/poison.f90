!> Uses values where they are stale, which the emulated device makes unmistakable on both sides.
program poison

  use, intrinsic :: ieee_arithmetic, only: ieee_is_nan
  use, intrinsic :: iso_fortran_env, only: real32, real64
  use checks_mod, only: check, finish
  use field_storage_mod, only: field_storage_type
  use storage_constants_mod

  implicit none

  type(field_storage_type) :: field, single
  real(real64), pointer, contiguous :: on_host(:), on_device(:)
  real(real32), pointer, contiguous :: narrow(:)
  real(real64), target :: mine(4)

  call field%create(element_real64, [4], name='field')
  call field%acquire(space_host, access_write)
  call field%window(space_host, on_host)
  call check(all(ieee_is_nan(on_host)), 'new memory has no values')
  on_host = 1.0_real64
  call field%release(space_host)

  call field%acquire(space_device, access_write)
  call field%window(space_device, on_device)
  call check(all(ieee_is_nan(on_device)), 'new memory on the device has no values')
  call check(all(ieee_is_nan(on_host)), 'the host lost its values to a write on the device')
  on_device = 2.0_real64
  call field%release(space_device)

  call field%acquire(space_host, access_read_write)
  call check(all(abs(on_host - 2.0_real64) < tiny(1.0_real64)), 'the host got the values back')
  call check(all(ieee_is_nan(on_device)), 'the device lost its values to a write on the host')
  call field%release(space_host)

  mine = 3.0_real64
  call field%wrap(mine)
  call field%touch(space_device)
  call check(all(mine > 2.0_real64), 'memory of somebody else is left alone')

  call single%create(element_real32, [3])
  call single%acquire(space_device, access_write)
  call single%window(space_device, narrow)
  call check(all(ieee_is_nan(narrow(:2))), 'two reals of 32 bits are none as well')
  call check(narrow(3) < 0.0_real32, 'the rest is filled with the byte')
  call single%release(space_device)
  call finish()

end program poison
