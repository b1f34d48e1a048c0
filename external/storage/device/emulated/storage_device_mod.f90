!> Emulated device for machines without one: separate host memory that is overwritten with NaN when
!> it is stale.
!>
!> Kernels for the device run on the host and use this memory, so that a missing transfer gives
!> wrong results, as on a real device. OpenACC directives may be enabled or not.
module storage_device_mod

  use, intrinsic :: iso_c_binding, only: c_associated, c_int, c_null_ptr, c_ptr, c_size_t
  use storage_memory_mod, only: copy_memory, copy_strips, give_memory, spoil_memory, take_memory
  use storage_parts_mod, only: strip_type
  use storage_constants_mod, only: most_devices, space_beyond, space_device, space_of_device

  implicit none
  private

  public :: create_on_device, attach_to_device, delete_on_device, detach_from_device
  public :: show_on_device, hide_on_device, is_on_device
  public :: copy_to_device, copy_to_host, copy_strips_to_device, copy_strips_to_host
  public :: wait_for_queue, start_queue, kernel_address, spoil
  public :: use_device, current_device, count_devices, home_of

  !> Whether the device has its own memory, and the kind of the device.
  logical, parameter, public :: device_has_memory = .true.
  character(*), parameter, public :: device_kind = 'emulated'

  !> A copy in a queue of a device; the number 0 is no queue.
  type :: queued_copy_type
    integer(c_int) :: device = 0
    integer(c_int) :: queue = 0
    type(c_ptr) :: to = c_null_ptr
    type(c_ptr) :: from = c_null_ptr
    integer(c_size_t) :: bytes = 0
  end type queued_copy_type

  integer, parameter :: room = 256
  type(queued_copy_type), save :: queues(room)
  integer, save :: queued = 0
  integer(c_int), save :: lock_word = 0

  integer(c_int), save :: used = 0
  !$omp threadprivate(used)

contains

  !> Set the current device of this thread.
  subroutine use_device(number)
    integer(c_int), intent(in) :: number

    used = number
  end subroutine use_device

  !> Return the number of the current device of this thread; initially 0.
  pure function current_device() result(number)
    integer(c_int) :: number

    number = used
  end function current_device

  !> Return the space that provides the memory for a space: for `space_device`, that of the current
  !> device of this thread; `space_beyond` if the device does not exist.
  pure function home_of(space) result(home)
    integer(c_int), intent(in) :: space
    integer(c_int) :: home

    home = space
    if (space == space_device) then
      home = space_of_device(used)
      if (used < 0 .or. used >= most_devices) home = space_beyond
    end if
  end function home_of

  !> Return the number of devices.
  function count_devices() result(devices)
    integer(c_int) :: devices

    devices = most_devices
  end function count_devices

  !> Return the address of new device memory for a copy of host memory; null if none is left.
  !> Directives never find it.
  function create_on_device(number, host, bytes, can_hide) result(device)
    integer(c_int), intent(in) :: number
    type(c_ptr), intent(in) :: host
    integer(c_size_t), intent(in) :: bytes
    logical, intent(out) :: can_hide
    type(c_ptr) :: device

    can_hide = .false.
    device = take_memory(bytes)
    if (c_associated(device)) call spoil_memory(device, bytes)
  end function create_on_device

  !> Use existing memory for a copy; does nothing here.
  subroutine attach_to_device(number, host, device, bytes)
    integer(c_int), intent(in) :: number
    type(c_ptr), intent(in) :: host, device
    integer(c_size_t), intent(in) :: bytes
  end subroutine attach_to_device

  !> Free the memory of a copy.
  subroutine delete_on_device(number, host, device, bytes, can_hide)
    integer(c_int), intent(in) :: number
    type(c_ptr), intent(in) :: host
    type(c_ptr), intent(inout) :: device
    integer(c_size_t), intent(in) :: bytes
    logical, intent(in) :: can_hide

    call give_memory(device)
  end subroutine delete_on_device

  !> Detach memory that was attached; does nothing here.
  subroutine detach_from_device(number, host)
    integer(c_int), intent(in) :: number
    type(c_ptr), intent(in) :: host
  end subroutine detach_from_device

  !> Do nothing: directives never find a copy.
  subroutine show_on_device(number, host, device, bytes)
    integer(c_int), intent(in) :: number
    type(c_ptr), intent(in) :: host, device
    integer(c_size_t), intent(in) :: bytes
  end subroutine show_on_device

  !> Do nothing: directives never find a copy.
  subroutine hide_on_device(number, host)
    integer(c_int), intent(in) :: number
    type(c_ptr), intent(in) :: host
  end subroutine hide_on_device

  !> Return false: directives never find a copy.
  function is_on_device(number, host)
    integer(c_int), intent(in) :: number
    type(c_ptr), intent(in) :: host
    logical :: is_on_device

    is_on_device = .false.
  end function is_on_device

  !> Copy values from the host to the device.
  subroutine copy_to_device(number, host, device, bytes, queue)
    integer(c_int), intent(in) :: number
    type(c_ptr), intent(in) :: host, device
    integer(c_size_t), intent(in) :: bytes
    integer(c_int), optional, intent(in) :: queue

    call copy_or_queue(number, device, host, bytes, queue)
  end subroutine copy_to_device

  !> Copy values from the device to the host.
  subroutine copy_to_host(number, host, device, bytes, queue)
    integer(c_int), intent(in) :: number
    type(c_ptr), intent(in) :: host, device
    integer(c_size_t), intent(in) :: bytes
    integer(c_int), optional, intent(in) :: queue

    call copy_or_queue(number, host, device, bytes, queue)
  end subroutine copy_to_host

  !> Copy strips of values from the host to the device.
  subroutine copy_strips_to_device(number, host, device, strips)
    integer(c_int), intent(in) :: number
    type(c_ptr), intent(in) :: host, device
    type(strip_type), intent(in) :: strips(:)

    call copy_strips(device, host, strips)
  end subroutine copy_strips_to_device

  !> Copy strips of values from the device to the host.
  subroutine copy_strips_to_host(number, host, device, strips)
    integer(c_int), intent(in) :: number
    type(c_ptr), intent(in) :: host, device
    type(strip_type), intent(in) :: strips(:)

    call copy_strips(host, device, strips)
  end subroutine copy_strips_to_host

  !> Execute the work in a queue in its order.
  subroutine wait_for_queue(number, queue)
    integer(c_int), intent(in) :: number
    integer(c_int), intent(in) :: queue

    integer :: n

    call acquire_lock(lock_word)
    do n = 1, queued
      if (queues(n)%device /= number .or. queues(n)%queue /= queue) cycle
      call copy_memory(queues(n)%to, queues(n)%from, queues(n)%bytes)
      queues(n)%queue = 0
    end do
    queued = count(queues(:queued)%queue /= 0)
    queues(:queued) = pack(queues, queues%queue /= 0)
    call release_lock(lock_word)
  end subroutine wait_for_queue

  !> Prepare for a kernel in a queue, which runs immediately: execute the earlier work in the queue.
  subroutine start_queue(number, queue)
    integer(c_int), intent(in) :: number
    integer(c_int), intent(in) :: queue

    call wait_for_queue(number, queue)
  end subroutine start_queue

  !> Return the address that kernels for the device use.
  pure function kernel_address(host, device) result(address)
    type(c_ptr), intent(in) :: host, device
    type(c_ptr) :: address

    address = device
  end function kernel_address

  !> Overwrite stale memory with NaN. Queued copies to or from this memory were requested while it
  !> was current, so they are executed first.
  subroutine spoil(address, bytes)
    type(c_ptr), intent(in) :: address
    integer(c_size_t), intent(in) :: bytes

    type(queued_copy_type) :: before
    integer :: n

    do
      call acquire_lock(lock_word)
      n = findloc([(c_associated(queues(n)%to, address) .or. &
                    c_associated(queues(n)%from, address), n = 1, queued)], .true., 1)
      if (n > 0) before = queues(n)
      call release_lock(lock_word)
      if (n == 0) exit
      call wait_for_queue(before%device, before%queue)
    end do
    call spoil_memory(address, bytes)
  end subroutine spoil

  ! -- for this device alone ----------------------------------------------------------------------

  !> Copy bytes, or put the copy into a queue, where it remains until `wait_for_queue`. If the queue
  !> is full, copy immediately.
  subroutine copy_or_queue(number, to, from, bytes, queue)
    integer(c_int), intent(in) :: number
    type(c_ptr), intent(in) :: to, from
    integer(c_size_t), intent(in) :: bytes
    integer(c_int), optional, intent(in) :: queue

    logical :: waits

    waits = .true.
    if (present(queue)) then
      call acquire_lock(lock_word)
      waits = queued == room
      if (.not. waits) then
        queued = queued + 1
        queues(queued) = queued_copy_type(number, queue, to, from, bytes)
      end if
      call release_lock(lock_word)
      if (waits) call wait_for_queue(number, queue)
    end if
    if (waits) call copy_memory(to, from, bytes)
  end subroutine copy_or_queue

  include '../../lock_procedures.inc'

end module storage_device_mod
