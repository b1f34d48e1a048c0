!> Shows boxes, three dimensions and queues in Fortran: what a part brings and leaves behind.
program parts

  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t
  use, intrinsic :: iso_fortran_env, only: real64
  use checks_mod, only: check, check_code, finish
  use field_storage_mod, only: box_type, field_storage_type
  use storage_device_mod, only: device_has_memory
  use storage_statistics_mod, only: storage_statistics_type
  use storage_constants_mod

  implicit none

  type(field_storage_type) :: field
  real(real64), pointer, contiguous :: values(:, :, :)
  type(box_type) :: column(1), row(1), outside(1)
  type(storage_statistics_type) :: done
  integer(c_int) :: status

  column = box_type([1, 1, 1], [1, 5, 3])
  row = box_type([1, 5, 2], [4, 5, 2])
  outside = box_type([1, 1, 1], [1, 6, 1])
  call field%create(element_real64, [4, 5, 3], halo_depth=1, name='field')
  call field%acquire(space_device, access_write)
  call field%window(space_device, values)
  values = 1.0_real64
  call field%release(space_device)

  call field%acquire_part(space_host, access_read_write, column)
  call field%window(space_host, values)
  call check(all(abs(values(1, :, :) - 1.0_real64) < 0.1_real64), 'a column is brought')
  values(1, :, :) = 2.0_real64
  call field%release(space_host)
  done = field%get_statistics()
  call expect(done%to_host_bytes, 15, 'a column is 15 elements')
  call expect(done%to_device_bytes, 15, 'and goes back alone')

  call field%begin_exchange_of_parts(space_host, 1, column, row)
  call field%window(space_host, values)
  call check(all(abs(values(1, :, :) - 2.0_real64) < 0.1_real64), 'what is sent is brought')
  values(:, 5, 2) = 3.0_real64
  call field%end_exchange(1_c_int64_t, 8_c_int64_t)
  done = field%get_statistics()
  call expect(done%to_host_bytes, 30, 'a column is brought to be sent')
  call expect(done%to_device_bytes, 19, 'a row goes back alone')

  call field%begin_exchange_of_parts(space_host, 1, column, row)
  call field%acquire(space_device, access_read, queue=1)
  call field%release(space_device, queue=1)
  call field%window(space_host, values)
  values(:, 5, 2) = 3.0_real64
  call field%end_exchange(1_c_int64_t, 8_c_int64_t)
  call check(field%state%coherence%get_queue() == 0, 'queues are awaited before a row goes back')

  call field%acquire(space_device, access_read)
  call field%window(space_device, values)
  call check(all(abs(values(:, 5, 2) - 3.0_real64) < 0.1_real64), 'what was received is there')
  call check(all(abs(values(1, :, 1) - 2.0_real64) < 0.1_real64), 'what was written is there')
  call check(all(abs(values(2:, :4, :) - 1.0_real64) < 0.1_real64), 'all else is as it was')
  call field%release(space_device)

  call field%acquire_part(space_host, access_read, outside, status)
  call check_code(status, error_window, 'a part outside of the field')
  call look_at_queues()
  call finish()

contains

  !> A copy in a queue is there for what is put into the queue, and for the host after waiting.
  subroutine look_at_queues()
    call field%acquire(space_device, access_read_write, queue=1)
    call field%window(space_device, values)
    values = 4.0_real64
    call field%release(space_device, queue=1)
    call field%acquire(space_host, access_read, queue=2)
    call field%wait()
    call field%window(space_host, values)
    call check(all(abs(values - 4.0_real64) < 0.1_real64), 'values are there after waiting')
    call field%release(space_host)
    call field%acquire(space_host, access_read_write)
    values = 5.0_real64
    call field%release(space_host)
    call field%acquire(space_device, access_read, queue=3)
    call field%window(space_device, values)
    call check(all(abs(values - 5.0_real64) < 0.1_real64), 'the queue finds what it asked for')
    call field%release(space_device, queue=3)
    call field%acquire(space_host, access_read_write)
    call field%window(space_host, values)
    values = 6.0_real64
    call field%release(space_host)
    call field%acquire(space_device, access_read_write, queue=1)
    call field%window(space_device, values)
    call check(all(abs(values - 6.0_real64) < 0.1_real64), 'what is going to be written is brought')
    values = 7.0_real64
    call field%release(space_device, queue=1)
    call field%acquire(space_host, access_read_write, queue=1)
    call field%wait()
    call field%window(space_host, values)
    call check(all(abs(values - 7.0_real64) < 0.1_real64), 'on the host, too')
    call field%release(space_host)
  end subroutine look_at_queues

  !> Compare bytes with a number of elements, if anything moves at all.
  subroutine expect(bytes, elements, what)
    integer(c_int64_t), intent(in) :: bytes
    integer, intent(in) :: elements
    character(*), intent(in) :: what

    call check(bytes == merge(8 * elements, 0, device_has_memory), what)
  end subroutine expect

end program parts
