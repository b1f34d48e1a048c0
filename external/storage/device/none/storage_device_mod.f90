!> Owns the device of a build without one: host and device are one memory, and nothing ever moves.
module storage_device_mod

  use, intrinsic :: iso_c_binding, only: c_int, c_ptr, c_size_t
  use storage_parts_mod, only: strip_type

  implicit none
  private

  public :: create_on_device, attach_to_device, delete_on_device, detach_from_device
  public :: copy_to_device, copy_to_host, copy_strips_to_device, copy_strips_to_host
  public :: wait_for_queue, start_queue, kernel_address, spoil

  !> Whether the device has a memory of its own; what kind of device this build has.
  logical, parameter, public :: device_has_memory = .false.
  character(*), parameter, public :: device_kind = 'none'

contains

  !> Return the address of the host: there is no other memory.
  function create_on_device(host, bytes) result(device)
    type(c_ptr), intent(in) :: host
    integer(c_size_t), intent(in) :: bytes
    type(c_ptr) :: device

    device = host
  end function create_on_device

  !> Do nothing: memory of a device cannot be given.
  subroutine attach_to_device(host, device, bytes)
    type(c_ptr), intent(in) :: host, device
    integer(c_size_t), intent(in) :: bytes
  end subroutine attach_to_device

  !> Do nothing.
  subroutine delete_on_device(host, device, bytes)
    type(c_ptr), intent(in) :: host
    type(c_ptr), intent(inout) :: device
    integer(c_size_t), intent(in) :: bytes
  end subroutine delete_on_device

  !> Do nothing.
  subroutine detach_from_device(host)
    type(c_ptr), intent(in) :: host
  end subroutine detach_from_device

  !> Do nothing.
  subroutine copy_to_device(host, device, bytes, queue)
    type(c_ptr), intent(in) :: host, device
    integer(c_size_t), intent(in) :: bytes
    integer(c_int), optional, intent(in) :: queue
  end subroutine copy_to_device

  !> Do nothing.
  subroutine copy_to_host(host, device, bytes, queue)
    type(c_ptr), intent(in) :: host, device
    integer(c_size_t), intent(in) :: bytes
    integer(c_int), optional, intent(in) :: queue
  end subroutine copy_to_host

  !> Do nothing.
  subroutine copy_strips_to_device(host, device, strips)
    type(c_ptr), intent(in) :: host, device
    type(strip_type), intent(in) :: strips(:)
  end subroutine copy_strips_to_device

  !> Do nothing.
  subroutine copy_strips_to_host(host, device, strips)
    type(c_ptr), intent(in) :: host, device
    type(strip_type), intent(in) :: strips(:)
  end subroutine copy_strips_to_host

  !> Do nothing: nothing is put into queues.
  subroutine wait_for_queue(queue)
    integer(c_int), intent(in) :: queue
  end subroutine wait_for_queue

  !> Do nothing: nothing is put into queues.
  subroutine start_queue(queue)
    integer(c_int), intent(in) :: queue
  end subroutine start_queue

  !> Return the address that a kernel for the device works on.
  pure function kernel_address(host, device) result(address)
    type(c_ptr), intent(in) :: host, device
    type(c_ptr) :: address

    address = host
  end function kernel_address

  !> Do nothing: only the emulated device spoils what is stale.
  subroutine spoil(address, bytes)
    type(c_ptr), intent(in) :: address
    integer(c_size_t), intent(in) :: bytes
  end subroutine spoil

end module storage_device_mod
