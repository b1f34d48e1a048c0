!> Owns the values of one field as bytes, on the host and on devices, and keeps them coherent.
!>
!> Who wants to use the values asks for access in a space, and gets a copy there that is current:
!> moved if it is stale, allocated if it is not there yet. Types and shapes are for those who extend
!> the type. Threads may call at the same time: one after the other changes the state.
!>
!> Here it is decided what is refused; `storage_state_mod` does what is not.
module coherent_storage_mod

  use, intrinsic :: iso_c_binding, only: c_associated, c_int, c_int64_t, c_null_ptr, c_ptr, c_size_t
  use storage_coherence_mod, only: coherence_type
  use storage_device_mod, only: count_devices, device_has_memory, home_of, start_queue
  use storage_errors_mod, only: report_error
  use storage_parts_mod, only: strip_type
  use storage_state_mod, only: storage_state_type
  use storage_statistics_mod, only: count_avoided, print_totals => print_statistics, &
                                    storage_statistics_type
  use storage_words_mod, only: access_read, access_read_write, error_access_conflict, &
                               error_lost_values, error_memory, error_memory_in_use, &
                               error_no_access, error_read_only, error_unknown_word, &
                               first_device_space, last_space, &
                               name_of_access, name_of_space, no_error, space_beyond, &
                               space_device, space_host

  implicit none
  private

  !> How a storage comes to be. Memory of the host that is given is used as it is and never freed;
  !> without it, the storage takes memory of its own. `has_values` says whether what is given holds
  !> any. Nobody may write what is `read_only`. Memory that is given is spoilt, as the storage's own
  !> is, if it `spoils` it: its owner has agreed to use it through the storage alone. What is
  !> `named_by_place` has its extents and this address behind its name in messages, if it has some.
  type, public :: storage_options_type
    character(:), allocatable :: name
    logical :: named_by_place = .false.
    integer(c_int) :: halo_depth = 0
    logical :: read_only = .false.
    type(c_ptr) :: host = c_null_ptr
    logical :: has_values = .false.
    logical :: spoils = .false.
  end type storage_options_type

  !> The bytes of a field and their state, which is for types that extend this one.
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

  !> Make this the storage of so many bytes; what it was before is given up first.
  !>
  !> Errors: as `destroy`; 207 for a size or a halo depth below 0, or without enough memory.
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
      call self%refuse(error_memory, 'has a size below 0 or too great, or a halo depth ' // &
                       'below 0', status)
      return
    end if
    self%is_there = self%state%replicas%set_up(bytes, options%host, options%spoils)
    if (.not. self%is_there) then
      call self%refuse(error_memory, 'finds no memory left on the host', status)
      return
    end if
    self%read_only = options%read_only
    call self%state%coherence%initialise(options%halo_depth)
    if (options%has_values) call self%state%coherence%note_copy(space_host)
  end subroutine set_up

  !> Use memory of a device, which exists already, for the copy there, without a copy; it is never
  !> freed, and holds no current values unless `assume_valid` says so. Without a `space`, the device
  !> is the one that this thread uses.
  !>
  !> Errors: 205 if there is memory on the device already, 207 for a null address, or if there is no
  !> such device.
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
      call self%refuse(error_memory, 'cannot use memory of a device: this build has none', status)
    else if (home == space_beyond .or. home - first_device_space >= devices) then
      call self%refuse(error_memory, 'finds no ' // name_of_space(home), status)
    else if (self%state%replicas%is_at(home)) then
      call self%refuse(error_memory_in_use, 'has memory on the device already', status)
    else if (self%state%replicas%get_bytes() > 0 .and. .not. c_associated(address)) then
      call self%refuse(error_memory, 'cannot use memory of a device at a null address', status)
    else
      call self%state%replicas%attach_device(home, address)
    end if
    call self%state%coherence%unlock()
  end subroutine attach_device

  !> Give up the memory on the device that this thread uses; does nothing where there is none.
  !>
  !> Errors: 201 while the storage is used, 205 for memory that was attached, 200 if the only
  !> current values are there.
  subroutine leave_device(self, status)
    class(coherent_storage_type), intent(inout) :: self
    integer(c_int), optional, intent(out) :: status

    integer(c_int) :: home

    if (.not. is_usable(self, space_device, status)) return
    home = home_of(space_device)
    call self%state%coherence%lock()
    if (self%state%coherence%is_used()) then
      call self%refuse(error_access_conflict, 'cannot leave the device: there is ' // &
                       self%state%coherence%describe_users(), status)
    else if (self%state%replicas%is_attached(home)) then
      call self%refuse(error_memory_in_use, 'cannot free its memory on the device, which ' // &
                       'belongs to somebody else', status)
    else if (home /= space_host .and. self%state%coherence%is_sole_truth(home)) then
      call self%refuse(error_lost_values, 'has its only current values on the device: acquire ' // &
                       'them on the host first', status)
    else
      call self%state%wait_unless()
      call self%state%replicas%free_device(home)
      if (device_has_memory) call self%state%coherence%forget(home)
    end if
    call self%state%coherence%unlock()
  end subroutine leave_device

  !> Give up all memory, that of the device first; does nothing if there is none. What is given up
  !> is lost.
  !>
  !> Errors: 201 while the storage is used.
  subroutine destroy(self, status)
    class(coherent_storage_type), intent(inout) :: self
    integer(c_int), optional, intent(out) :: status

    if (present(status)) status = no_error
    if (.not. self%is_there) return
    if (self%state%coherence%is_used()) then
      call self%refuse(error_access_conflict, 'cannot be destroyed: there is ' // &
                       self%state%coherence%describe_users(), status)
      return
    end if
    call free_all(self)
  end subroutine destroy

  !> Give up all memory when a storage goes out of scope.
  impure elemental subroutine destroy_storage(self)
    type(coherent_storage_type), intent(inout) :: self

    if (self%is_there) call free_all(self)
  end subroutine destroy_storage

  !> Give up all memory and forget what was done with it.
  subroutine free_all(self)
    class(coherent_storage_type), intent(inout) :: self

    call self%state%wait_unless()
    call self%state%replicas%free_all()
    self%state%coherence = coherence_type()
    self%is_there = .false.
    self%state%done = storage_statistics_type()
  end subroutine free_all

  ! -- use -----------------------------------------------------------------------------------------

  !> Begin to use the values in a space, where they are current from then on.
  !>
  !> A stale copy gets the current values, unless `access_write` promises to write all of them anew.
  !> A write makes at once all other copies stale, and the halo dirty to all its depths. With a
  !> `queue` of 1 or more the host waits for no transfer: what is put into that queue finds the
  !> values.
  !>
  !> Errors: 201 if another access is in the way, 204 for a write to what is read-only, 207 without
  !> enough memory.
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

  !> Begin to use strips alone of the values in a space, where they are current from then on; what
  !> is not in the strips is of no account.
  !>
  !> Nothing else is moved, and no copy becomes stale by a write: at the release, what was written
  !> is copied to the others that are current. Errors: as `acquire`.
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

  !> Begin an access, to all values or to strips, while no other thread is at it.
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
                       ' access at ' // name_used(space) // ': there is ' // &
                       self%state%coherence%describe_users(), status)
    else if (self%read_only .and. access /= access_read) then
      call self%refuse(error_read_only, 'is read-only', status)
    else if (self%has_room(home_of(space), status)) then
      call self%state%begin_access(home_of(space), access, strips, queue)
    end if
    call self%state%coherence%unlock()
  end subroutine begin_alone

  !> End the access in a space that began last. With a `queue`, what was put there may go on using
  !> the values: who acquires them for another queue, or for the host, waits for it first.
  !>
  !> Errors: 206 if there is none.
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
                       ', but nobody acquired it there', status)
    end if
    call self%state%coherence%unlock()
  end subroutine release

  !> Wait until all that was put into a queue is done with the values.
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

  !> Note that all values in a space are new: nothing is moved, all other copies are stale, the halo
  !> is dirty. This is for values that were written without an access.
  !>
  !> Errors: 201 if there is an access in another space or an exchange, 204 if it is read-only,
  !> 207 without enough memory.
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
                       ': there is ' // self%state%coherence%describe_users(), status)
    else if (self%read_only) then
      call self%refuse(error_read_only, 'is read-only', status)
    else if (self%has_room(home, status)) then
      call self%state%note_touch(home)
    end if
    call self%state%coherence%unlock()
  end subroutine touch

  !> Take the caller's word for the spaces where the values are current; nothing is moved, the halo
  !> stays.
  !>
  !> Errors: 201 while the storage is used, 207 without enough memory, 209 for an unknown space.
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
      call self%refuse(error_access_conflict, 'is used: there is ' // &
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

  !> Say whether the copy in a space has the current values.
  pure function is_valid(self, space)
    class(coherent_storage_type), intent(in) :: self
    integer(c_int), intent(in) :: space
    logical :: is_valid

    is_valid = self%state%coherence%is_valid(home_of(space))
  end function is_valid

  !> Say whether the copy on some device has the current values.
  pure function is_valid_on_a_device(self)
    class(coherent_storage_type), intent(in) :: self
    logical :: is_valid_on_a_device

    is_valid_on_a_device = device_has_memory .and. self%state%coherence%is_initialised() .and. &
                           .not. self%state%coherence%is_sole_truth(space_host)
  end function is_valid_on_a_device

  !> Say whether there are values anywhere.
  pure function is_initialised(self)
    class(coherent_storage_type), intent(in) :: self
    logical :: is_initialised

    is_initialised = self%state%coherence%is_initialised()
  end function is_initialised

  !> Say whether somebody has all values of a space for writing; without a space, of any.
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

  !> Say whether there is memory for a copy on some device, be it stale or current.
  pure function has_device_memory(self)
    class(coherent_storage_type), intent(in) :: self
    logical :: has_device_memory

    has_device_memory = self%state%replicas%is_on_a_device()
  end function has_device_memory

  !> Say whether there is memory on some device that is not the host's, too.
  pure function has_memory_elsewhere(self)
    class(coherent_storage_type), intent(in) :: self
    logical :: has_memory_elsewhere

    has_memory_elsewhere = self%state%replicas%is_elsewhere()
  end function has_memory_elsewhere

  !> Return how many writes have ended: a write access, a touch and an exchange each are one.
  pure function get_version(self) result(version)
    class(coherent_storage_type), intent(in) :: self
    integer(c_int64_t) :: version

    version = self%state%coherence%get_version()
  end function get_version

  !> Return the address of the copy in a space as seen there; null where there is none.
  pure function get_address(self, space) result(address)
    class(coherent_storage_type), intent(in) :: self
    integer(c_int), intent(in) :: space
    type(c_ptr) :: address

    address = self%state%replicas%get_address(home_of(space))
  end function get_address

  !> Return the address that code for a space works on, of an access that was acquired there.
  !>
  !> Errors: 206 if nobody has access there.
  function get_kernel_address(self, space, status) result(address)
    class(coherent_storage_type), intent(in) :: self
    integer(c_int), intent(in) :: space
    integer(c_int), optional, intent(out) :: status
    type(c_ptr) :: address

    address = c_null_ptr
    if (.not. is_usable(self, space, status)) return
    if (.not. self%state%coherence%is_used_at(home_of(space))) then
      call self%refuse(error_no_access, 'is used at ' // name_used(space) // &
                       ', but nobody acquired it there', status)
      return
    end if
    address = self%state%replicas%get_kernel_address(home_of(space))
    if (space == space_host .or. self%state%coherence%get_queue() == 0) return
    call start_queue(self%state%coherence%get_queue_space() - first_device_space, &
                     self%state%coherence%get_queue())
  end function get_kernel_address

  !> Return the name, for messages.
  pure function get_name(self) result(name)
    class(coherent_storage_type), intent(in) :: self
    character(:), allocatable :: name

    name = 'unnamed'
    if (allocated(self%name)) name = self%name
  end function get_name

  !> Return what was done for this storage since it was set up or its count was reset.
  pure function get_statistics(self) result(statistics)
    class(coherent_storage_type), intent(in) :: self
    type(storage_statistics_type) :: statistics

    statistics = self%state%done
  end function get_statistics

  !> Start the count from nothing; the sums over all storages stay.
  subroutine reset_statistics(self)
    class(coherent_storage_type), intent(inout) :: self

    self%state%done = storage_statistics_type()
  end subroutine reset_statistics

  !> Print what was done for this storage, unless set to quiet.
  subroutine print_statistics(self)
    class(coherent_storage_type), intent(in) :: self

    call print_totals(self%get_name(), self%state%done)
  end subroutine print_statistics

  !> Report an error of this storage, whose name is the subject of `predicate`.
  subroutine refuse(self, code, predicate, status)
    class(coherent_storage_type), intent(in) :: self
    integer(c_int), intent(in) :: code
    character(*), intent(in) :: predicate
    integer(c_int), optional, intent(out) :: status

    call report_error(code, '"' // self%get_name() // '" ' // predicate // '.', status)
  end subroutine refuse

  ! -- private -------------------------------------------------------------------------------------

  !> Say whether the words of an access are known, and there is memory; report it if not.
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
      call self%refuse(error_unknown_word, 'is asked for an unknown kind of access', status)
    end if
  end function is_access

  !> Say whether there is memory to be used and `space` is one; report it if not.
  function is_usable(self, space, status)
    class(coherent_storage_type), intent(in) :: self
    integer(c_int), intent(in) :: space
    integer(c_int), optional, intent(out) :: status
    logical :: is_usable

    if (present(status)) status = no_error
    is_usable = self%is_there .and. space >= space_host .and. space <= last_space
    if (is_usable) return
    if (self%is_there) then
      call self%refuse(error_unknown_word, 'is asked for an unknown space, or for a device ' // &
                       'beyond those that may have copies', status)
    else
      call self%refuse(error_memory, 'has no memory: create it, or wrap some', status)
    end if
  end function is_usable

  !> Return the name of a space as its user sees it, and of the device if there is more than one.
  pure function name_used(space) result(name)
    integer(c_int), intent(in) :: space
    character(:), allocatable :: name

    name = name_of_space(max(space, home_of(space)))
  end function name_used

  !> Say whether there is memory at `home`, which is taken if need be; report it if none is left.
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
      call self%refuse(error_memory, 'finds no ' // name_of_space(home), status)
      return
    end if
    has_room = self%state%replicas%allocate_at(home)
    if (has_room) return
    call self%refuse(error_memory, 'finds no memory left on the device', status)
  end function has_room

  !> Refuse an assignment, after which two storages would own one memory.
  subroutine assign_storage(left, right)
    class(coherent_storage_type), intent(inout) :: left
    class(coherent_storage_type), intent(in) :: right

    call left%refuse(error_memory_in_use, 'cannot be assigned "' // right%get_name() // &
                     '": assign the values, of a window on each')
  end subroutine assign_storage

end module coherent_storage_mod
