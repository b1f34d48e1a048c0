!> Uses several devices of one process: by the device that a thread uses, and by each one's space.
program devices

  use, intrinsic :: iso_c_binding, only: c_int
  use, intrinsic :: iso_fortran_env, only: real64
  use checks_mod, only: check, check_code, finish
  use field_storage_mod, only: field_storage_type
  use storage_device_mod, only: count_devices, current_device, device_has_memory, device_kind, &
                                use_device, wait_for_queue
  use storage_errors_mod, only: last_error
  use storage_statistics_mod, only: storage_statistics_type
  use storage_constants_mod, only: access_read, access_read_write, access_write, element_real64, &
                               error_access_conflict, error_lost_values, error_memory, &
                               error_no_access, error_unknown_word, most_devices, no_error, &
                               space_device, space_host, space_of_device

  implicit none

  integer(c_int) :: others

  others = count_devices()
  call check(current_device() == 0, 'a thread uses the first device at first')
  if (others > 1) then
    call follow_the_device_in_use()
    call name_devices()
    call leave_one_device()
    call queue_on_two_devices()
    call exchange_on_a_device()
    call use_devices_in_threads()
  end if
  call ask_for_devices_that_are_none()
  call finish()

contains

  !> Make a field whose values are on the host.
  subroutine make(field, value)
    type(field_storage_type), intent(inout) :: field
    real(real64), intent(in) :: value

    real(real64), pointer, contiguous :: values(:)

    call field%create(element_real64, [5], halo_depth=1, name='field')
    call field%acquire(space_host, access_write)
    call field%window(space_host, values)
    values = value
    call field%release(space_host)
  end subroutine make

  !> Say whether a field has one value everywhere in a space.
  function has(field, space, value)
    type(field_storage_type), intent(inout) :: field
    integer(c_int), intent(in) :: space
    real(real64), intent(in) :: value
    logical :: has

    real(real64), pointer, contiguous :: values(:)

    call field%acquire(space, access_read)
    call field%window(space, values)
    has = all(abs(values - value) < 0.5_real64)
    call field%release(space)
  end function has

  !> Write one value everywhere in a space.
  subroutine set(field, space, value)
    type(field_storage_type), intent(inout) :: field
    integer(c_int), intent(in) :: space
    real(real64), intent(in) :: value

    real(real64), pointer, contiguous :: values(:)

    call field%acquire(space, access_read_write)
    call field%window(space, values)
    values = value
    call field%release(space)
  end subroutine set

  subroutine follow_the_device_in_use()
    type(field_storage_type) :: field
    type(storage_statistics_type) :: done
    integer(c_int) :: status

    call make(field, 1.0_real64)
    call set(field, space_device, 2.0_real64)
    call use_device(1_c_int)
    call check(.not. field%is_valid(space_device), 'the other device has nothing yet')
    call check(has(field, space_device, 2.0_real64), 'what one device wrote reaches the other')
    call check(field%is_valid(space_of_device(0)), 'the device that wrote keeps its values')
    call check(field%is_valid(space_host), 'what passed through the host is current there')
    done = field%get_statistics()
    call check(done%to_device == 2 .and. done%to_host == 1, 'to the device, back, to the other')
    call field%acquire(space_device, access_read_write)
    call check(.not. field%is_valid(space_of_device(0)), 'a write makes the other device stale')
    call use_device(0_c_int)
    call field%release(space_device, status)
    call check_code(status, error_no_access, 'release on a device that has no access')
    call field%acquire(space_device, access_read, status)
    call check_code(status, error_access_conflict, 'read on a device while another writes')
    call check(index(last_error(), 'write access at device 1') > 0, 'the message names it')
    call field%touch(space_device, status)
    call check_code(status, error_access_conflict, 'touch on a device while another writes')
    call use_device(1_c_int)
    call field%release(space_device)
    call use_device(0_c_int)
  end subroutine follow_the_device_in_use

  subroutine name_devices()
    type(field_storage_type) :: field
    integer(c_int) :: status

    call make(field, 1.0_real64)
    call set(field, space_of_device(1), 3.0_real64)
    call check(has(field, space_of_device(0), 3.0_real64), 'a device by its space')
    call field%acquire(space_of_device(0), access_read)
    call field%acquire(space_of_device(1), access_read)
    call field%acquire(space_host, access_read)
    call field%acquire(space_of_device(1), access_read_write, status)
    call check_code(status, error_access_conflict, 'write while others read')
    call field%release(space_host)
    call field%release(space_of_device(0))
    call field%acquire(space_of_device(1), access_read_write, status)
    call check_code(status, no_error, 'write where alone reads are')
    call field%release(space_of_device(1))
    call field%release(space_of_device(1))
    call field%assume_valid([space_device])
    call check(field%is_valid(space_of_device(0)) .and. .not. field%is_valid(space_of_device(1)), &
               'the word of a caller is about the device in use')
  end subroutine name_devices

  subroutine leave_one_device()
    type(field_storage_type) :: field
    integer(c_int) :: status

    call make(field, 4.0_real64)
    call check(has(field, space_of_device(0), 4.0_real64), 'a first copy')
    call set(field, space_of_device(1), 5.0_real64)
    call field%leave_device(status)
    call check_code(status, no_error, 'leave a device that is stale')
    call check(field%has_device_memory(), 'the other device keeps its memory')
    call use_device(1_c_int)
    call field%leave_device(status)
    call check_code(status, error_lost_values, 'leave the device that has the only values')
    call use_device(0_c_int)
    call check(has(field, space_device, 5.0_real64), 'what the other device had')
  end subroutine leave_one_device

  !> Queue 1 of one device is not queue 1 of another, and none is forgotten for another.
  subroutine queue_on_two_devices()
    type(field_storage_type) :: field
    real(real64), pointer, contiguous :: values(:)

    call make(field, 6.0_real64)
    call field%acquire(space_of_device(1), access_read, queue=1)
    call field%release(space_of_device(1), queue=1)
    call field%acquire(space_of_device(0), access_read, queue=1)
    call field%release(space_of_device(0), queue=1)
    call check(has(field, space_of_device(1), 6.0_real64), 'what a queue of device 1 brought')
    call check(has(field, space_of_device(0), 6.0_real64), 'what a queue of device 0 brought')
    call set(field, space_of_device(1), 7.0_real64)
    call field%acquire(space_host, access_read, queue=2)
    call field%release(space_host, queue=2)
    call field%wait()
    call check(has(field, space_host, 7.0_real64), 'what was prefetched from device 1')

    call set(field, space_of_device(0), 8.0_real64)
    call use_device(1_c_int)
    call field%acquire(space_host, access_read, queue=1)
    call wait_for_queue(1_c_int, 1_c_int)
    call field%window(space_host, values)
    call check(all(abs(values - 8.0_real64) < 0.5_real64), 'what a queue of the device in use has')
    call field%release(space_host, queue=1)
    call use_device(0_c_int)

    call set(field, space_host, 9.0_real64)
    call field%acquire(space_of_device(1), access_read)
    call field%acquire(space_of_device(0), access_read, queue=1)
    call field%release(space_of_device(1), queue=1)
    call check(has(field, space_of_device(0), 9.0_real64), 'a copy under way for another reader')
    call field%release(space_of_device(0))
  end subroutine queue_on_two_devices

  subroutine exchange_on_a_device()
    type(field_storage_type) :: field
    real(real64), pointer, contiguous :: values(:)

    call make(field, 8.0_real64)
    call check(has(field, space_of_device(0), 8.0_real64), 'a copy that is going to be stale')
    call field%begin_exchange(space_of_device(1), 1_c_int)
    call field%window(space_of_device(1), values)
    values(5) = 8.25_real64
    call field%end_exchange(1_8, 8_8)
    call check(.not. field%is_valid(space_host), 'the host lacks the halo')
    call check(.not. field%is_valid(space_of_device(0)), 'so does the other device')
    call field%acquire(space_of_device(0), access_read)
    call field%window(space_of_device(0), values)
    call check(abs(values(5) - 8.25_real64) < 0.01_real64, 'the halo reaches it')
    call field%release(space_of_device(0))
  end subroutine exchange_on_a_device

  !> Each thread has a device of its own, and a part of the work.
  subroutine use_devices_in_threads()
    type(field_storage_type) :: fields(2)
    integer :: n, step

    do n = 1, 2
      call make(fields(n), 0.0_real64)
    end do
    !$omp parallel do num_threads(2) schedule(static, 1) private(step)
    do n = 1, 2
      call use_device(int(n - 1, c_int))
      do step = 1, 50
        call set(fields(n), space_device, real(step, real64))
      end do
      call use_device(0_c_int)
    end do
    !$omp end parallel do
    do n = 1, 2
      call check(has(fields(n), space_host, 50.0_real64), 'what a thread wrote')
      call check(fields(n)%is_valid(space_of_device(int(n - 1, c_int))), 'on its device')
    end do
    call check(has(fields(1), space_of_device(1), 50.0_real64), 'read on the other device')
  end subroutine use_devices_in_threads

  subroutine ask_for_devices_that_are_none()
    type(field_storage_type) :: field
    integer(c_int) :: status

    call make(field, 9.0_real64)
    if (device_kind == 'emulated') then
      call use_device(most_devices)
      call field%acquire(space_device, access_read, status)
      call check_code(status, error_memory, 'a device in use that is not there')
      call use_device(-1_c_int)
      call field%touch(space_device, status)
      call check_code(status, error_memory, 'a device with a number below 0')
      call use_device(0_c_int)
    end if
    call field%acquire(space_of_device(most_devices), access_read, status)
    call check_code(status, error_unknown_word, 'a device beyond those that may have copies')
    if (.not. device_has_memory .or. others >= most_devices) return
    call field%acquire(space_of_device(most_devices - 1), access_read, status)
    call check_code(status, error_memory, 'a device that is not there')
    call check(index(last_error(), 'does not exist') > 0, 'the message says so')
    call check(has(field, space_host, 9.0_real64), 'the values stay')
  end subroutine ask_for_devices_that_are_none

end program devices
