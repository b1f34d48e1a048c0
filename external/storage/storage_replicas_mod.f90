!> Owns the memory of one field on the host and on the device, and the moving of bytes between them;
!> it does not know which of them are current.
module storage_replicas_mod

  use, intrinsic :: iso_c_binding, only: c_associated, c_int, c_null_ptr, c_ptr, c_size_t
  use storage_device_mod, only: attach_to_device, copy_strips_to_device, copy_strips_to_host, &
                                copy_to_device, copy_to_host, create_on_device, &
                                delete_on_device, detach_from_device, device_has_memory, &
                                kernel_address, spoil
  use storage_memory_mod, only: give_memory, take_memory
  use storage_parts_mod, only: strip_type
  use storage_words_mod, only: space_device, space_host

  implicit none
  private

  public :: home_of

  !> The bytes on the host, and on the device if they were needed there.
  type, public :: replicas_type
    private
    type(c_ptr) :: host = c_null_ptr
    type(c_ptr) :: device = c_null_ptr
    integer(c_size_t) :: bytes = 0
    logical :: on_device = .false.
    logical :: owns_host = .false.
    logical :: owns_device = .false.
    logical :: spoils_host = .false.
  contains
    procedure, public :: set_up
    procedure, public :: allocate_at
    procedure, public :: attach_device
    procedure, public :: free_device
    procedure, public :: free_all
    procedure, public :: move_to
    procedure, public :: move_strips_to
    procedure, public :: spoil_at
    procedure, public :: get_bytes
    procedure, public :: is_on_device
    procedure, public :: is_attached
    procedure, public :: get_address
    procedure, public :: get_kernel_address
  end type replicas_type

contains

  !> Take memory on the host for so many bytes, or use what is at `host` unless that is null; that
  !> may be spoilt if somebody `spoils` it. Say whether there is memory.
  function set_up(self, bytes, host, spoils) result(is_there)
    class(replicas_type), intent(inout) :: self
    integer(c_size_t), intent(in) :: bytes
    type(c_ptr), intent(in) :: host
    logical, intent(in) :: spoils
    logical :: is_there

    self%bytes = bytes
    self%host = host
    self%owns_host = .not. c_associated(host)
    if (self%owns_host) self%host = take_memory(bytes)
    is_there = c_associated(self%host)
    self%spoils_host = self%owns_host .or. spoils
    if (is_there .and. self%owns_host) call self%spoil_at(space_host)
  end function set_up

  !> Take memory in a space if it has none yet. Say whether there is memory.
  function allocate_at(self, space) result(is_there)
    class(replicas_type), intent(inout) :: self
    integer(c_int), intent(in) :: space
    logical :: is_there

    is_there = space == space_host .or. self%on_device
    if (is_there) return
    if (self%bytes > 0) self%device = create_on_device(self%host, self%bytes)
    is_there = c_associated(self%device) .or. self%bytes == 0
    self%on_device = is_there
    self%owns_device = is_there
  end function allocate_at

  !> Use memory of the device that is there already; it is never freed.
  subroutine attach_device(self, address)
    class(replicas_type), intent(inout) :: self
    type(c_ptr), intent(in) :: address

    if (self%bytes > 0) call attach_to_device(self%host, address, self%bytes)
    self%device = address
    self%on_device = .true.
    self%owns_device = .false.
  end subroutine attach_device

  !> Give up the memory on the device, or leave it to its owner; do nothing if there is none.
  subroutine free_device(self)
    class(replicas_type), intent(inout) :: self

    if (self%on_device .and. self%bytes > 0) then
      if (self%owns_device) then
        call delete_on_device(self%host, self%device, self%bytes)
      else
        call detach_from_device(self%host)
      end if
    end if
    self%device = c_null_ptr
    self%on_device = .false.
  end subroutine free_device

  !> Give up all memory, that of the device first.
  subroutine free_all(self)
    class(replicas_type), intent(inout) :: self

    call self%free_device()
    if (self%owns_host) call give_memory(self%host)
    self%host = c_null_ptr
  end subroutine free_all

  !> Copy the bytes to a space from the other one; with a queue, nobody waits for it.
  subroutine move_to(self, space, queue)
    class(replicas_type), intent(in) :: self
    integer(c_int), intent(in) :: space
    integer(c_int), optional, intent(in) :: queue

    if (space == space_device) then
      call copy_to_device(self%host, self%device, self%bytes, queue)
    else
      call copy_to_host(self%host, self%device, self%bytes, queue)
    end if
  end subroutine move_to

  !> Copy strips of the bytes to a space from the other one.
  subroutine move_strips_to(self, space, strips)
    class(replicas_type), intent(in) :: self
    integer(c_int), intent(in) :: space
    type(strip_type), intent(in) :: strips(:)

    if (space == space_device) then
      call copy_strips_to_device(self%host, self%device, strips)
    else
      call copy_strips_to_host(self%host, self%device, strips)
    end if
  end subroutine move_strips_to

  !> Spoil the bytes in a space if the build does so, unless they belong to somebody else.
  subroutine spoil_at(self, space)
    class(replicas_type), intent(in) :: self
    integer(c_int), intent(in) :: space

    if (space == space_host) then
      if (self%spoils_host) call spoil(self%host, self%bytes)
    else if (self%on_device .and. self%owns_device) then
      call spoil(self%device, self%bytes)
    end if
  end subroutine spoil_at

  !> Return the number of bytes.
  pure function get_bytes(self) result(bytes)
    class(replicas_type), intent(in) :: self
    integer(c_size_t) :: bytes

    bytes = self%bytes
  end function get_bytes

  !> Say whether there is memory on the device.
  pure function is_on_device(self)
    class(replicas_type), intent(in) :: self
    logical :: is_on_device

    is_on_device = self%on_device
  end function is_on_device

  !> Say whether there is memory on the device that belongs to somebody else.
  pure function is_attached(self)
    class(replicas_type), intent(in) :: self
    logical :: is_attached

    is_attached = self%on_device .and. .not. self%owns_device
  end function is_attached

  !> Return the address in a space as it is known there; null where there is no memory.
  pure function get_address(self, space) result(address)
    class(replicas_type), intent(in) :: self
    integer(c_int), intent(in) :: space
    type(c_ptr) :: address

    address = self%host
    if (space == space_device .and. self%bytes > 0) address = self%device
  end function get_address

  !> Return the address that code for a space works on.
  pure function get_kernel_address(self, space) result(address)
    class(replicas_type), intent(in) :: self
    integer(c_int), intent(in) :: space
    type(c_ptr) :: address

    address = self%host
    if (space == space_device .and. self%bytes > 0) address = kernel_address(self%host, self%device)
  end function get_kernel_address

  !> Return the space whose memory serves a space.
  pure function home_of(space) result(home)
    integer(c_int), intent(in) :: space
    integer(c_int) :: home

    home = space
    if (.not. device_has_memory) home = space_host
  end function home_of

end module storage_replicas_mod
