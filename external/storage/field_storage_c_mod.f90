!> C interface by which programs in other languages own or use field storages.
!>
!> A handle identifies a storage; `field_storage_make` creates it and `field_storage_free` ends it.
!> Each function returns a code of `storage_constants_mod`, 0 for success; `field_storage_error`
!> returns the message. Fortran code that is called with a handle gets the storage from
!> `find_storage`.
module field_storage_c_mod

  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_f_pointer, c_int, c_int64_t, &
                                         c_loc, c_null_char, c_null_ptr, c_ptr
  use array_pointers_mod, only: most_dimensions
  use coherent_storage_mod, only: storage_options_type
  use field_storage_mod, only: box_type, field_storage_type
  use storage_device_mod, only: count_devices, device_kind, choose_device => use_device
  use storage_errors_mod, only: last_error, report_error
  use storage_statistics_mod, only: get_total_statistics, reset_total_statistics, &
                                    storage_statistics_type
  use storage_constants_mod, only: error_memory, error_unknown_word, error_window, no_error

  implicit none
  private

  public :: find_storage

  !> Description of a new storage. `host` is memory that is used in place, or null; `has_values` and
  !> `read_only` are 0 or 1; only the first `dimensions` elements of `extents` are used.
  type, bind(c), public :: storage_description_type
    integer(c_int) :: element
    integer(c_int) :: dimensions
    integer(c_int64_t) :: extents(most_dimensions)
    integer(c_int) :: halo_depth
    integer(c_int) :: read_only
    integer(c_int) :: has_values
    type(c_ptr) :: host
  end type storage_description_type

contains

  !> Get the storage of a handle. Errors: 207 for a null handle.
  subroutine find_storage(handle, storage, status)
    type(c_ptr), intent(in) :: handle
    type(field_storage_type), pointer, intent(out) :: storage
    integer(c_int), optional, intent(out) :: status

    nullify (storage)
    if (present(status)) status = no_error
    if (c_associated(handle)) then
      call c_f_pointer(handle, storage)
    else
      call report_error(error_memory, 'The handle of the storage is null.', status)
    end if
  end subroutine find_storage

  !> Create a storage with a null-terminated name; `handle` is null after an error.
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
    if (description%dimensions < 1 .or. description%dimensions > most_dimensions) then
      call report_error(error_window, 'A storage has one to five dimensions.', status)
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

  !> End a storage, which invalidates its handle. Errors: 201 while it is in use.
  function end_storage(handle) bind(c, name='field_storage_free') result(status)
    type(c_ptr), value, intent(in) :: handle
    integer(c_int) :: status

    type(field_storage_type), pointer :: storage

    call find_storage(handle, storage, status)
    if (associated(storage)) call storage%destroy(status)
    if (status == no_error) deallocate (storage)
  end function end_storage

  !> Use existing memory of a device; see `attach_device`.
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

  !> Free the memory on the device; see `leave_device`.
  function leave_device(handle) bind(c, name='field_storage_leave_device') result(status)
    type(c_ptr), value, intent(in) :: handle
    integer(c_int) :: status

    type(field_storage_type), pointer :: storage

    call find_storage(handle, storage, status)
    if (associated(storage)) call storage%leave_device(status)
  end function leave_device

  !> Begin an access to the values in a space; see `acquire`.
  function acquire(handle, space, access) bind(c, name='field_storage_acquire') result(status)
    type(c_ptr), value, intent(in) :: handle
    integer(c_int), value, intent(in) :: space
    integer(c_int), value, intent(in) :: access
    integer(c_int) :: status

    type(field_storage_type), pointer :: storage

    call find_storage(handle, storage, status)
    if (associated(storage)) call storage%acquire(space, access, status)
  end function acquire

  !> Make the values current in a space and get their address there; see `obtain`.
  function get(handle, space, access, address) bind(c, name='field_storage_get') result(status)
    type(c_ptr), value, intent(in) :: handle
    integer(c_int), value, intent(in) :: space
    integer(c_int), value, intent(in) :: access
    type(c_ptr), intent(out) :: address
    integer(c_int) :: status

    type(field_storage_type), pointer :: storage

    address = c_null_ptr
    call find_storage(handle, storage, status)
    if (associated(storage)) address = storage%obtain(space, access, status)
  end function get

  !> Begin an access to blocks; see `acquire_blocks`.
  function acquire_blocks(handle, space, access, first, last) &
    bind(c, name='field_storage_acquire_blocks') result(status)
    type(c_ptr), value, intent(in) :: handle
    integer(c_int), value, intent(in) :: space
    integer(c_int), value, intent(in) :: access
    integer(c_int), value, intent(in) :: first
    integer(c_int), value, intent(in) :: last
    integer(c_int) :: status

    type(field_storage_type), pointer :: storage

    call find_storage(handle, storage, status)
    if (associated(storage)) call storage%acquire_blocks(space, access, first, last, status)
  end function acquire_blocks

  !> Begin an access to only these boxes; see `acquire_part`.
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

  !> End the last access that began in a space; see `release`.
  function release(handle, space) bind(c, name='field_storage_release') result(status)
    type(c_ptr), value, intent(in) :: handle
    integer(c_int), value, intent(in) :: space
    integer(c_int) :: status

    type(field_storage_type), pointer :: storage

    call find_storage(handle, storage, status)
    if (associated(storage)) call storage%release(space, status)
  end function release

  !> Record that all values in a space were written; see `touch`.
  function touch(handle, space) bind(c, name='field_storage_touch') result(status)
    type(c_ptr), value, intent(in) :: handle
    integer(c_int), value, intent(in) :: space
    integer(c_int) :: status

    type(field_storage_type), pointer :: storage

    call find_storage(handle, storage, status)
    if (associated(storage)) call storage%touch(space, status)
  end function touch

  !> Set the spaces whose copies are current; see `assume_valid`.
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

  !> Begin a halo exchange; see `begin_exchange`.
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

  !> Begin a halo exchange of boxes, first those that are `sent`, then those that are `received`;
  !> see `begin_exchange_of_parts`.
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

  !> End a halo exchange; see `end_exchange`.
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

  !> Set `dirty` to 1 if the halo is dirty at a depth, otherwise to 0; see `is_dirty`.
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

  !> Mark the halo dirty at all depths.
  function set_dirty(handle) bind(c, name='field_storage_set_dirty') result(status)
    type(c_ptr), value, intent(in) :: handle
    integer(c_int) :: status

    type(field_storage_type), pointer :: storage

    call find_storage(handle, storage, status)
    if (associated(storage)) call storage%set_dirty()
  end function set_dirty

  !> Mark the halo clean up to a depth; see `set_clean`.
  function set_clean(handle, depth) bind(c, name='field_storage_set_clean') result(status)
    type(c_ptr), value, intent(in) :: handle
    integer(c_int), value, intent(in) :: depth
    integer(c_int) :: status

    type(field_storage_type), pointer :: storage

    call find_storage(handle, storage, status)
    if (associated(storage)) call storage%set_clean(depth, status)
  end function set_clean

  !> Get the state of the copy in a space: its address, and whether it is current (1 or 0).
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

  !> Get the number of completed writes; see `get_version`.
  function get_version(handle, version) bind(c, name='field_storage_version') result(status)
    type(c_ptr), value, intent(in) :: handle
    integer(c_int64_t), intent(out) :: version
    integer(c_int) :: status

    type(field_storage_type), pointer :: storage

    version = 0
    call find_storage(handle, storage, status)
    if (associated(storage)) version = storage%get_version()
  end function get_version

  !> Get the counts of a storage, or the totals of all storages for a null handle.
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

  !> Reset the counts of a storage, or the totals of all storages for a null handle.
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

  !> Get the message of the last error, truncated to `length` characters including the terminating
  !> null character.
  subroutine get_error(text, length) bind(c, name='field_storage_error')
    integer(c_int), value, intent(in) :: length
    character(kind=c_char), intent(out) :: text(length)

    call set_text(text, last_error())
  end subroutine get_error

  !> Get the kind of device of this build, truncated to `length` characters including the
  !> terminating null character.
  subroutine get_device_kind(text, length) bind(c, name='field_storage_device')
    integer(c_int), value, intent(in) :: length
    character(kind=c_char), intent(out) :: text(length)

    call set_text(text, device_kind)
  end subroutine get_device_kind

  !> Set the current device of this thread.
  function use_device(number) bind(c, name='field_storage_use_device') result(status)
    integer(c_int), value, intent(in) :: number
    integer(c_int) :: status

    integer(c_int) :: devices

    status = no_error
    devices = count_devices()
    if (number >= 0 .and. number < max(devices, 1)) then
      call choose_device(number)
    else
      call report_error(error_unknown_word, 'The device does not exist.', status)
    end if
  end function use_device

  !> Return the number of devices.
  function get_device_count() bind(c, name='field_storage_devices') result(devices)
    integer(c_int) :: devices

    devices = count_devices()
  end function get_device_count

  !> Return the characters before the terminating null character.
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

  !> Set characters and a terminating null character.
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
