!> Times the calls of a field storage, and of FIELD_API's fields beside it, and prints the nanoseconds
!> of each: the least of many short rounds in which all take turns.
program loops

  use, intrinsic :: iso_fortran_env, only: int64, real64
  use field_storage_mod, only: field_storage_type
  use nothing_mod, only: nothing
  use storage_constants_mod
#ifdef FIELD_API
  use field_2rd_module, only: field_2rd, field_2rd_owner
#endif

  implicit none

  integer, parameter :: calls = 100000, rounds = 40, most = 20
  type(field_storage_type) :: field
  real(real64), pointer, contiguous :: values(:, :)
  character(64) :: names(most) = ''
  real(real64) :: least(most) = huge(1.0_real64)
  integer(int64) :: start
  integer :: at, n, round, dirty
#ifdef FIELD_API
  class(field_2rd), pointer :: other
  real(real64), pointer :: found(:, :)
#endif

  call make_fields()
  dirty = 0
  do round = 1, rounds
    at = 0
    call begin()
    do n = 1, calls
      call nothing(n)
    end do
    call finish('a procedure that does nothing')
    call field%get(space_device, access_read, values)
    call begin()
    do n = 1, calls
      call field%get(space_host, access_read, values)
    end do
    call finish('get to read what is current on the host')
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
    call begin()
    do n = 1, calls
      call field%get(space_device, access_read, values)
    end do
    call finish('get to read what is current')
    call field%touch(space_device)
    call begin()
    do n = 1, calls
      call field%get(space_device, access_read_write, values)
    end do
    call finish('get to write where it was written last')
    call begin()
    do n = 1, calls
      call field%acquire(space_device, access_read_write)
      call field%release(space_device)
    end do
    call finish('acquire to write where it was written last, and release')
    call begin()
    do n = 1, calls
      call field%acquire(space_device, access_read_write)
      call field%window(space_device, values)
      call field%release(space_device)
    end do
    call finish('the same with a window')
    call begin()
    do n = 1, calls
      call field%touch(space_device)
    end do
    call finish('touch')
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
    call field%touch(space_host)
    call begin()
    do n = 1, calls
      call field%get(space_host, access_read_write, values)
    end do
    call finish('get to write on the host where it was written last')
#ifdef FIELD_API
    call other%get_device_data_rdwr(found)
    call begin()
    do n = 1, calls
      call other%get_device_data_rdonly(found)
    end do
    call finish('FIELD_API, get_device_data_rdonly of what is current')
    call begin()
    do n = 1, calls
      call other%get_device_data_rdwr(found)
    end do
    call finish('FIELD_API, get_device_data_rdwr where it was written last')
    call other%get_host_data_rdwr(found)
    call begin()
    do n = 1, calls
      call other%get_host_data_rdonly(found)
    end do
    call finish('FIELD_API, get_host_data_rdonly of what is current')
    call begin()
    do n = 1, calls
      call other%get_host_data_rdwr(found)
    end do
    call finish('FIELD_API, get_host_data_rdwr where it was written last')
#endif
  end do
  if (dirty < calls) error stop 'a flag is lost'
  do n = 1, at
    print '(a60, f9.1, a)', names(n), least(n), ' ns'
  end do

contains

  !> Make the fields, with values on both sides.
  subroutine make_fields()
    call field%create(element_real64, [10, 100], halo_depth=2)
    call field%touch(space_host)
    call field%acquire(space_device, access_read)
    call field%release(space_device)
#ifdef FIELD_API
    allocate (field_2rd_owner :: other)
    select type (other)
    type is (field_2rd_owner)
      call other%init(ubounds=[10, 100], persistent=.true.)
    end select
    call other%get_host_data_rdwr(found)
    found = 0.0_real64
#endif
  end subroutine make_fields

  !> Start the clock.
  subroutine begin()
    call system_clock(start)
  end subroutine begin

  !> Keep the time of one call since the clock was started, if it is the least.
  subroutine finish(name)
    character(*), intent(in) :: name

    integer(int64) :: now, rate

    call system_clock(now, rate)
    at = at + 1
    names(at) = name
    least(at) = min(least(at), &
                    1.0e9_real64 * real(now - start, real64) / real(rate, real64) / calls)
  end subroutine finish

end program loops
