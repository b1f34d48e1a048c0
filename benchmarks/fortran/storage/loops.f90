!> Times the calls of a field storage, and prints the nanoseconds of each.
program loops

  use, intrinsic :: iso_fortran_env, only: int64, real64
  use field_storage_mod, only: field_storage_type
  use nothing_mod, only: nothing
  use storage_words_mod

  implicit none

  integer, parameter :: calls = 2000000
  type(field_storage_type) :: field
  real(real64), pointer, contiguous :: values(:)
  integer(int64) :: start
  integer :: n, dirty

  call field%create(element_real64, [1000], halo_depth=2)
  call field%touch(space_host)
  call field%acquire(space_device, access_read)
  call field%release(space_device)
  call begin()
  do n = 1, calls
    call nothing(n)
  end do
  call finish('a procedure that does nothing')
  call begin()
  do n = 1, calls
    call field%acquire(space_device, access_read)
    call field%release(space_device)
  end do
  call finish('acquire to read what is current, and release')
  call begin()
  do n = 1, calls
    call field%acquire(space_device, access_read)
    call field%window(space_device, values)
    call field%release(space_device)
  end do
  call finish('the same with a window')
  call field%touch(space_device)
  call begin()
  do n = 1, calls
    call field%acquire(space_device, access_read_write)
    call field%release(space_device)
  end do
  call finish('acquire to write where it was written last, and release')
  call begin()
  do n = 1, calls
    call field%touch(space_device)
  end do
  call finish('touch')
  dirty = 0
  call begin()
  do n = 1, calls
    if (field%is_dirty(1 + mod(n, 2))) dirty = dirty + 1
  end do
  call finish('is_dirty')
  call begin()
  do n = 1, calls
    call field%set_dirty()
    call field%set_clean(1)
  end do
  call finish('set_dirty and set_clean')
  if (dirty /= calls) error stop

contains

  !> Start the clock.
  subroutine begin()
    call system_clock(start)
  end subroutine begin

  !> Print the time of one call since the clock was started.
  subroutine finish(name)
    character(*), intent(in) :: name

    integer(int64) :: now, rate

    call system_clock(now, rate)
    print '(a56, f9.1, a)', adjustl(name // repeat(' ', 56)), &
      1.0e9_real64 * real(now - start, real64) / real(rate, real64) / calls, ' ns'
  end subroutine finish

end program loops
