!> Owns the calls of OpenACC, by its interface for C, which takes addresses and bytes of any type.
!>
!> Directives in kernels find the copy by the address of the host, so that `present(values)` holds
!> for a window on these values. Where OpenACC has no device, it works on the memory of the host.
module storage_device_mod

  use, intrinsic :: iso_c_binding, only: c_ptr, c_size_t

  implicit none
  private

  public :: create_on_device, attach_to_device, delete_on_device, detach_from_device
  public :: copy_to_device, copy_to_host, kernel_address, spoil

  !> Whether the device has a memory of its own; what kind of device this build has.
  logical, parameter, public :: device_has_memory = .true.
  character(*), parameter, public :: device_kind = 'openacc'

  interface
    function acc_create(host, bytes) bind(c, name='acc_create') result(device)
      import :: c_ptr, c_size_t
      type(c_ptr), value, intent(in) :: host
      integer(c_size_t), value, intent(in) :: bytes
      type(c_ptr) :: device
    end function acc_create

    subroutine acc_delete(host, bytes) bind(c, name='acc_delete')
      import :: c_ptr, c_size_t
      type(c_ptr), value, intent(in) :: host
      integer(c_size_t), value, intent(in) :: bytes
    end subroutine acc_delete

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
  end interface

contains

  !> Return the address, on the device, of memory for a copy of bytes of the host.
  function create_on_device(host, bytes) result(device)
    type(c_ptr), intent(in) :: host
    integer(c_size_t), intent(in) :: bytes
    type(c_ptr) :: device

    device = acc_create(host, bytes)
  end function create_on_device

  !> Take memory that is on the device already as that of the copy.
  subroutine attach_to_device(host, device, bytes)
    type(c_ptr), intent(in) :: host, device
    integer(c_size_t), intent(in) :: bytes

    call acc_map_data(host, device, bytes)
  end subroutine attach_to_device

  !> Give back the memory of a copy.
  subroutine delete_on_device(host, device, bytes)
    type(c_ptr), intent(in) :: host
    type(c_ptr), intent(inout) :: device
    integer(c_size_t), intent(in) :: bytes

    call acc_delete(host, bytes)
  end subroutine delete_on_device

  !> Leave memory that was attached.
  subroutine detach_from_device(host)
    type(c_ptr), intent(in) :: host

    call acc_unmap_data(host)
  end subroutine detach_from_device

  !> Copy the values of the host to the device.
  subroutine copy_to_device(host, device, bytes)
    type(c_ptr), intent(in) :: host, device
    integer(c_size_t), intent(in) :: bytes

    call acc_update_device(host, bytes)
  end subroutine copy_to_device

  !> Copy the values of the device to the host.
  subroutine copy_to_host(host, device, bytes)
    type(c_ptr), intent(in) :: host, device
    integer(c_size_t), intent(in) :: bytes

    call acc_update_self(host, bytes)
  end subroutine copy_to_host

  !> Return the address that a directive for the device names: that of the host.
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
