!> Owns the interface for C, by which programs in other languages own or use field storages.
!>
!> A storage is known by a handle, which `field_storage_make` gives and `field_storage_free` takes.
!> Every function returns a code of `storage_words_mod`, 0 if all is well; `field_storage_error`
!> says what was wrong. Fortran code that is called with a handle finds the storage by
!> `find_storage`.
module field_storage_c_mod

  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_f_pointer, c_int, c_int64_t, &
                                         c_loc, c_null_char, c_null_ptr, c_ptr
  use coherent_storage_mod, only: storage_options_type
  use field_storage_mod, only: box_type, field_storage_type
  use storage_device_mod, only: count_devices, device_kind, choose_device => use_device
  use storage_errors_mod, only: last_error, report_error
  use storage_statistics_mod, only: get_total_statistics, reset_total_statistics, &
                                    storage_statistics_type
  use storage_words_mod, only: error_memory, error_unknown_word, error_window, no_error

  implicit none
  private

  public :: find_storage

  !> How a storage is made. `host` is memory that is used as it is, or null; `has_values` and
  !> `read_only` are 0 or 1; of `extents` the first `dimensions` count.
  type, bind(c), public :: storage_description_type
    integer(c_int) :: element
    integer(c_int) :: dimensions
    integer(c_int64_t) :: extents(3)
    integer(c_int) :: halo_depth
    integer(c_int) :: read_only
    integer(c_int) :: has_values
    type(c_ptr) :: host
  end type storage_description_type

contains

  !> Set `storage` to the storage of a handle. Errors: 207 for a null handle.
  subroutine find_storage(handle, storage, status)
    type(c_ptr), intent(in) :: handle
    type(field_storage_type), pointer, intent(out) :: storage
    integer(c_int), optional, intent(out) :: status

    nullify (storage)
    if (present(status)) status = no_error
    if (c_associated(handle)) then
      call c_f_pointer(handle, storage)
    else
      call report_error(error_memory, 'There is no storage at a null handle.', status)
    end if
  end subroutine find_storage

  !> Make a storage whose name ends with a null character; `handle` is null if it is refused.
  function make(description, name, handle) bind(c, name='field_storage_make') result(status)
    type(storage_description_type), intent(in) :: description
    character(kind=c_char), intent(in) :: name(*)
    type(c_ptr), intent(out) :: handle
    integer(c_int) :: status

    type(field_storage_type), pointer :: storage
    type(storage_options_type) :: options

    handle = c_null_ptr
    options%name = fortran_text(name)
    options%halo_depth = description%halo_depth
    options%read_only = description%read_only /= 0
    options%has_values = description%has_values /= 0
    options%host = description%host
    if (description%dimensions < 1 .or. description%dimensions > 3) then
      call report_error(error_window, 'A storage has one to three dimensions.', status)
      return
    end if
    allocate (storage)
    call storage%describe(description%element, description%extents(:description%dimensions), &
                          options, status)
    if (status == no_error) then
      handle = c_loc(storage)
    else
      deallocate (storage)
    end if
  end function make

  !> End a storage; its handle is not valid any more. Errors: 201 while it is used.
  function end_storage(handle) bind(c, name='field_storage_free') result(status)
    type(c_ptr), value, intent(in) :: handle
    integer(c_int) :: status

    type(field_storage_type), pointer :: storage

    call find_storage(handle, storage, status)
    if (associated(storage)) call storage%destroy(status)
    if (status == no_error) deallocate (storage)
  end function end_storage

  !> Use memory of a device that is there; as `attach_device`.
  function attach_device(handle, space, address) bind(c, name='field_storage_attach_device') &
    result(status)
    type(c_ptr), value, intent(in) :: handle
    integer(c_int), value, intent(in) :: space
    type(c_ptr), value, intent(in) :: address
    integer(c_int) :: status

    type(field_storage_type), pointer :: storage

    call find_storage(handle, storage, status)
    if (associated(storage)) call storage%attach_device(address, status, space)
  end function attach_device

  !> Give up the memory on the device; as `leave_device`.
  function leave_device(handle) bind(c, name='field_storage_leave_device') result(status)
    type(c_ptr), value, intent(in) :: handle
    integer(c_int) :: status

    type(field_storage_type), pointer :: storage

    call find_storage(handle, storage, status)
    if (associated(storage)) call storage%leave_device(status)
  end function leave_device

  !> Begin to use the values in a space; as `acquire`.
  function acquire(handle, space, access) bind(c, name='field_storage_acquire') result(status)
    type(c_ptr), value, intent(in) :: handle
    integer(c_int), value, intent(in) :: space
    integer(c_int), value, intent(in) :: access
    integer(c_int) :: status

    type(field_storage_type), pointer :: storage

    call find_storage(handle, storage, status)
    if (associated(storage)) call storage%acquire(space, access, status)
  end function acquire

  !> Begin to use so many boxes alone; as `acquire_part`.
  function acquire_part(handle, space, access, boxes, count) &
    bind(c, name='field_storage_acquire_part') result(status)
    type(c_ptr), value, intent(in) :: handle
    integer(c_int), value, intent(in) :: space
    integer(c_int), value, intent(in) :: access
    integer(c_int), value, intent(in) :: count
    type(box_type), intent(in) :: boxes(count)
    integer(c_int) :: status

    type(field_storage_type), pointer :: storage

    call find_storage(handle, storage, status)
    if (associated(storage)) call storage%acquire_part(space, access, boxes, status)
  end function acquire_part

  !> End the access in a space that began last; as `release`.
  function release(handle, space) bind(c, name='field_storage_release') result(status)
    type(c_ptr), value, intent(in) :: handle
    integer(c_int), value, intent(in) :: space
    integer(c_int) :: status

    type(field_storage_type), pointer :: storage

    call find_storage(handle, storage, status)
    if (associated(storage)) call storage%release(space, status)
  end function release

  !> Note that all values in a space are new; as `touch`.
  function touch(handle, space) bind(c, name='field_storage_touch') result(status)
    type(c_ptr), value, intent(in) :: handle
    integer(c_int), value, intent(in) :: space
    integer(c_int) :: status

    type(field_storage_type), pointer :: storage

    call find_storage(handle, storage, status)
    if (associated(storage)) call storage%touch(space, status)
  end function touch

  !> Take the caller's word for the spaces where the values are current; as `assume_valid`.
  function assume_valid(handle, spaces, number) bind(c, name='field_storage_assume_valid') &
    result(status)
    type(c_ptr), value, intent(in) :: handle
    integer(c_int), value, intent(in) :: number
    integer(c_int), intent(in) :: spaces(number)
    integer(c_int) :: status

    type(field_storage_type), pointer :: storage

    call find_storage(handle, storage, status)
    if (associated(storage)) call storage%assume_valid(spaces, status)
  end function assume_valid

  !> Begin a halo exchange; as `begin_exchange`.
  function begin_exchange(handle, space, depth) bind(c, name='field_storage_begin_exchange') &
    result(status)
    type(c_ptr), value, intent(in) :: handle
    integer(c_int), value, intent(in) :: space
    integer(c_int), value, intent(in) :: depth
    integer(c_int) :: status

    type(field_storage_type), pointer :: storage

    call find_storage(handle, storage, status)
    if (associated(storage)) call storage%begin_exchange(space, depth, status)
  end function begin_exchange

  !> Begin a halo exchange by boxes: `sent` of them, then `received`; as `begin_exchange_of_parts`.
  function begin_exchange_of_parts(handle, space, depth, boxes, sent, received) &
    bind(c, name='field_storage_begin_exchange_of_parts') result(status)
    type(c_ptr), value, intent(in) :: handle
    integer(c_int), value, intent(in) :: space
    integer(c_int), value, intent(in) :: depth
    integer(c_int), value, intent(in) :: sent
    integer(c_int), value, intent(in) :: received
    type(box_type), intent(in) :: boxes(sent + received)
    integer(c_int) :: status

    type(field_storage_type), pointer :: storage

    call find_storage(handle, storage, status)
    if (associated(storage)) then
      call storage%begin_exchange_of_parts(space, depth, boxes(:sent), boxes(sent + 1:), status)
    end if
  end function begin_exchange_of_parts

  !> End a halo exchange; as `end_exchange`.
  function end_exchange(handle, messages, bytes) bind(c, name='field_storage_end_exchange') &
    result(status)
    type(c_ptr), value, intent(in) :: handle
    integer(c_int64_t), value, intent(in) :: messages
    integer(c_int64_t), value, intent(in) :: bytes
    integer(c_int) :: status

    type(field_storage_type), pointer :: storage

    call find_storage(handle, storage, status)
    if (associated(storage)) call storage%end_exchange(messages, bytes, status)
  end function end_exchange

  !> Set `dirty` to 1 if the halo is stale at a depth, else 0; as `is_dirty`.
  function is_dirty(handle, depth, dirty) bind(c, name='field_storage_is_dirty') result(status)
    type(c_ptr), value, intent(in) :: handle
    integer(c_int), value, intent(in) :: depth
    integer(c_int), intent(out) :: dirty
    integer(c_int) :: status

    type(field_storage_type), pointer :: storage

    dirty = 1
    call find_storage(handle, storage, status)
    if (associated(storage)) dirty = merge(1, 0, storage%is_dirty(depth, status))
  end function is_dirty

  !> Note that the halo is stale at every depth.
  function set_dirty(handle) bind(c, name='field_storage_set_dirty') result(status)
    type(c_ptr), value, intent(in) :: handle
    integer(c_int) :: status

    type(field_storage_type), pointer :: storage

    call find_storage(handle, storage, status)
    if (associated(storage)) call storage%set_dirty()
  end function set_dirty

  !> Note that the halo is current up to a depth; as `set_clean`.
  function set_clean(handle, depth) bind(c, name='field_storage_set_clean') result(status)
    type(c_ptr), value, intent(in) :: handle
    integer(c_int), value, intent(in) :: depth
    integer(c_int) :: status

    type(field_storage_type), pointer :: storage

    call find_storage(handle, storage, status)
    if (associated(storage)) call storage%set_clean(depth, status)
  end function set_clean

  !> Set what there is to know of one space: the address of the copy there, and whether it is
  !> current, 0 or 1.
  function ask(handle, space, address, valid) bind(c, name='field_storage_ask') result(status)
    type(c_ptr), value, intent(in) :: handle
    integer(c_int), value, intent(in) :: space
    type(c_ptr), intent(out) :: address
    integer(c_int), intent(out) :: valid
    integer(c_int) :: status

    type(field_storage_type), pointer :: storage

    address = c_null_ptr
    valid = 0
    call find_storage(handle, storage, status)
    if (.not. associated(storage)) return
    if (.not. storage%is_usable(space, status)) return
    address = storage%get_address(space)
    valid = merge(1, 0, storage%is_valid(space))
  end function ask

  !> Set the number of writes that have ended; as `get_version`.
  function get_version(handle, version) bind(c, name='field_storage_version') result(status)
    type(c_ptr), value, intent(in) :: handle
    integer(c_int64_t), intent(out) :: version
    integer(c_int) :: status

    type(field_storage_type), pointer :: storage

    version = 0
    call find_storage(handle, storage, status)
    if (associated(storage)) version = storage%get_version()
  end function get_version

  !> Set what was done for a storage, for all storages if the handle is null.
  function get_statistics(handle, statistics) bind(c, name='field_storage_statistics') &
    result(status)
    type(c_ptr), value, intent(in) :: handle
    type(storage_statistics_type), intent(out) :: statistics
    integer(c_int) :: status

    type(field_storage_type), pointer :: storage

    status = no_error
    if (c_associated(handle)) then
      call find_storage(handle, storage, status)
      statistics = storage%get_statistics()
    else
      statistics = get_total_statistics()
    end if
  end function get_statistics

  !> Start the count of a storage from nothing, that of all storages if the handle is null.
  function reset_statistics(handle) bind(c, name='field_storage_reset_statistics') result(status)
    type(c_ptr), value, intent(in) :: handle
    integer(c_int) :: status

    type(field_storage_type), pointer :: storage

    status = no_error
    if (c_associated(handle)) then
      call find_storage(handle, storage, status)
      call storage%reset_statistics()
    else
      call reset_total_statistics()
    end if
  end function reset_statistics

  !> Set `text` to the sentence of the last error, cut to `length` characters, the last one null.
  subroutine get_error(text, length) bind(c, name='field_storage_error')
    integer(c_int), value, intent(in) :: length
    character(kind=c_char), intent(out) :: text(length)

    call set_text(text, last_error())
  end subroutine get_error

  !> Set `text` to the kind of device of this build, cut to `length` characters, the last one null.
  subroutine get_device_kind(text, length) bind(c, name='field_storage_device')
    integer(c_int), value, intent(in) :: length
    character(kind=c_char), intent(out) :: text(length)

    call set_text(text, device_kind)
  end subroutine get_device_kind

  !> Let this thread use the device with a number from now on.
  function use_device(number) bind(c, name='field_storage_use_device') result(status)
    integer(c_int), value, intent(in) :: number
    integer(c_int) :: status

    integer(c_int) :: devices

    status = no_error
    devices = count_devices()
    if (number >= 0 .and. number < max(devices, 1)) then
      call choose_device(number)
    else
      call report_error(error_unknown_word, 'There is no such device.', status)
    end if
  end function use_device

  !> Return how many devices there are.
  function get_device_count() bind(c, name='field_storage_devices') result(devices)
    integer(c_int) :: devices

    devices = count_devices()
  end function get_device_count

  !> Return the characters before the null character.
  pure function fortran_text(text) result(copy)
    character(kind=c_char), intent(in) :: text(*)
    character(:), allocatable :: copy

    integer :: length, n

    length = 0
    do while (text(length + 1) /= c_null_char)
      length = length + 1
    end do
    allocate (character(length) :: copy)
    do n = 1, length
      copy(n:n) = text(n)
    end do
  end function fortran_text

  !> Set characters and a null character behind them.
  pure subroutine set_text(text, copied)
    character(kind=c_char), intent(out) :: text(:)
    character(*), intent(in) :: copied

    integer :: n

    text = c_null_char
    do n = 1, min(len(copied), size(text) - 1)
      text(n) = copied(n:n)
    end do
  end subroutine set_text

end module field_storage_c_mod
