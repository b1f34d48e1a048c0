!> Memory of one field on the host and on devices, and transfers between them; this module does not
!> know which copies are current.
module storage_replicas_mod

  use, intrinsic :: iso_c_binding, only: c_associated, c_int, c_null_ptr, c_ptr, c_size_t
  use storage_device_mod, only: attach_to_device, copy_strips_to_device, copy_strips_to_host, &
                                copy_to_device, copy_to_host, create_on_device, &
                                delete_on_device, detach_from_device, hide_on_device, &
                                is_on_device, kernel_address, show_on_device, spoil
  use storage_memory_mod, only: give_memory, take_memory
  use storage_parts_mod, only: strip_type
  use storage_constants_mod, only: first_device_space, last_space, space_beyond, space_host

  implicit none
  private

  !> The copy on one device, if there is one. Directives find it, except for memory of the library
  !> that can be hidden.
  type :: device_copy_type
    type(c_ptr) :: address = c_null_ptr
    logical :: is_there = .false.
    logical :: is_owned = .false.
    logical :: can_hide = .false.
    logical :: is_hidden = .false.
  end type device_copy_type

  !> The bytes on the host and on devices; `copies` counts the devices with a copy.
  type, public :: replicas_type
    private
    type(c_ptr) :: host = c_null_ptr
    integer(c_size_t) :: bytes = 0
    type(device_copy_type) :: on(first_device_space:space_beyond)
    integer :: copies = 0
    logical :: owns_host = .false.
    logical :: spoils_host = .false.
  contains
    procedure, public :: set_up
    procedure, public :: allocate_at
    procedure, public :: attach_device
    procedure, public :: free_device
    procedure, public :: free_all
    procedure, public :: show
    procedure, public :: hide
    procedure, public :: is_kept_by_others
    procedure, public :: move
    procedure, public :: move_strips
    procedure, public :: spoil_at
    procedure, public :: get_bytes
    procedure, public :: is_on_a_device
    procedure, public :: is_elsewhere
    procedure, public :: is_at
    procedure, public :: is_attached
    procedure, public :: get_address
    procedure, public :: get_kernel_address
  end type replicas_type

contains

  !> Allocate host memory for this number of bytes, or use the memory at `host` unless that is null;
  !> with `spoils`, that memory may be overwritten when it is stale. Return whether memory is
  !> available.
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

  !> Allocate memory in a space if it has none. Return whether memory is available.
  function allocate_at(self, space) result(is_there)
    class(replicas_type), intent(inout) :: self
    integer(c_int), intent(in) :: space
    logical :: is_there

    logical :: can_hide

    is_there = self%is_at(space)
    if (is_there) return
    can_hide = .false.
    if (self%bytes > 0) then
      self%on(space)%address = create_on_device(number_of(space), self%host, self%bytes, can_hide)
      if (.not. c_associated(self%on(space)%address)) return
    end if
    is_there = .true.
    self%on(space) = device_copy_type(self%on(space)%address, .true., .true., can_hide)
    self%copies = self%copies + 1
  end function allocate_at

  !> Use existing memory of a device; it is never freed.
  subroutine attach_device(self, space, address)
    class(replicas_type), intent(inout) :: self
    integer(c_int), intent(in) :: space
    type(c_ptr), intent(in) :: address

    if (self%bytes > 0) then
      call attach_to_device(number_of(space), self%host, address, self%bytes)
    end if
    self%on(space) = device_copy_type(address, .true., .false.)
    self%copies = self%copies + 1
  end subroutine attach_device

  !> Free the memory on a device, or detach it from its owner; does nothing without memory.
  subroutine free_device(self, space)
    class(replicas_type), intent(inout) :: self
    integer(c_int), intent(in) :: space

    if (space == space_host .or. .not. self%is_at(space)) return
    if (self%bytes > 0) then
      if (self%on(space)%is_owned) then
        if (self%on(space)%can_hide .and. .not. self%on(space)%is_hidden) then
          call hide_on_device(number_of(space), self%host)
        end if
        call delete_on_device(number_of(space), self%host, self%on(space)%address, self%bytes, &
                              self%on(space)%can_hide)
      else
        call detach_from_device(number_of(space), self%host)
      end if
    end if
    self%on(space) = device_copy_type()
    self%copies = self%copies - 1
  end subroutine free_device

  !> Free all memory, first on devices.
  subroutine free_all(self)
    class(replicas_type), intent(inout) :: self

    integer(c_int) :: space

    do space = first_device_space, last_space
      call self%free_device(space)
    end do
    if (self%owns_host) call give_memory(self%host)
    self%host = c_null_ptr
  end subroutine free_all

  !> Make all copies visible to directives again.
  subroutine show(self)
    class(replicas_type), intent(inout) :: self

    integer(c_int) :: space

    if (self%copies == 0) return
    do space = first_device_space, last_space
      if (.not. self%on(space)%is_hidden) cycle
      call show_on_device(number_of(space), self%host, self%on(space)%address, self%bytes)
      self%on(space)%is_hidden = .false.
    end do
  end subroutine show

  !> Hide all copies from directives until `show`; nothing may be transferred meanwhile.
  subroutine hide(self)
    class(replicas_type), intent(inout) :: self

    integer(c_int) :: space

    if (self%copies == 0) return
    do space = first_device_space, last_space
      if (self%on(space)%is_hidden .or. .not. self%on(space)%can_hide) cycle
      call hide_on_device(number_of(space), self%host)
      self%on(space)%is_hidden = .true.
    end do
  end subroutine hide

  !> Return whether directives find a copy on the device `home`, or in place of a hidden one, that
  !> does not belong to this storage.
  function is_kept_by_others(self, home)
    class(replicas_type), intent(in) :: self
    integer(c_int), intent(in) :: home
    logical :: is_kept_by_others

    integer(c_int) :: space

    is_kept_by_others = .false.
    if (self%bytes == 0) return
    do space = first_device_space, last_space
      if (is_kept_by_others) return
      if (self%on(space)%is_hidden .or. (space == home .and. .not. self%on(space)%is_there)) then
        is_kept_by_others = is_on_device(number_of(space), self%host)
      end if
    end do
  end function is_kept_by_others

  !> Copy all bytes from one space to another; one of them is the host. With a queue, the copy is
  !> asynchronous.
  subroutine move(self, from, to, queue)
    class(replicas_type), intent(in) :: self
    integer(c_int), intent(in) :: from
    integer(c_int), intent(in) :: to
    integer(c_int), optional, intent(in) :: queue

    if (to == space_host) then
      call copy_to_host(number_of(from), self%host, self%on(from)%address, self%bytes, queue)
    else
      call copy_to_device(number_of(to), self%host, self%on(to)%address, self%bytes, queue)
    end if
  end subroutine move

  !> Copy strips of the bytes from one space to another; one of them is the host.
  subroutine move_strips(self, from, to, strips)
    class(replicas_type), intent(in) :: self
    integer(c_int), intent(in) :: from
    integer(c_int), intent(in) :: to
    type(strip_type), intent(in) :: strips(:)

    if (to == space_host) then
      call copy_strips_to_host(number_of(from), self%host, self%on(from)%address, strips)
    else
      call copy_strips_to_device(number_of(to), self%host, self%on(to)%address, strips)
    end if
  end subroutine move_strips

  !> Overwrite the bytes in a space if this build does so, unless the memory belongs to others.
  subroutine spoil_at(self, space)
    class(replicas_type), intent(in) :: self
    integer(c_int), intent(in) :: space

    if (space == space_host) then
      if (self%spoils_host) call spoil(self%host, self%bytes)
    else if (self%on(space)%is_owned) then
      call spoil(self%on(space)%address, self%bytes)
    end if
  end subroutine spoil_at

  !> Return the number of bytes.
  pure function get_bytes(self) result(bytes)
    class(replicas_type), intent(in) :: self
    integer(c_size_t) :: bytes

    bytes = self%bytes
  end function get_bytes

  !> Return whether a device has memory for a copy.
  pure function is_on_a_device(self)
    class(replicas_type), intent(in) :: self
    logical :: is_on_a_device

    is_on_a_device = self%copies > 0
  end function is_on_a_device

  !> Return whether a device has memory for a copy that is distinct from the host's memory.
  pure function is_elsewhere(self)
    class(replicas_type), intent(in) :: self
    logical :: is_elsewhere

    integer(c_int) :: space

    is_elsewhere = .false.
    if (self%copies == 0 .or. self%bytes == 0) return
    do space = first_device_space, last_space
      if (self%on(space)%is_there) then
        is_elsewhere = is_elsewhere .or. .not. c_associated(self%on(space)%address, self%host)
      end if
    end do
  end function is_elsewhere

  !> Return whether a space has memory for a copy.
  pure function is_at(self, space)
    class(replicas_type), intent(in) :: self
    integer(c_int), intent(in) :: space
    logical :: is_at

    is_at = space == space_host
    if (.not. is_at) is_at = self%on(space)%is_there
  end function is_at

  !> Return whether a device has memory for a copy that belongs to others.
  pure function is_attached(self, space)
    class(replicas_type), intent(in) :: self
    integer(c_int), intent(in) :: space
    logical :: is_attached

    is_attached = .false.
    if (space == space_host) return
    is_attached = self%on(space)%is_there .and. .not. self%on(space)%is_owned
  end function is_attached

  !> Return the address in a space as that space uses it; null without memory.
  pure function get_address(self, space) result(address)
    class(replicas_type), intent(in) :: self
    integer(c_int), intent(in) :: space
    type(c_ptr) :: address

    address = self%host
    if (space /= space_host .and. self%bytes > 0) address = self%on(space)%address
  end function get_address

  !> Return the address that kernels of a space use.
  pure function get_kernel_address(self, space) result(address)
    class(replicas_type), intent(in) :: self
    integer(c_int), intent(in) :: space
    type(c_ptr) :: address

    address = self%host
    if (space /= space_host .and. self%bytes > 0) then
      address = kernel_address(self%host, self%on(space)%address)
    end if
  end function get_kernel_address

  !> Return the number of the device of a space.
  pure function number_of(space) result(number)
    integer(c_int), intent(in) :: space
    integer(c_int) :: number

    number = space - first_device_space
  end function number_of

end module storage_replicas_mod
