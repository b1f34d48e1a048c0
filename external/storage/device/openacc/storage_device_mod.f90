!> OpenACC device, called by OpenACC's C interface, which accepts addresses and bytes of any type.
!>
!> Directives in kernels find a copy by its host address, so that `present(values)` holds for a
!> window of these values. If OpenACC has no device, it uses host memory.
!>
!> Directives of user code, including `enter data`, find copies in the same way. To distinguish
!> their copies from those of storages, a copy can be hidden: OpenACC then has no mapping for it,
!> but its memory remains.
!>
!> OpenACC has one current device per thread, and its calls use it; calls for another device change
!> it temporarily. All devices have the kind of the first request; a thread that uses another kind
!> has no device.
module storage_device_mod

  use, intrinsic :: iso_c_binding, only: c_associated, c_f_pointer, c_int, c_int32_t, c_ptr, &
                                         c_size_t
  use storage_memory_mod, only: address_in
  use storage_parts_mod, only: strip_type
  use storage_constants_mod, only: space_beyond, space_device, space_host, space_of_device

  implicit none
  private

  public :: create_on_device, attach_to_device, delete_on_device, detach_from_device
  public :: show_on_device, hide_on_device, is_on_device
  public :: copy_to_device, copy_to_host, copy_strips_to_device, copy_strips_to_host
  public :: wait_for_queue, start_queue, kernel_address, spoil
  public :: use_device, current_device, count_devices, home_of

  !> Whether the device has a memory of its own; what kind of device this build has.
  logical, parameter, public :: device_has_memory = .true.
  character(*), parameter, public :: device_kind = 'openacc'

  !> Bytes per word; all elements consist of whole words.
  integer(c_size_t), parameter :: word = 4

  !> Up to this number, rows are transferred one by one; that costs about as much as one kernel and
  !> one transfer.
  integer(c_size_t), parameter :: few_rows = 16

  !> Number of devices, 0 until it is known.
  integer(c_int), save :: known_devices = 0

  !> Kind of the devices; 0, 'acc_device_none', until the first thread selects one.
  integer(c_int), parameter :: no_kind = 0
  integer(c_int), save :: known_kind = no_kind

  interface
    ! These two have no side effect that a program can observe, so that pure procedures can call
    ! them.
    pure function acc_get_device_type() bind(c, name='acc_get_device_type') result(kind)
      import :: c_int
      integer(c_int) :: kind
    end function acc_get_device_type

    pure function acc_get_device_num(kind) bind(c, name='acc_get_device_num') result(number)
      import :: c_int
      integer(c_int), value, intent(in) :: kind
      integer(c_int) :: number
    end function acc_get_device_num

    function acc_get_num_devices(kind) bind(c, name='acc_get_num_devices') result(number)
      import :: c_int
      integer(c_int), value, intent(in) :: kind
      integer(c_int) :: number
    end function acc_get_num_devices

    subroutine acc_set_device_num(number, kind) bind(c, name='acc_set_device_num')
      import :: c_int
      integer(c_int), value, intent(in) :: number, kind
    end subroutine acc_set_device_num

    function acc_create(host, bytes) bind(c, name='acc_create') result(device)
      import :: c_ptr, c_size_t
      type(c_ptr), value, intent(in) :: host
      integer(c_size_t), value, intent(in) :: bytes
      type(c_ptr) :: device
    end function acc_create

    function acc_malloc(bytes) bind(c, name='acc_malloc') result(device)
      import :: c_ptr, c_size_t
      integer(c_size_t), value, intent(in) :: bytes
      type(c_ptr) :: device
    end function acc_malloc

    subroutine acc_free(device) bind(c, name='acc_free')
      import :: c_ptr
      type(c_ptr), value, intent(in) :: device
    end subroutine acc_free

    function acc_deviceptr(host) bind(c, name='acc_deviceptr') result(device)
      import :: c_ptr
      type(c_ptr), value, intent(in) :: host
      type(c_ptr) :: device
    end function acc_deviceptr

    subroutine acc_delete(host, bytes) bind(c, name='acc_delete')
      import :: c_ptr, c_size_t
      type(c_ptr), value, intent(in) :: host
      integer(c_size_t), value, intent(in) :: bytes
    end subroutine acc_delete

    function acc_is_present(host, bytes) bind(c, name='acc_is_present') result(there)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value, intent(in) :: host
      integer(c_size_t), value, intent(in) :: bytes
      integer(c_int) :: there
    end function acc_is_present

    subroutine acc_map_data(host, device, bytes) bind(c, name='acc_map_data')
      import :: c_ptr, c_size_t
      type(c_ptr), value, intent(in) :: host, device
      integer(c_size_t), value, intent(in) :: bytes
    end subroutine acc_map_data

    subroutine acc_unmap_data(host) bind(c, name='acc_unmap_data')
      import :: c_ptr
      type(c_ptr), value, intent(in) :: host
    end subroutine acc_unmap_data

    subroutine acc_update_device(host, bytes) bind(c, name='acc_update_device')
      import :: c_ptr, c_size_t
      type(c_ptr), value, intent(in) :: host
      integer(c_size_t), value, intent(in) :: bytes
    end subroutine acc_update_device

    subroutine acc_update_self(host, bytes) bind(c, name='acc_update_self')
      import :: c_ptr, c_size_t
      type(c_ptr), value, intent(in) :: host
      integer(c_size_t), value, intent(in) :: bytes
    end subroutine acc_update_self

    subroutine acc_update_device_async(host, bytes, queue) bind(c, name='acc_update_device_async')
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value, intent(in) :: host
      integer(c_size_t), value, intent(in) :: bytes
      integer(c_int), value, intent(in) :: queue
    end subroutine acc_update_device_async

    subroutine acc_update_self_async(host, bytes, queue) bind(c, name='acc_update_self_async')
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value, intent(in) :: host
      integer(c_size_t), value, intent(in) :: bytes
      integer(c_int), value, intent(in) :: queue
    end subroutine acc_update_self_async

    subroutine acc_wait(queue) bind(c, name='acc_wait')
      import :: c_int
      integer(c_int), value, intent(in) :: queue
    end subroutine acc_wait
  end interface

contains

  !> Set the current device of this thread, also for directives.
  subroutine use_device(number)
    integer(c_int), intent(in) :: number

    call acc_set_device_num(number, acc_get_device_type())
  end subroutine use_device

  !> Return the number of the current device of this thread.
  pure function current_device() result(number)
    integer(c_int) :: number

    number = 0
    if (known_devices /= 1) number = acc_get_device_num(acc_get_device_type())
  end function current_device

  !> Return the space that provides the memory for a space: for `space_device`, that of the current
  !> device of this thread.
  pure function home_of(space) result(home)
    integer(c_int), intent(in) :: space
    integer(c_int) :: home

    integer(c_int) :: kind

    home = space
    if (space == space_host) return
    kind = acc_get_device_type()
    if (all(kind /= [known_kind, no_kind]) .and. known_kind /= no_kind) then
      home = space_beyond
    else if (space == space_device) then
      home = min(space_of_device(current_device()), space_beyond)
    end if
  end function home_of

  !> Return the number of devices of the kind that was requested first.
  function count_devices() result(devices)
    integer(c_int) :: devices

    if (known_kind == no_kind) known_kind = acc_get_device_type()
    devices = acc_get_num_devices(merge(acc_get_device_type(), known_kind, known_kind == no_kind))
    known_devices = devices
  end function count_devices

  !> Return the device address of new memory for a copy of host memory; null if none is left. The
  !> library can hide the copy, unless the device has these bytes already: because of shared memory,
  !> or by an earlier directive.
  function create_on_device(number, host, bytes, can_hide) result(device)
    integer(c_int), intent(in) :: number
    type(c_ptr), intent(in) :: host
    integer(c_size_t), intent(in) :: bytes
    logical, intent(out) :: can_hide
    type(c_ptr) :: device

    integer(c_int) :: before

    call change_device(number, before)
    device = acc_deviceptr(host)
    can_hide = .not. c_associated(device)
    if (can_hide) then
      device = acc_malloc(bytes)
      if (c_associated(device)) call acc_map_data(host, device, bytes)
    else
      device = acc_create(host, bytes)
    end if
    call change_device(before)
  end function create_on_device

  !> Use existing device memory for a copy.
  subroutine attach_to_device(number, host, device, bytes)
    integer(c_int), intent(in) :: number
    type(c_ptr), intent(in) :: host, device
    integer(c_size_t), intent(in) :: bytes

    integer(c_int) :: before

    call change_device(number, before)
    call acc_map_data(host, device, bytes)
    call change_device(before)
  end subroutine attach_to_device

  !> Free the memory of a copy, which is hidden at this time if the library can hide it.
  subroutine delete_on_device(number, host, device, bytes, can_hide)
    integer(c_int), intent(in) :: number
    type(c_ptr), intent(in) :: host
    type(c_ptr), intent(inout) :: device
    integer(c_size_t), intent(in) :: bytes
    logical, intent(in) :: can_hide

    integer(c_int) :: before

    call change_device(number, before)
    ! libgomp's 'acc_delete' and 'acc_unmap_data' fail in a thread without an earlier OpenACC call.
    if (can_hide) then
      call acc_free(device)
    else if (acc_is_present(host, bytes) /= 0) then
      call acc_delete(host, bytes)
    end if
    call change_device(before)
  end subroutine delete_on_device

  !> Detach memory that was attached.
  subroutine detach_from_device(number, host)
    integer(c_int), intent(in) :: number
    type(c_ptr), intent(in) :: host

    integer(c_int) :: before

    call change_device(number, before)
    if (acc_is_present(host, 1_c_size_t) /= 0) call acc_unmap_data(host)
    call change_device(before)
  end subroutine detach_from_device

  !> Make a hidden copy visible to directives.
  subroutine show_on_device(number, host, device, bytes)
    integer(c_int), intent(in) :: number
    type(c_ptr), intent(in) :: host, device
    integer(c_size_t), intent(in) :: bytes

    call attach_to_device(number, host, device, bytes)
  end subroutine show_on_device

  !> Hide a copy that belongs to the library from directives.
  subroutine hide_on_device(number, host)
    integer(c_int), intent(in) :: number
    type(c_ptr), intent(in) :: host

    call detach_from_device(number, host)
  end subroutine hide_on_device

  !> Return whether directives find a copy of a host address in another memory.
  function is_on_device(number, host)
    integer(c_int), intent(in) :: number
    type(c_ptr), intent(in) :: host
    logical :: is_on_device

    type(c_ptr) :: device
    integer(c_int) :: before

    call change_device(number, before)
    device = acc_deviceptr(host)
    is_on_device = c_associated(device) .and. .not. c_associated(device, host)
    call change_device(before)
  end function is_on_device

  !> Copy values from the host to the device.
  subroutine copy_to_device(number, host, device, bytes, queue)
    integer(c_int), intent(in) :: number
    type(c_ptr), intent(in) :: host, device
    integer(c_size_t), intent(in) :: bytes
    integer(c_int), optional, intent(in) :: queue

    integer(c_int) :: before

    call change_device(number, before)
    if (present(queue)) then
      call acc_update_device_async(host, bytes, queue)
    else
      call acc_update_device(host, bytes)
    end if
    call change_device(before)
  end subroutine copy_to_device

  !> Copy values from the device to the host.
  subroutine copy_to_host(number, host, device, bytes, queue)
    integer(c_int), intent(in) :: number
    type(c_ptr), intent(in) :: host, device
    integer(c_size_t), intent(in) :: bytes
    integer(c_int), optional, intent(in) :: queue

    integer(c_int) :: before

    call change_device(number, before)
    if (present(queue)) then
      call acc_update_self_async(host, bytes, queue)
    else
      call acc_update_self(host, bytes)
    end if
    call change_device(before)
  end subroutine copy_to_host

  !> Copy strips of values from the host to the device: row by row for few rows, otherwise packed.
  subroutine copy_strips_to_device(number, host, device, strips)
    integer(c_int), intent(in) :: number
    type(c_ptr), intent(in) :: host, device
    type(strip_type), intent(in) :: strips(:)

    integer(c_int32_t), pointer, contiguous :: values(:)
    integer(c_size_t) :: row, plane
    integer :: s
    integer(c_int) :: before

    call change_device(number, before)
    do s = 1, size(strips)
      if (strips(s)%rows * strips(s)%planes > few_rows) then
        call c_f_pointer(host, values, [words_to(strips(s))])
        call send_packed(values, size(values), strips(s))
        cycle
      end if
      do plane = 0, strips(s)%planes - 1
        do row = 0, strips(s)%rows - 1
          call acc_update_device(address_in(host, strips(s), row, plane), strips(s)%row_bytes)
        end do
      end do
    end do
    call change_device(before)
  end subroutine copy_strips_to_device

  !> Copy strips of values from the device to the host: row by row for few rows, otherwise packed.
  subroutine copy_strips_to_host(number, host, device, strips)
    integer(c_int), intent(in) :: number
    type(c_ptr), intent(in) :: host, device
    type(strip_type), intent(in) :: strips(:)

    integer(c_int32_t), pointer, contiguous :: values(:)
    integer(c_size_t) :: row, plane
    integer :: s
    integer(c_int) :: before

    call change_device(number, before)
    do s = 1, size(strips)
      if (strips(s)%rows * strips(s)%planes > few_rows) then
        call c_f_pointer(host, values, [words_to(strips(s))])
        call fetch_packed(values, size(values), strips(s))
        cycle
      end if
      do plane = 0, strips(s)%planes - 1
        do row = 0, strips(s)%rows - 1
          call acc_update_self(address_in(host, strips(s), row, plane), strips(s)%row_bytes)
        end do
      end do
    end do
    call change_device(before)
  end subroutine copy_strips_to_host

  !> Wait for all work in a queue.
  subroutine wait_for_queue(number, queue)
    integer(c_int), intent(in) :: number
    integer(c_int), intent(in) :: queue

    integer(c_int) :: before

    call change_device(number, before)
    call acc_wait(queue)
    call change_device(before)
  end subroutine wait_for_queue

  !> Do nothing: OpenACC starts a kernel in a queue after the earlier work in it.
  subroutine start_queue(number, queue)
    integer(c_int), intent(in) :: number
    integer(c_int), intent(in) :: queue
  end subroutine start_queue

  !> Return the address that directives for the device use: the host address.
  pure function kernel_address(host, device) result(address)
    type(c_ptr), intent(in) :: host, device
    type(c_ptr) :: address

    address = host
  end function kernel_address

  !> Do nothing: only the emulated device overwrites stale memory.
  subroutine spoil(address, bytes)
    type(c_ptr), intent(in) :: address
    integer(c_size_t), intent(in) :: bytes
  end subroutine spoil

  ! -- for this device alone ----------------------------------------------------------------------

  !> Set the current device of this thread; `before` returns the previous one.
  subroutine change_device(number, before)
    integer(c_int), intent(in) :: number
    integer(c_int), optional, intent(out) :: before

    integer(c_int) :: now

    now = current_device()
    if (present(before)) before = now
    if (now /= number) call use_device(number)
  end subroutine change_device

  !> Copy a strip of `values` to the device with one packed transfer.
  subroutine send_packed(values, all_words, strip)
    integer, intent(in) :: all_words
    integer(c_int32_t), intent(inout) :: values(all_words)
    type(strip_type), intent(in) :: strip

    integer(c_int32_t), allocatable :: packed(:)
    integer(c_size_t) :: words, rows, planes, row_step, plane_step, first, n, row, plane

    call measure(strip, first, words, rows, planes, row_step, plane_step)
    allocate (packed(words * rows * planes))
    do plane = 0, planes - 1
      do row = 0, rows - 1
        do n = 1, words
          packed((plane * rows + row) * words + n) = &
            values(first + plane * plane_step + row * row_step + n)
        end do
      end do
    end do
    !$acc parallel loop collapse(3) present(values) copyin(packed)
    do plane = 0, planes - 1
      do row = 0, rows - 1
        do n = 1, words
          values(first + plane * plane_step + row * row_step + n) = &
            packed((plane * rows + row) * words + n)
        end do
      end do
    end do
  end subroutine send_packed

  !> Copy a strip of `values` from the device with one packed transfer.
  subroutine fetch_packed(values, all_words, strip)
    integer, intent(in) :: all_words
    integer(c_int32_t), intent(inout) :: values(all_words)
    type(strip_type), intent(in) :: strip

    integer(c_int32_t), allocatable :: packed(:)
    integer(c_size_t) :: words, rows, planes, row_step, plane_step, first, n, row, plane

    call measure(strip, first, words, rows, planes, row_step, plane_step)
    allocate (packed(words * rows * planes))
    !$acc parallel loop collapse(3) present(values) copyout(packed)
    do plane = 0, planes - 1
      do row = 0, rows - 1
        do n = 1, words
          packed((plane * rows + row) * words + n) = &
            values(first + plane * plane_step + row * row_step + n)
        end do
      end do
    end do
    do plane = 0, planes - 1
      do row = 0, rows - 1
        do n = 1, words
          values(first + plane * plane_step + row * row_step + n) = &
            packed((plane * rows + row) * words + n)
        end do
      end do
    end do
  end subroutine fetch_packed

  !> Return the shape of a strip in words: its offset, the length of a row, the numbers of rows and
  !> planes, and the distances between rows and between planes.
  pure subroutine measure(strip, first, words, rows, planes, row_step, plane_step)
    type(strip_type), intent(in) :: strip
    integer(c_size_t), intent(out) :: first, words, rows, planes, row_step, plane_step

    first = strip%start / word
    words = strip%row_bytes / word
    rows = strip%rows
    planes = strip%planes
    row_step = strip%row_step / word
    plane_step = strip%plane_step / word
  end subroutine measure

  !> Return the number of words from the start of the field to the end of a strip.
  pure function words_to(strip) result(words)
    type(strip_type), intent(in) :: strip
    integer :: words

    words = int((strip%start + (strip%planes - 1) * strip%plane_step + &
                 (strip%rows - 1) * strip%row_step + strip%row_bytes) / word)
  end function words_to

end module storage_device_mod
