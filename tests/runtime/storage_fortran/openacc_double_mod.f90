!> Owns an implementation of what the library calls of OpenACC, with a device that has memory of its
!> own: bytes of the host elsewhere, which nobody finds but through OpenACC.
module openacc_double_mod

  use, intrinsic :: iso_c_binding, only: c_associated, c_int, c_intptr_t, c_null_ptr, c_ptr, &
                                         c_size_t
  use storage_memory_mod, only: copy_memory, give_memory, spoil_memory, take_memory

  implicit none
  private

  public :: create, delete

  integer, parameter :: room = 1000

  integer(c_int), parameter :: some_kind = 4, other_kind = 5

  !> One range of bytes that is on a device, and how often it was asked for.
  type :: mapping_type
    integer(c_int) :: number = 0
    integer :: uses = 1
    type(c_ptr) :: host = c_null_ptr
    type(c_ptr) :: device = c_null_ptr
    integer(c_size_t) :: bytes = 0
    logical :: is_ours = .false.
  end type mapping_type

  type(mapping_type), save :: mappings(room)

  integer(c_int), save :: used = 0
  integer(c_int), save :: kind_used = some_kind
  !$omp threadprivate(used, kind_used)

contains

  !> Return the kind of device that a thread uses.
  function get_device_type() bind(c, name='acc_get_device_type') result(kind)
    integer(c_int) :: kind

    kind = kind_used
  end function get_device_type

  !> Let this thread use devices of another kind.
  subroutine set_device_type(kind) bind(c, name='acc_set_device_type')
    integer(c_int), value, intent(in) :: kind

    kind_used = kind
  end subroutine set_device_type

  !> Return how many devices there are of a kind.
  function get_num_devices(kind) bind(c, name='acc_get_num_devices') result(number)
    integer(c_int), value, intent(in) :: kind
    integer(c_int) :: number

    if (all(kind /= [some_kind, other_kind])) error stop 'no such kind of device'
    number = merge(3_c_int, 1_c_int, kind == some_kind)
  end function get_num_devices

  !> Let this thread use another device.
  subroutine set_device_num(number, kind) bind(c, name='acc_set_device_num')
    integer(c_int), value, intent(in) :: number, kind

    if (kind /= some_kind .or. number < 0 .or. number > 2) error stop 'no such device'
    used = number
  end subroutine set_device_num

  !> Return the number of the device that this thread uses.
  function get_device_num(kind) bind(c, name='acc_get_device_num') result(number)
    integer(c_int), value, intent(in) :: kind
    integer(c_int) :: number

    if (all(kind /= [some_kind, other_kind])) error stop 'no such kind of device'
    number = used
  end function get_device_num

  !> Map bytes that are not mapped yet, onto new memory of the device, as `enter data` does.
  function create(host, bytes) bind(c, name='acc_create') result(device)
    type(c_ptr), value, intent(in) :: host
    integer(c_size_t), value, intent(in) :: bytes
    type(c_ptr) :: device

    integer :: n

    n = findloc([(is_mapped(n, host), n = 1, room)], .true., 1)
    if (n > 0) then
      mappings(n)%uses = mappings(n)%uses + 1
      device = mappings(n)%device
      return
    end if
    device = new_memory(bytes)
    call map_bytes(host, device, bytes, .true.)
  end function create

  !> Return new memory of the device, which has no values.
  function new_memory(bytes) bind(c, name='acc_malloc') result(device)
    integer(c_size_t), value, intent(in) :: bytes
    type(c_ptr) :: device

    device = take_memory(bytes)
    call spoil_memory(device, bytes)
  end function new_memory

  !> Free memory of the device, which must not be mapped.
  subroutine free_memory(device) bind(c, name='acc_free')
    type(c_ptr), value, intent(in) :: device

    type(c_ptr) :: address
    integer :: n

    if (any([(c_associated(mappings(n)%device, device), n = 1, room)])) &
      error stop 'freed while it is mapped'
    address = device
    call give_memory(address)
  end subroutine free_memory

  !> Return where the device has an address, null if it has not.
  function device_pointer(host) bind(c, name='acc_deviceptr') result(device)
    type(c_ptr), value, intent(in) :: host
    type(c_ptr) :: device

    integer :: n

    device = c_null_ptr
    do n = 1, room
      if (is_mapped(n, host)) device = mappings(n)%device
    end do
  end function device_pointer

  !> Map bytes onto memory of the device that is there.
  subroutine map_data(host, device, bytes) bind(c, name='acc_map_data')
    type(c_ptr), value, intent(in) :: host, device
    integer(c_size_t), value, intent(in) :: bytes

    call map_bytes(host, device, bytes, .false.)
  end subroutine map_data

  !> Unmap bytes and free their memory on the device, as `exit data` does, when nobody needs them.
  subroutine delete(host, bytes) bind(c, name='acc_delete')
    type(c_ptr), value, intent(in) :: host
    integer(c_size_t), value, intent(in) :: bytes

    integer :: n

    n = find(host)
    if (.not. mappings(n)%is_ours .or. mappings(n)%bytes /= bytes) error stop 'wrong acc_delete'
    mappings(n)%uses = mappings(n)%uses - 1
    if (mappings(n)%uses > 0) return
    call give_memory(mappings(n)%device)
    mappings(n) = mapping_type()
  end subroutine delete

  !> Unmap bytes whose memory on the device belongs to somebody else.
  subroutine unmap_data(host) bind(c, name='acc_unmap_data')
    type(c_ptr), value, intent(in) :: host

    integer :: n

    n = find(host)
    if (mappings(n)%is_ours) error stop 'wrong acc_unmap_data'
    mappings(n) = mapping_type()
  end subroutine unmap_data

  !> Copy bytes to the device.
  subroutine update_device(host, bytes) bind(c, name='acc_update_device')
    type(c_ptr), value, intent(in) :: host
    integer(c_size_t), value, intent(in) :: bytes

    call copy_memory(device_address(host, bytes), host, bytes)
  end subroutine update_device

  !> Copy bytes from the device.
  subroutine update_self(host, bytes) bind(c, name='acc_update_self')
    type(c_ptr), value, intent(in) :: host
    integer(c_size_t), value, intent(in) :: bytes

    call copy_memory(host, device_address(host, bytes), bytes)
  end subroutine update_self

  !> Copy bytes to the device; no queue is ever behind.
  subroutine update_device_async(host, bytes, queue) bind(c, name='acc_update_device_async')
    type(c_ptr), value, intent(in) :: host
    integer(c_size_t), value, intent(in) :: bytes
    integer(c_int), value, intent(in) :: queue

    if (queue < 1) error stop 'no such queue'
    call update_device(host, bytes)
  end subroutine update_device_async

  !> Copy bytes from the device; no queue is ever behind.
  subroutine update_self_async(host, bytes, queue) bind(c, name='acc_update_self_async')
    type(c_ptr), value, intent(in) :: host
    integer(c_size_t), value, intent(in) :: bytes
    integer(c_int), value, intent(in) :: queue

    if (queue < 1) error stop 'no such queue'
    call update_self(host, bytes)
  end subroutine update_self_async

  !> Do nothing: no queue is ever behind.
  subroutine wait_for(queue) bind(c, name='acc_wait')
    integer(c_int), value, intent(in) :: queue

    if (queue < 1) error stop 'no such queue'
  end subroutine wait_for

  !> Note a mapping; it is a mistake to map twice.
  subroutine map_bytes(host, device, bytes, is_ours)
    type(c_ptr), intent(in) :: host, device
    integer(c_size_t), intent(in) :: bytes
    logical, intent(in) :: is_ours

    integer :: n

    do n = 1, room
      if (is_mapped(n, host)) error stop 'mapped twice'
    end do
    do n = 1, room
      if (c_associated(mappings(n)%host)) cycle
      mappings(n) = mapping_type(used, 1, host, device, bytes, is_ours)
      return
    end do
    error stop 'no room for another mapping'
  end subroutine map_bytes

  !> Return the number of the mapping of bytes, which must be there.
  function find(host) result(n)
    type(c_ptr), intent(in) :: host
    integer :: n

    do n = 1, room
      if (is_mapped(n, host)) return
    end do
    error stop 'not mapped'
  end function find

  !> Say whether a mapping is that of an address, on the device in use.
  function is_mapped(n, host)
    integer, intent(in) :: n
    type(c_ptr), intent(in) :: host
    logical :: is_mapped

    is_mapped = c_associated(mappings(n)%host, host) .and. mappings(n)%number == used
  end function is_mapped

  !> Return the address of the copy of bytes, which must be within some that are mapped.
  function device_address(host, bytes) result(device)
    type(c_ptr), intent(in) :: host
    integer(c_size_t), intent(in) :: bytes
    type(c_ptr) :: device

    integer(c_intptr_t) :: distance
    integer :: n

    do n = 1, room
      if (.not. c_associated(mappings(n)%host)) cycle
      distance = transfer(host, distance) - transfer(mappings(n)%host, distance)
      if (mappings(n)%number /= used) cycle
      if (distance < 0 .or. distance + bytes > mappings(n)%bytes) cycle
      device = transfer(transfer(mappings(n)%device, distance) + distance, device)
      return
    end do
    error stop 'not mapped'
  end function device_address

end module openacc_double_mod
