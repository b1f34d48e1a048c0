!> Device of a build without one: host and device share memory, and nothing is transferred.
module storage_device_mod

  use, intrinsic :: iso_c_binding, only: c_int, c_ptr, c_size_t
  use storage_parts_mod, only: strip_type
  use storage_constants_mod, only: space_host

  implicit none
  private

  public :: create_on_device, attach_to_device, delete_on_device, detach_from_device
  public :: show_on_device, hide_on_device, is_on_device
  public :: copy_to_device, copy_to_host, copy_strips_to_device, copy_strips_to_host
  public :: wait_for_queue, start_queue, kernel_address, spoil
  public :: use_device, current_device, count_devices, home_of

  !> Whether the device has its own memory, and the kind of the device.
  logical, parameter, public :: device_has_memory = .false.
  character(*), parameter, public :: device_kind = 'none'

contains

  !> Do nothing: there is only one memory.
  subroutine use_device(number)
    integer(c_int), intent(in) :: number
  end subroutine use_device

  !> Return the number of the current device of this thread.
  pure function current_device() result(number)
    integer(c_int) :: number

    number = 0
  end function current_device

  !> Return the space that provides the memory for a space: always the host.
  pure function home_of(space) result(home)
    integer(c_int), intent(in) :: space
    integer(c_int) :: home

    home = space_host
  end function home_of

  !> Return the number of devices.
  function count_devices() result(devices)
    integer(c_int) :: devices

    devices = 0
  end function count_devices

  !> Return the host address: there is no other memory.
  function create_on_device(number, host, bytes, can_hide) result(device)
    integer(c_int), intent(in) :: number
    type(c_ptr), intent(in) :: host
    integer(c_size_t), intent(in) :: bytes
    logical, intent(out) :: can_hide
    type(c_ptr) :: device

    can_hide = .false.
    device = host
  end function create_on_device

  !> Do nothing: device memory cannot be attached.
  subroutine attach_to_device(number, host, device, bytes)
    integer(c_int), intent(in) :: number
    type(c_ptr), intent(in) :: host, device
    integer(c_size_t), intent(in) :: bytes
  end subroutine attach_to_device

  !> Do nothing.
  subroutine delete_on_device(number, host, device, bytes, can_hide)
    integer(c_int), intent(in) :: number
    type(c_ptr), intent(in) :: host
    type(c_ptr), intent(inout) :: device
    integer(c_size_t), intent(in) :: bytes
    logical, intent(in) :: can_hide
  end subroutine delete_on_device

  !> Do nothing.
  subroutine detach_from_device(number, host)
    integer(c_int), intent(in) :: number
    type(c_ptr), intent(in) :: host
  end subroutine detach_from_device

  !> Do nothing: no directive finds a copy.
  subroutine show_on_device(number, host, device, bytes)
    integer(c_int), intent(in) :: number
    type(c_ptr), intent(in) :: host, device
    integer(c_size_t), intent(in) :: bytes
  end subroutine show_on_device

  !> Do nothing: no directive finds a copy.
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

  !> Do nothing.
  subroutine copy_to_device(number, host, device, bytes, queue)
    integer(c_int), intent(in) :: number
    type(c_ptr), intent(in) :: host, device
    integer(c_size_t), intent(in) :: bytes
    integer(c_int), optional, intent(in) :: queue
  end subroutine copy_to_device

  !> Do nothing.
  subroutine copy_to_host(number, host, device, bytes, queue)
    integer(c_int), intent(in) :: number
    type(c_ptr), intent(in) :: host, device
    integer(c_size_t), intent(in) :: bytes
    integer(c_int), optional, intent(in) :: queue
  end subroutine copy_to_host

  !> Do nothing.
  subroutine copy_strips_to_device(number, host, device, strips)
    integer(c_int), intent(in) :: number
    type(c_ptr), intent(in) :: host, device
    type(strip_type), intent(in) :: strips(:)
  end subroutine copy_strips_to_device

  !> Do nothing.
  subroutine copy_strips_to_host(number, host, device, strips)
    integer(c_int), intent(in) :: number
    type(c_ptr), intent(in) :: host, device
    type(strip_type), intent(in) :: strips(:)
  end subroutine copy_strips_to_host

  !> Do nothing: there are no queues.
  subroutine wait_for_queue(number, queue)
    integer(c_int), intent(in) :: number
    integer(c_int), intent(in) :: queue
  end subroutine wait_for_queue

  !> Do nothing: there are no queues.
  subroutine start_queue(number, queue)
    integer(c_int), intent(in) :: number
    integer(c_int), intent(in) :: queue
  end subroutine start_queue

  !> Return the address that kernels for the device use.
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

end module storage_device_mod
