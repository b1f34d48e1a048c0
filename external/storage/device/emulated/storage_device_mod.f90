!> Owns a device for machines without one: separate memory of the host, spoilt when it is stale.
!>
!> Kernels for the device run on the host and work on that memory, so that a transfer that is
!> missing gives wrong answers, as it would on a device. OpenACC directives may be compiled or not.
module storage_device_mod

  use, intrinsic :: iso_c_binding, only: c_associated, c_ptr, c_size_t
  use storage_memory_mod, only: copy_memory, give_memory, spoil_memory, take_memory

  implicit none
  private

  public :: create_on_device, attach_to_device, delete_on_device, detach_from_device
  public :: copy_to_device, copy_to_host, kernel_address, spoil

  !> Whether the device has a memory of its own; what kind of device this build has.
  logical, parameter, public :: device_has_memory = .true.
  character(*), parameter, public :: device_kind = 'emulated'

contains

  !> Return the address of memory for a copy of bytes of the host; null if there is none left.
  function create_on_device(host, bytes) result(device)
    type(c_ptr), intent(in) :: host
    integer(c_size_t), intent(in) :: bytes
    type(c_ptr) :: device

    device = take_memory(bytes)
    if (c_associated(device)) call spoil_memory(device, bytes)
  end function create_on_device

  !> Take memory that is there as that of the copy; nothing has to be done.
  subroutine attach_to_device(host, device, bytes)
    type(c_ptr), intent(in) :: host, device
    integer(c_size_t), intent(in) :: bytes
  end subroutine attach_to_device

  !> Give back the memory of a copy.
  subroutine delete_on_device(host, device, bytes)
    type(c_ptr), intent(in) :: host
    type(c_ptr), intent(inout) :: device
    integer(c_size_t), intent(in) :: bytes

    call give_memory(device)
  end subroutine delete_on_device

  !> Leave memory that was attached; nothing has to be done.
  subroutine detach_from_device(host)
    type(c_ptr), intent(in) :: host
  end subroutine detach_from_device

  !> Copy the values of the host to the device.
  subroutine copy_to_device(host, device, bytes)
    type(c_ptr), intent(in) :: host, device
    integer(c_size_t), intent(in) :: bytes

    call copy_memory(device, host, bytes)
  end subroutine copy_to_device

  !> Copy the values of the device to the host.
  subroutine copy_to_host(host, device, bytes)
    type(c_ptr), intent(in) :: host, device
    integer(c_size_t), intent(in) :: bytes

    call copy_memory(host, device, bytes)
  end subroutine copy_to_host

  !> Return the address that a kernel for the device works on.
  pure function kernel_address(host, device) result(address)
    type(c_ptr), intent(in) :: host, device
    type(c_ptr) :: address

    address = device
  end function kernel_address

  !> Make memory that has no current values unmistakable.
  subroutine spoil(address, bytes)
    type(c_ptr), intent(in) :: address
    integer(c_size_t), intent(in) :: bytes

    call spoil_memory(address, bytes)
  end subroutine spoil

end module storage_device_mod
