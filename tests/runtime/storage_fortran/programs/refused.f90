!> Does what a storage with a device refuses, and compares what is said; nothing is changed by it.
program refused

  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_loc
  use, intrinsic :: iso_fortran_env, only: real64
  use checks_mod, only: check, check_code, finish
  use coherent_storage_mod, only: storage_options_type
  use field_storage_mod, only: field_storage_type
  use storage_errors_mod, only: last_error
  use storage_constants_mod

  implicit none

  type(field_storage_type) :: field, fixed
  type(storage_options_type) :: options
  real(real64), target :: mine(4), on_device(4)
  integer(c_int) :: status

  mine = 1.0_real64
  options%name = 'field'
  options%host = c_loc(mine)
  options%has_values = .true.
  options%halo_depth = 1
  call field%describe(element_real64, [4_c_int64_t], options, status)
  call field%attach_device(c_loc(on_device), status)
  call check_code(status, no_error, 'memory of the device')
  call field%attach_device(c_loc(on_device), status)
  call expect(error_memory_in_use, 'already has memory on the device')
  call field%leave_device(status)
  call expect(error_memory_in_use, &
              'cannot free device memory that was attached: its owner frees it')
  call field%acquire(space_device, access_read)
  call field%leave_device(status)
  call expect(error_access_conflict, &
              'cannot free its device memory during a read access at the device')
  call field%destroy(status)
  call expect(error_access_conflict, 'cannot be destroyed during a read access at the device')
  call field%touch(space_host, status)
  call expect(error_access_conflict, &
              'cannot be touched at the host during a read access at the device')
  call field%release(space_device)
  call check(field%is_valid(space_host) .and. field%is_valid(space_device), 'both are current')

  call field%create(element_real64, [4], name='field')
  call field%acquire(space_device, access_write)
  call field%release(space_device)
  call field%leave_device(status)
  call expect(error_lost_values, &
              'has its only current values on the device: acquire it on the host first')
  call field%leave_device(status)
  call check(field%has_device_memory(), 'the only values are kept')

  options%read_only = .true.
  options%name = 'field'
  call fixed%describe(element_real64, [4_c_int64_t], options, status)
  call fixed%touch(space_host, status)
  call expect(error_read_only, 'is read-only')
  call fixed%begin_exchange(space_host, 1_c_int, status)
  call expect(error_read_only, 'is read-only')
  call finish()

contains

  !> Compare the code and the sentence of what was refused last.
  subroutine expect(code, predicate)
    integer(c_int), intent(in) :: code
    character(*), intent(in) :: predicate

    call check_code(status, code, predicate)
    call check(last_error() == '"field" ' // predicate // '.', last_error())
  end subroutine expect

end program refused
