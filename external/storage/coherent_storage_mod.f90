!> Coherent copies of the bytes of one field on the host and on devices.
!>
!> A user acquires access in a memory space and gets a current copy there: it is allocated if it
!> does not exist, and updated if it is stale. Calls from several threads are serialized. This
!> module checks calls and refuses invalid ones; `storage_state_mod` executes the valid ones.
module coherent_storage_mod

  use, intrinsic :: iso_c_binding, only: c_associated, c_int, c_int64_t, c_null_ptr, c_ptr, c_size_t
  use storage_coherence_mod, only: coherence_type
  use storage_device_mod, only: count_devices, device_has_memory, home_of, start_queue
  use storage_errors_mod, only: report_error
  use storage_parts_mod, only: strip_type
  use storage_state_mod, only: storage_state_type
  use storage_statistics_mod, only: count_avoided, print_totals => print_statistics, &
                                    storage_statistics_type
  use storage_constants_mod, only: access_read, access_read_write, error_access_conflict, &
                               error_lost_values, error_memory, error_memory_in_use, &
                               error_no_access, error_read_only, error_unknown_word, &
                               first_device_space, last_space, &
                               name_of_access, name_of_space, no_error, space_beyond, &
                               space_device, space_host

  implicit none
  private

  !> Options of a new storage. Host memory that is passed is used in place and never freed; without
  !> it, the storage allocates its own. `has_values`: the memory that is passed contains values.
  !> `read_only`: the values cannot be written. `spoils`: memory that is passed is overwritten with
  !> NaN when it is stale, as the storage's own memory is; its owner uses it only through the
  !> storage then. `named_by_place`: the name in messages is followed by the extents and the
  !> address, if there is one.
  type, public :: storage_options_type
    character(:), allocatable :: name
    logical :: named_by_place = .false.
    integer(c_int) :: halo_depth = 0
    logical :: read_only = .false.
    type(c_ptr) :: host = c_null_ptr
    logical :: has_values = .false.
    logical :: spoils = .false.
  end type storage_options_type

  !> The bytes of a field and their state; base of the types that users declare.
  type, public :: coherent_storage_type
    private
    type(storage_state_type), public :: state
    logical, public :: read_only = .false.
    character(:), allocatable :: name
    logical :: is_there = .false.
  contains
    procedure, public :: set_up
    procedure, public :: attach_device
    procedure, public :: leave_device
    procedure, public :: destroy
    procedure, public :: acquire
    procedure, public :: acquire_strips
    procedure, public :: release
    procedure, public :: wait
    procedure, public :: touch
    procedure, public :: assume_valid
    procedure, public :: is_valid
    procedure, public :: is_valid_on_a_device
    procedure, public :: is_initialised
    procedure, public :: is_written
    procedure, public :: has_device_memory
    procedure, public :: has_memory_elsewhere
    procedure, public :: get_version
    procedure, public :: get_address
    procedure, public :: get_kernel_address
    procedure, public :: get_name
    procedure, public :: get_statistics
    procedure, public :: reset_statistics
    procedure, public :: print_statistics
    procedure, public :: refuse
    procedure, public :: is_usable
    procedure, public :: has_room
    procedure, private :: assign_storage
    generic, public :: assignment(=) => assign_storage
    final :: destroy_storage
  end type coherent_storage_type

contains

  ! -- memory --------------------------------------------------------------------------------------

  !> Set up a storage of this number of bytes; an existing one is destroyed first.
  !>
  !> Errors: those of `destroy`; 207 for a negative size or halo depth, or without enough memory.
  subroutine set_up(self, bytes, options, status)
    class(coherent_storage_type), intent(inout) :: self
    integer(c_size_t), intent(in) :: bytes
    type(storage_options_type), intent(in) :: options
    integer(c_int), optional, intent(out) :: status

    call self%destroy(status)
    if (self%is_there) return
    self%name = 'unnamed'
    if (allocated(options%name)) self%name = options%name
    if (bytes < 0 .or. options%halo_depth < 0) then
      call self%refuse(error_memory, 'has a negative or too large size, or a negative ' // &
                       'halo depth', status)
      return
    end if
    self%is_there = self%state%replicas%set_up(bytes, options%host, options%spoils)
    if (.not. self%is_there) then
      call self%refuse(error_memory, 'cannot be allocated on the host: out of memory', status)
      return
    end if
    self%read_only = options%read_only
    call self%state%coherence%initialise(options%halo_depth)
    if (options%has_values) call self%state%coherence%note_copy(space_host)
  end subroutine set_up

  !> Use existing memory of a device for the copy there. It is never freed, and has no current
  !> values until `assume_valid` is called. Without `space`, the device is the current one of this
  !> thread.
  !>
  !> Errors: 205 if the device already has memory for this storage, 207 for a null address or an
  !> unknown device.
  subroutine attach_device(self, address, status, space)
    class(coherent_storage_type), intent(inout) :: self
    type(c_ptr), intent(in) :: address
    integer(c_int), optional, intent(out) :: status
    integer(c_int), optional, intent(in) :: space

    integer(c_int) :: home, devices

    home = space_device
    if (present(space)) home = space
    if (.not. is_usable(self, home, status)) return
    home = home_of(home)
    devices = count_devices()
    call self%state%coherence%lock()
    if (.not. device_has_memory) then
      call self%refuse(error_memory, 'cannot use device memory: this build has no device', status)
    else if (home == space_beyond .or. home - first_device_space >= devices) then
      call self%refuse(error_memory, 'cannot use ' // name_of_space(home) // &
                       ': it does not exist', status)
    else if (self%state%replicas%is_at(home)) then
      call self%refuse(error_memory_in_use, 'already has memory on the device', status)
    else if (self%state%replicas%get_bytes() > 0 .and. .not. c_associated(address)) then
      call self%refuse(error_memory, 'cannot use device memory at a null address', status)
    else
      call self%state%replicas%attach_device(home, address)
    end if
    call self%state%coherence%unlock()
  end subroutine attach_device

  !> Free the memory on the current device of this thread; does nothing if there is none.
  !>
  !> Errors: 201 while the storage is in use, 205 for memory that was attached, 200 if the only
  !> current values are there.
  subroutine leave_device(self, status)
    class(coherent_storage_type), intent(inout) :: self
    integer(c_int), optional, intent(out) :: status

    integer(c_int) :: home

    if (.not. is_usable(self, space_device, status)) return
    home = home_of(space_device)
    call self%state%coherence%lock()
    if (self%state%coherence%is_used()) then
      call self%refuse(error_access_conflict, 'cannot free its device memory during ' // &
                       self%state%coherence%describe_users(), status)
    else if (self%state%replicas%is_attached(home)) then
      call self%refuse(error_memory_in_use, 'cannot free device memory that was attached: ' // &
                       'its owner frees it', status)
    else if (home /= space_host .and. self%state%coherence%is_sole_truth(home)) then
      call self%refuse(error_lost_values, 'has its only current values on the device: acquire ' // &
                       'it on the host first', status)
    else
      call self%state%wait_unless()
      call self%state%replicas%free_device(home)
      if (device_has_memory) call self%state%coherence%forget(home)
    end if
    call self%state%coherence%unlock()
  end subroutine leave_device

  !> Free all memory, first on devices; does nothing if there is none. The values are lost.
  !>
  !> Errors: 201 while the storage is in use.
  subroutine destroy(self, status)
    class(coherent_storage_type), intent(inout) :: self
    integer(c_int), optional, intent(out) :: status

    if (present(status)) status = no_error
    if (.not. self%is_there) return
    if (self%state%coherence%is_used()) then
      call self%refuse(error_access_conflict, 'cannot be destroyed during ' // &
                       self%state%coherence%describe_users(), status)
      return
    end if
    call free_all(self)
  end subroutine destroy

  !> Free all memory when a storage goes out of scope.
  impure elemental subroutine destroy_storage(self)
    type(coherent_storage_type), intent(inout) :: self

    if (self%is_there) call free_all(self)
  end subroutine destroy_storage

  !> Free all memory and reset the statistics.
  subroutine free_all(self)
    class(coherent_storage_type), intent(inout) :: self

    call self%state%wait_unless()
    call self%state%replicas%free_all()
    self%state%coherence = coherence_type()
    self%is_there = .false.
    self%state%done = storage_statistics_type()
  end subroutine free_all

  ! -- use -----------------------------------------------------------------------------------------

  !> Begin an access to the values in a space; they are current there afterwards.
  !>
  !> A stale copy is updated, unless the access is `access_write`, which promises to write all
  !> values. A write makes all other copies stale immediately, and the halo dirty at all depths.
  !> With a `queue` of at least 1 the host does not wait for transfers: later work in this queue
  !> sees the values.
  !>
  !> Errors: 201 for a conflict with another access, 204 for a write to a read-only storage, 207
  !> without enough memory.
  subroutine acquire(self, space, access, status, queue)
    class(coherent_storage_type), intent(inout) :: self
    integer(c_int), intent(in) :: space
    integer(c_int), intent(in) :: access
    integer(c_int), optional, intent(out) :: status
    integer(c_int), optional, intent(in) :: queue

    if (.not. is_access(self, space, access, status)) return
    if (access == access_read .or. .not. self%read_only) then
      if (self%state%coherence%enters(home_of(space), access)) then
        if (device_has_memory) then
          if (self%state%replicas%is_on_a_device()) call count_avoided(self%state%done)
        end if
        return
      end if
    end if
    call begin_alone(self, space, access, status, queue=queue)
  end subroutine acquire

  !> Begin an access to only some strips of the values in a space; these are current there
  !> afterwards, other values are undefined.
  !>
  !> Only the strips are transferred, and a write makes no copy stale: the release copies what was
  !> written to all other current copies. Errors: as `acquire`.
  subroutine acquire_strips(self, space, access, strips, status)
    class(coherent_storage_type), intent(inout) :: self
    integer(c_int), intent(in) :: space
    integer(c_int), intent(in) :: access
    type(strip_type), intent(in) :: strips(:)
    integer(c_int), optional, intent(out) :: status

    if (is_access(self, space, access, status)) then
      call begin_alone(self, space, access, status, strips)
    end if
  end subroutine acquire_strips

  !> Begin an access to all values or to strips; the caller holds the lock.
  subroutine begin_alone(self, space, access, status, strips, queue)
    class(coherent_storage_type), intent(inout) :: self
    integer(c_int), intent(in) :: space
    integer(c_int), intent(in) :: access
    integer(c_int), optional, intent(out) :: status
    type(strip_type), optional, intent(in) :: strips(:)
    integer(c_int), optional, intent(in) :: queue

    call self%state%coherence%lock()
    if (.not. self%state%coherence%may_acquire(home_of(space), access)) then
      call self%refuse(error_access_conflict, 'cannot give ' // name_of_access(access) // &
                       ' access at ' // name_used(space) // ': conflict with ' // &
                       self%state%coherence%describe_users(), status)
    else if (self%read_only .and. access /= access_read) then
      call self%refuse(error_read_only, 'is read-only', status)
    else if (self%has_room(home_of(space), status)) then
      call self%state%begin_access(home_of(space), access, strips, queue)
    end if
    call self%state%coherence%unlock()
  end subroutine begin_alone

  !> End the last access that began in a space. With a `queue`, work in that queue may still use the
  !> values: accesses from other queues or from the host wait for it.
  !>
  !> Errors: 206 without an access.
  subroutine release(self, space, status, queue)
    class(coherent_storage_type), intent(inout) :: self
    integer(c_int), intent(in) :: space
    integer(c_int), optional, intent(out) :: status
    integer(c_int), optional, intent(in) :: queue

    integer(c_int) :: home

    if (.not. is_usable(self, space, status)) return
    home = home_of(space)
    if (.not. present(queue)) then
      if (self%state%coherence%leaves(home)) return
    end if
    call self%state%coherence%lock()
    if (self%state%coherence%may_release(home)) then
      call self%state%end_access(home, queue)
    else
      call self%refuse(error_no_access, 'is released at ' // name_used(space) // &
                       ' without an access there', status)
    end if
    call self%state%coherence%unlock()
  end subroutine release

  !> Wait until the work in queues no longer uses the values.
  !>
  !> Errors: 207 without memory.
  subroutine wait(self, status)
    class(coherent_storage_type), intent(inout) :: self
    integer(c_int), optional, intent(out) :: status

    if (.not. is_usable(self, space_host, status)) return
    call self%state%coherence%lock()
    call self%state%wait_unless()
    call self%state%coherence%unlock()
  end subroutine wait

  !> Record that all values in a space were written without an access: all other copies become stale
  !> and the halo dirty, nothing is transferred.
  !>
  !> Errors: 201 during an access in another space or an exchange, 204 for a read-only storage, 207
  !> without enough memory.
  subroutine touch(self, space, status)
    class(coherent_storage_type), intent(inout) :: self
    integer(c_int), intent(in) :: space
    integer(c_int), optional, intent(out) :: status

    integer(c_int) :: home

    if (.not. is_usable(self, space, status)) return
    home = home_of(space)
    call self%state%coherence%lock()
    if (.not. self%state%coherence%may_touch(home)) then
      call self%refuse(error_access_conflict, 'cannot be touched at ' // name_used(space) // &
                       ' during ' // self%state%coherence%describe_users(), status)
    else if (self%read_only) then
      call self%refuse(error_read_only, 'is read-only', status)
    else if (self%has_room(home, status)) then
      call self%state%note_touch(home)
    end if
    call self%state%coherence%unlock()
  end subroutine touch

  !> Set the spaces whose copies are current, without a check or a transfer; the halo keeps its
  !> state.
  !>
  !> Errors: 201 while the storage is in use, 207 without enough memory, 209 for an unknown space.
  subroutine assume_valid(self, spaces, status)
    class(coherent_storage_type), intent(inout) :: self
    integer(c_int), intent(in) :: spaces(:)
    integer(c_int), optional, intent(out) :: status

    logical :: has_room
    integer :: n

    if (.not. is_usable(self, space_host, status)) return
    do n = 1, size(spaces)
      if (.not. is_usable(self, spaces(n), status)) return
    end do
    call self%state%coherence%lock()
    has_room = .true.
    if (self%state%coherence%is_used()) then
      call self%refuse(error_access_conflict, 'cannot be changed during ' // &
                       self%state%coherence%describe_users(), status)
    else
      do n = 1, size(spaces)
        if (has_room) has_room = self%has_room(home_of(spaces(n)), status)
      end do
      if (has_room) then
        call self%state%wait_unless()
        call self%state%coherence%forget_all()
        do n = 1, size(spaces)
          call self%state%coherence%note_copy(home_of(spaces(n)))
        end do
      end if
    end if
    call self%state%coherence%unlock()
  end subroutine assume_valid

  ! -- questions -----------------------------------------------------------------------------------

  !> Return whether the copy in a space is current.
  pure function is_valid(self, space)
    class(coherent_storage_type), intent(in) :: self
    integer(c_int), intent(in) :: space
    logical :: is_valid

    is_valid = self%state%coherence%is_valid(home_of(space))
  end function is_valid

  !> Return whether the copy on any device is current.
  pure function is_valid_on_a_device(self)
    class(coherent_storage_type), intent(in) :: self
    logical :: is_valid_on_a_device

    is_valid_on_a_device = device_has_memory .and. self%state%coherence%is_initialised() .and. &
                           .not. self%state%coherence%is_sole_truth(space_host)
  end function is_valid_on_a_device

  !> Return whether any copy has values.
  pure function is_initialised(self)
    class(coherent_storage_type), intent(in) :: self
    logical :: is_initialised

    is_initialised = self%state%coherence%is_initialised()
  end function is_initialised

  !> Return whether an access writes all values in a space; without a space, in any one.
  pure function is_written(self, space)
    class(coherent_storage_type), intent(in) :: self
    integer(c_int), optional, intent(in) :: space
    logical :: is_written

    if (present(space)) then
      is_written = self%state%coherence%is_written(home_of(space))
    else
      is_written = self%state%coherence%has_writer()
    end if
    is_written = is_written .and. .not. self%state%coherence%is_of_parts()
  end function is_written

  !> Return whether a device has memory for a copy, stale or current.
  pure function has_device_memory(self)
    class(coherent_storage_type), intent(in) :: self
    logical :: has_device_memory

    has_device_memory = self%state%replicas%is_on_a_device()
  end function has_device_memory

  !> Return whether a device has memory for a copy that is distinct from the host's memory.
  pure function has_memory_elsewhere(self)
    class(coherent_storage_type), intent(in) :: self
    logical :: has_memory_elsewhere

    has_memory_elsewhere = self%state%replicas%is_elsewhere()
  end function has_memory_elsewhere

  !> Return the number of completed writes: write accesses, touches and exchanges.
  pure function get_version(self) result(version)
    class(coherent_storage_type), intent(in) :: self
    integer(c_int64_t) :: version

    version = self%state%coherence%get_version()
  end function get_version

  !> Return the address of the copy in a space as that space uses it; null without a copy.
  pure function get_address(self, space) result(address)
    class(coherent_storage_type), intent(in) :: self
    integer(c_int), intent(in) :: space
    type(c_ptr) :: address

    address = self%state%replicas%get_address(home_of(space))
  end function get_address

  !> Return the address that kernels of a space use, during an access there.
  !>
  !> Errors: 206 without an access there.
  function get_kernel_address(self, space, status) result(address)
    class(coherent_storage_type), intent(in) :: self
    integer(c_int), intent(in) :: space
    integer(c_int), optional, intent(out) :: status
    type(c_ptr) :: address

    address = c_null_ptr
    if (.not. is_usable(self, space, status)) return
    if (.not. self%state%coherence%is_used_at(home_of(space))) then
      call self%refuse(error_no_access, 'is used at ' // name_used(space) // &
                       ' without an access there', status)
      return
    end if
    address = self%state%replicas%get_kernel_address(home_of(space))
    if (space == space_host .or. self%state%coherence%get_queue() == 0) return
    call start_queue(self%state%coherence%get_queue_space() - first_device_space, &
                     self%state%coherence%get_queue())
  end function get_kernel_address

  !> Return the name for messages.
  pure function get_name(self) result(name)
    class(coherent_storage_type), intent(in) :: self
    character(:), allocatable :: name

    name = 'unnamed'
    if (allocated(self%name)) name = self%name
  end function get_name

  !> Return the counts of this storage since its set-up or the last reset.
  pure function get_statistics(self) result(statistics)
    class(coherent_storage_type), intent(in) :: self
    type(storage_statistics_type) :: statistics

    statistics = self%state%done
  end function get_statistics

  !> Reset the counts of this storage; the totals of all storages remain.
  subroutine reset_statistics(self)
    class(coherent_storage_type), intent(inout) :: self

    self%state%done = storage_statistics_type()
  end subroutine reset_statistics

  !> Print the counts of this storage, unless printing is disabled.
  subroutine print_statistics(self)
    class(coherent_storage_type), intent(in) :: self

    call print_totals(self%get_name(), self%state%done)
  end subroutine print_statistics

  !> Report an error of this storage; its name is the subject of `predicate`.
  subroutine refuse(self, code, predicate, status)
    class(coherent_storage_type), intent(in) :: self
    integer(c_int), intent(in) :: code
    character(*), intent(in) :: predicate
    integer(c_int), optional, intent(out) :: status

    call report_error(code, '"' // self%get_name() // '" ' // predicate // '.', status)
  end subroutine refuse

  ! -- private -------------------------------------------------------------------------------------

  !> Return whether the arguments of an access are valid and memory exists; report an error
  !> otherwise.
  function is_access(self, space, access, status)
    class(coherent_storage_type), intent(in) :: self
    integer(c_int), intent(in) :: space
    integer(c_int), intent(in) :: access
    integer(c_int), optional, intent(out) :: status
    logical :: is_access

    is_access = is_usable(self, space, status)
    if (.not. is_access) return
    is_access = access >= access_read .and. access <= access_read_write
    if (.not. is_access) then
      call self%refuse(error_unknown_word, 'was acquired with an unknown access mode', status)
    end if
  end function is_access

  !> Return whether memory exists and `space` is valid; report an error otherwise.
  function is_usable(self, space, status)
    class(coherent_storage_type), intent(in) :: self
    integer(c_int), intent(in) :: space
    integer(c_int), optional, intent(out) :: status
    logical :: is_usable

    if (present(status)) status = no_error
    is_usable = self%is_there .and. space >= space_host .and. space <= last_space
    if (is_usable) return
    if (self%is_there) then
      call self%refuse(error_unknown_word, 'was used in an unknown space, or on a device ' // &
                       'beyond the maximum number of devices', status)
    else
      call self%refuse(error_memory, 'has no memory: create it, or wrap an array', status)
    end if
  end function is_usable

  !> Return the name of a space for users; with the number of the device if there are several.
  pure function name_used(space) result(name)
    integer(c_int), intent(in) :: space
    character(:), allocatable :: name

    name = name_of_space(max(space, home_of(space)))
  end function name_used

  !> Return whether memory exists at `home`, after an attempt to allocate it; report an error
  !> otherwise.
  function has_room(self, home, status)
    class(coherent_storage_type), intent(inout) :: self
    integer(c_int), intent(in) :: home
    integer(c_int), optional, intent(out) :: status
    logical :: has_room

    integer(c_int) :: devices

    if (present(status)) status = no_error
    has_room = self%state%replicas%is_at(home)
    if (has_room) return
    devices = count_devices()
    if (home == space_beyond .or. home - first_device_space >= devices) then
      call self%refuse(error_memory, 'cannot use ' // name_of_space(home) // &
                       ': it does not exist', status)
      return
    end if
    has_room = self%state%replicas%allocate_at(home)
    if (has_room) return
    call self%refuse(error_memory, 'cannot be allocated on the device: out of memory', status)
  end function has_room

  !> Refuse an assignment: two storages would own the same memory afterwards.
  subroutine assign_storage(left, right)
    class(coherent_storage_type), intent(inout) :: left
    class(coherent_storage_type), intent(in) :: right

    call left%refuse(error_memory_in_use, 'cannot be assigned "' // right%get_name() // &
                     '": assign the values through a window of each')
  end subroutine assign_storage

end module coherent_storage_mod
