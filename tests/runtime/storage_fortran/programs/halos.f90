!> Shows the dirty flags of a halo: what each word does to them, and what an exchange may not meet.
program halos

  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t
  use checks_mod, only: check, check_code, finish
  use field_storage_mod, only: field_storage_type
  use storage_constants_mod

  implicit none

  type(field_storage_type) :: field
  integer(c_int) :: status

  call field%create(element_real64, [10], halo_depth=3, name='field')
  call check(field%get_halo_depth() == 3, 'depth of the halo')
  call expect('TTT', 'a new field is dirty')
  call field%acquire(space_host, access_write)
  call field%release(space_host)
  call field%begin_exchange(space_host, 2)
  call expect('TTT', 'an exchange under way cleans nothing')
  call field%acquire(space_device, access_read, status)
  call check_code(status, no_error, 'reading during an exchange')
  call field%acquire(space_host, access_read_write, status)
  call check_code(status, error_access_conflict, 'writing during an exchange')
  call field%touch(space_host, status)
  call check_code(status, error_access_conflict, 'touching during an exchange')
  call field%begin_exchange(space_host, 1, status)
  call check_code(status, error_access_conflict, 'an exchange during an exchange')
  call field%end_exchange(0_c_int64_t, 0_c_int64_t, status)
  call check_code(status, error_access_conflict, 'the end of an exchange during reading')
  call field%release(space_device)
  call field%end_exchange(1_c_int64_t, 80_c_int64_t, status)
  call check_code(status, no_error, 'the end of an exchange')
  call expect('FFT', 'an exchange cleans up to its depth')
  call field%end_exchange(0_c_int64_t, 0_c_int64_t, status)
  call check_code(status, error_no_access, 'the end of no exchange')
  call field%acquire(space_device, access_read)
  call field%release(space_device)
  call expect('FFT', 'reading and transfers leave the halo as it is')
  call field%acquire(space_device, access_read_write)
  call expect('TTT', 'writing makes it dirty')
  call field%set_clean(1)
  call field%release(space_device)
  call expect('FTT', 'what was computed is clean')
  call field%set_clean(3)
  call expect('FFF', 'all is clean')
  call field%touch(space_device)
  call expect('TTT', 'touching makes it dirty')
  call field%set_clean(2)
  call field%set_dirty()
  call expect('TTT', 'set_dirty makes it dirty')
  call field%acquire(space_host, access_write)
  call field%begin_exchange(space_host, 1, status)
  call check_code(status, error_access_conflict, 'an exchange during writing')
  call field%release(space_host)
  call field%begin_exchange(space_host, 4, status)
  call check_code(status, error_halo, 'an exchange that is too deep')
  call field%set_clean(4, status)
  call check_code(status, error_halo, 'clean beyond the halo')
  call check(field%is_dirty(0, status), 'what is not there is dirty')
  call check_code(status, error_halo, 'a halo of depth 0')
  call finish()

contains

  !> Compare the flags with a letter for each depth.
  subroutine expect(flags, what)
    character(3), intent(in) :: flags
    character(*), intent(in) :: what

    integer(c_int) :: depth

    do depth = 1, 3
      call check(field%is_dirty(depth) .eqv. flags(depth:depth) == 'T', what)
    end do
  end subroutine expect

end program halos
