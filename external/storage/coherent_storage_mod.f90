!> Owns the values of one field as bytes, on the host and on the device, and keeps them coherent.
!>
!> Who wants to use the values asks for access in a space, and gets a copy there that is current:
!> moved if it is stale, allocated if it is not there yet. Types and shapes are for those who extend
!> the type. Calls come from one thread.
module coherent_storage_mod

  use, intrinsic :: iso_c_binding, only: c_associated, c_int, c_int64_t, c_null_ptr, c_ptr, c_size_t
  use storage_coherence_mod, only: coherence_type
  use storage_device_mod, only: device_has_memory
  use storage_errors_mod, only: report_error
  use storage_replicas_mod, only: home_of, replicas_type
  use storage_statistics_mod, only: count_avoided, count_exchange, count_transfer, &
                                    print_totals => print_statistics, storage_statistics_type
  use storage_words_mod, only: access_read, access_read_write, access_write, &
                               error_access_conflict, error_halo, error_lost_values, &
                               error_memory, error_memory_in_use, error_no_access, &
                               error_read_only, error_unknown_word, name_of_access, &
                               name_of_space, no_error, space_device, space_host

  implicit none
  private

  !> How a storage comes to be. Memory of the host that is given is used as it is and never freed;
  !> without it, the storage takes memory of its own. `has_values` says whether what is given holds
  !> any. Nobody may write what is `read_only`.
  type, public :: storage_options_type
    character(:), allocatable :: name
    integer(c_int) :: halo_depth = 0
    logical :: read_only = .false.
    type(c_ptr) :: host = c_null_ptr
    logical :: has_values = .false.
  end type storage_options_type

  !> The bytes of a field and their state.
  type, public :: coherent_storage_type
    private
    type(coherence_type) :: coherence
    type(replicas_type) :: replicas
    type(storage_statistics_type) :: done
    character(:), allocatable :: name
    logical :: is_there = .false.
    logical :: read_only = .false.
  contains
    procedure, public :: set_up
    procedure, public :: attach_device
    procedure, public :: leave_device
    procedure, public :: destroy
    procedure, public :: acquire
    procedure, public :: release
    procedure, public :: touch
    procedure, public :: assume_valid
    procedure, public :: begin_exchange
    procedure, public :: end_exchange
    procedure, public :: is_dirty
    procedure, public :: set_dirty
    procedure, public :: set_clean
    procedure, public :: get_halo_depth
    procedure, public :: is_valid
    procedure, public :: is_initialised
    procedure, public :: has_device_memory
    procedure, public :: get_version
    procedure, public :: get_address
    procedure, public :: get_kernel_address
    procedure, public :: get_name
    procedure, public :: get_statistics
    procedure, public :: reset_statistics
    procedure, public :: print_statistics
    procedure, public :: refuse
    procedure, public :: is_usable
    procedure, private :: is_depth
    procedure, private :: has_room
    procedure, private :: make_current
    procedure, private :: spoil_stale
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
    self%is_there = self%replicas%set_up(bytes, options%host)
    if (.not. self%is_there) then
      call self%refuse(error_memory, 'finds no memory left on the host', status)
      return
    end if
    self%read_only = options%read_only
    call self%coherence%initialise(options%halo_depth)
    if (options%has_values) call self%coherence%note_copy(space_host)
  end subroutine set_up

  !> Use memory of the device that exists already for the copy there, without a copy; it is never
  !> freed, and holds no current values unless `assume_valid` says so.
  !>
  !> Errors: 205 if there is memory on the device already, 207 for a null address, or if the build
  !> has no device.
  subroutine attach_device(self, address, status)
    class(coherent_storage_type), intent(inout) :: self
    type(c_ptr), intent(in) :: address
    integer(c_int), optional, intent(out) :: status

    if (.not. self%is_usable(space_device, status)) return
    if (.not. device_has_memory) then
      call self%refuse(error_memory, 'cannot use memory of a device: this build has none', status)
    else if (self%replicas%is_on_device()) then
      call self%refuse(error_memory_in_use, 'has memory on the device already', status)
    else if (self%replicas%get_bytes() > 0 .and. .not. c_associated(address)) then
      call self%refuse(error_memory, 'cannot use memory of a device at a null address', status)
    else
      call self%replicas%attach_device(address)
    end if
  end subroutine attach_device

  !> Give up the memory on the device; does nothing where there is none.
  !>
  !> Errors: 201 while the storage is used, 205 for memory that was attached, 200 if the only
  !> current values are there.
  subroutine leave_device(self, status)
    class(coherent_storage_type), intent(inout) :: self
    integer(c_int), optional, intent(out) :: status

    if (.not. self%is_usable(space_device, status)) return
    if (self%coherence%is_used()) then
      call self%refuse(error_access_conflict, 'cannot leave the device: there is ' // &
                       self%coherence%describe_users(), status)
    else if (self%replicas%is_attached()) then
      call self%refuse(error_memory_in_use, 'cannot free its memory on the device, which ' // &
                       'belongs to somebody else', status)
    else if (self%coherence%is_sole_truth(space_device)) then
      call self%refuse(error_lost_values, 'has its only current values on the device: acquire ' // &
                       'them on the host first', status)
    else
      call self%replicas%free_device()
      if (device_has_memory) call self%coherence%forget(space_device)
    end if
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
    if (self%coherence%is_used()) then
      call self%refuse(error_access_conflict, 'cannot be destroyed: there is ' // &
                       self%coherence%describe_users(), status)
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

    call self%replicas%free_all()
    self%coherence = coherence_type()
    self%is_there = .false.
    self%done = storage_statistics_type()
  end subroutine free_all

  ! -- use -----------------------------------------------------------------------------------------

  !> Begin to use the values in a space, where they are current from then on.
  !>
  !> A stale copy gets the current values, unless `access_write` promises to write all of them anew.
  !> A write makes at once the other copy stale, and the halo dirty to all its depths.
  !>
  !> Errors: 201 if another access is in the way, 204 for a write to what is read-only, 207 without
  !> enough memory.
  subroutine acquire(self, space, access, status)
    class(coherent_storage_type), intent(inout) :: self
    integer(c_int), intent(in) :: space
    integer(c_int), intent(in) :: access
    integer(c_int), optional, intent(out) :: status

    integer(c_int) :: home

    if (.not. self%is_usable(space, status)) return
    if (access < access_read .or. access > access_read_write) then
      call self%refuse(error_unknown_word, 'is asked for an unknown kind of access', status)
      return
    end if
    home = home_of(space)
    if (.not. self%coherence%may_acquire(home, access)) then
      call self%refuse(error_access_conflict, 'cannot give ' // name_of_access(access) // &
                       ' access at ' // name_of_space(space) // ': there is ' // &
                       self%coherence%describe_users(), status)
      return
    end if
    if (self%read_only .and. access /= access_read) then
      call self%refuse(error_read_only, 'is read-only', status)
      return
    end if
    if (.not. self%has_room(home, status)) return
    call self%make_current(home, access)
    if (access /= access_read) call self%spoil_stale(home)
    call self%coherence%begin_access(home, access)
  end subroutine acquire

  !> End the access in a space that began last.
  !>
  !> Errors: 206 if there is none.
  subroutine release(self, space, status)
    class(coherent_storage_type), intent(inout) :: self
    integer(c_int), intent(in) :: space
    integer(c_int), optional, intent(out) :: status

    integer(c_int) :: home

    if (.not. self%is_usable(space, status)) return
    home = home_of(space)
    if (self%coherence%may_release(home)) then
      call self%coherence%end_access(home)
    else
      call self%refuse(error_no_access, 'is released at ' // name_of_space(space) // &
                       ', but nobody acquired it there', status)
    end if
  end subroutine release

  !> Note that all values in a space are new: nothing is moved, the other copy is stale, the halo is
  !> dirty. This is for values that were written without an access.
  !>
  !> Errors: 201 if there is an access in the other space or an exchange, 204 if it is read-only,
  !> 207 without enough memory.
  subroutine touch(self, space, status)
    class(coherent_storage_type), intent(inout) :: self
    integer(c_int), intent(in) :: space
    integer(c_int), optional, intent(out) :: status

    integer(c_int) :: home

    if (.not. self%is_usable(space, status)) return
    home = home_of(space)
    if (.not. self%coherence%may_touch(home)) then
      call self%refuse(error_access_conflict, 'cannot be touched at ' // name_of_space(space) // &
                       ': there is ' // self%coherence%describe_users(), status)
    else if (self%read_only) then
      call self%refuse(error_read_only, 'is read-only', status)
    else if (self%has_room(home, status)) then
      call self%make_current(home, access_write)
      call self%spoil_stale(home)
      call self%coherence%note_touch(home)
    end if
  end subroutine touch

  !> Take the caller's word for where the values are current; nothing is moved, the halo stays.
  !>
  !> Errors: 201 while the storage is used, 207 without enough memory.
  subroutine assume_valid(self, on_host, on_device, status)
    class(coherent_storage_type), intent(inout) :: self
    logical, intent(in) :: on_host
    logical, intent(in) :: on_device
    integer(c_int), optional, intent(out) :: status

    if (.not. self%is_usable(space_device, status)) return
    if (self%coherence%is_used()) then
      call self%refuse(error_access_conflict, 'is used: there is ' // &
                       self%coherence%describe_users(), status)
      return
    end if
    if (on_device) then
      if (.not. self%has_room(home_of(space_device), status)) return
    end if
    call self%coherence%forget(space_host)
    call self%coherence%forget(space_device)
    if (on_host) call self%coherence%note_copy(space_host)
    if (on_device) call self%coherence%note_copy(home_of(space_device))
  end subroutine assume_valid

  ! -- halos ---------------------------------------------------------------------------------------

  !> Begin to exchange the halo of the values in a space, which are current there from then on.
  !>
  !> Until `end_exchange` everybody may read, but for the halo, and nobody may write.
  !>
  !> Errors: 230 for a depth that the halo does not have, 201 if somebody writes or exchanges, 204
  !> if it is read-only, 207 without enough memory.
  subroutine begin_exchange(self, space, depth, status)
    class(coherent_storage_type), intent(inout) :: self
    integer(c_int), intent(in) :: space
    integer(c_int), intent(in) :: depth
    integer(c_int), optional, intent(out) :: status

    integer(c_int) :: home

    if (.not. self%is_usable(space, status)) return
    if (.not. self%is_depth(depth, status)) return
    home = home_of(space)
    if (.not. self%coherence%may_exchange()) then
      call self%refuse(error_access_conflict, 'cannot be exchanged: there is ' // &
                       self%coherence%describe_users(), status)
    else if (self%read_only) then
      call self%refuse(error_read_only, 'is read-only', status)
    else if (self%has_room(home, status)) then
      call self%make_current(home, access_read)
      call self%coherence%begin_exchange(home, depth)
    end if
  end subroutine begin_exchange

  !> End the exchange: the halo has been received, and is clean up to the depth that was begun. The
  !> copy in the other space has the old halo, and is stale.
  !>
  !> `messages` and `bytes` are what this rank sent. Errors: 206 if no exchange was begun, 201 if
  !> somebody reads.
  subroutine end_exchange(self, messages, bytes, status)
    class(coherent_storage_type), intent(inout) :: self
    integer(c_int64_t), intent(in) :: messages
    integer(c_int64_t), intent(in) :: bytes
    integer(c_int), optional, intent(out) :: status

    if (.not. self%is_usable(space_host, status)) return
    if (.not. self%coherence%is_exchanged()) then
      call self%refuse(error_no_access, 'ends an exchange that was not begun', status)
    else if (.not. self%coherence%may_end_exchange()) then
      call self%refuse(error_access_conflict, 'cannot end its exchange: there is ' // &
                       self%coherence%describe_users(), status)
    else
      call self%spoil_stale(self%coherence%get_exchanged_space())
      call self%coherence%end_exchange()
      call count_exchange(self%done, messages, bytes)
    end if
  end subroutine end_exchange

  !> Say whether the halo is stale at a depth. Errors: 230 for a depth that the halo does not have.
  function is_dirty(self, depth, status)
    class(coherent_storage_type), intent(in) :: self
    integer(c_int), intent(in) :: depth
    integer(c_int), optional, intent(out) :: status
    logical :: is_dirty

    is_dirty = .true.
    if (self%is_depth(depth, status)) is_dirty = self%coherence%is_dirty(depth)
  end function is_dirty

  !> Note that the halo is stale at every depth.
  subroutine set_dirty(self)
    class(coherent_storage_type), intent(inout) :: self

    call self%coherence%set_dirty()
  end subroutine set_dirty

  !> Note that the halo is current up to a depth, because it was computed there; beyond it stays as
  !> it is. Errors: 230 for a depth that the halo does not have.
  subroutine set_clean(self, depth, status)
    class(coherent_storage_type), intent(inout) :: self
    integer(c_int), intent(in) :: depth
    integer(c_int), optional, intent(out) :: status

    if (self%is_depth(depth, status)) call self%coherence%set_clean(depth)
  end subroutine set_clean

  !> Return the depth of the halo.
  pure function get_halo_depth(self) result(depth)
    class(coherent_storage_type), intent(in) :: self
    integer(c_int) :: depth

    depth = self%coherence%get_halo_depth()
  end function get_halo_depth

  ! -- questions -----------------------------------------------------------------------------------

  !> Say whether the copy in a space has the current values.
  pure function is_valid(self, space)
    class(coherent_storage_type), intent(in) :: self
    integer(c_int), intent(in) :: space
    logical :: is_valid

    is_valid = self%coherence%is_valid(home_of(space))
  end function is_valid

  !> Say whether there are values anywhere.
  pure function is_initialised(self)
    class(coherent_storage_type), intent(in) :: self
    logical :: is_initialised

    is_initialised = self%coherence%is_initialised()
  end function is_initialised

  !> Say whether there is memory for a copy on the device, be it stale or current.
  pure function has_device_memory(self)
    class(coherent_storage_type), intent(in) :: self
    logical :: has_device_memory

    has_device_memory = self%replicas%is_on_device()
  end function has_device_memory

  !> Return how many writes have ended: a write access, a touch and an exchange each are one.
  pure function get_version(self) result(version)
    class(coherent_storage_type), intent(in) :: self
    integer(c_int64_t) :: version

    version = self%coherence%get_version()
  end function get_version

  !> Return the address of the copy in a space as seen there; null where there is none.
  pure function get_address(self, space) result(address)
    class(coherent_storage_type), intent(in) :: self
    integer(c_int), intent(in) :: space
    type(c_ptr) :: address

    address = self%replicas%get_address(home_of(space))
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
    if (.not. self%is_usable(space, status)) return
    if (.not. self%coherence%is_used_at(home_of(space))) then
      call self%refuse(error_no_access, 'is used at ' // name_of_space(space) // &
                       ', but nobody acquired it there', status)
      return
    end if
    address = self%replicas%get_kernel_address(home_of(space))
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

    statistics = self%done
  end function get_statistics

  !> Start the count from nothing; the sums over all storages stay.
  subroutine reset_statistics(self)
    class(coherent_storage_type), intent(inout) :: self

    self%done = storage_statistics_type()
  end subroutine reset_statistics

  !> Print what was done for this storage, unless set to quiet.
  subroutine print_statistics(self)
    class(coherent_storage_type), intent(in) :: self

    call print_totals(self%get_name(), self%done)
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

  !> Say whether there is memory to be used and `space` is one; report it if not.
  function is_usable(self, space, status)
    class(coherent_storage_type), intent(in) :: self
    integer(c_int), intent(in) :: space
    integer(c_int), optional, intent(out) :: status
    logical :: is_usable

    if (present(status)) status = no_error
    is_usable = self%is_there .and. space >= space_host .and. space <= space_device
    if (is_usable) return
    if (self%is_there) then
      call self%refuse(error_unknown_word, 'is asked for an unknown space', status)
    else
      call self%refuse(error_memory, 'has no memory: create it, or wrap some', status)
    end if
  end function is_usable

  !> Say whether the halo has a depth; report it if not.
  function is_depth(self, depth, status)
    class(coherent_storage_type), intent(in) :: self
    integer(c_int), intent(in) :: depth
    integer(c_int), optional, intent(out) :: status
    logical :: is_depth

    if (present(status)) status = no_error
    is_depth = depth >= 1 .and. depth <= self%coherence%get_halo_depth()
    if (.not. is_depth) call self%refuse(error_halo, 'has no halo of this depth', status)
  end function is_depth

  !> Say whether there is memory at `home`, which is taken if need be; report it if none is left.
  function has_room(self, home, status)
    class(coherent_storage_type), intent(inout) :: self
    integer(c_int), intent(in) :: home
    integer(c_int), optional, intent(out) :: status
    logical :: has_room

    if (present(status)) status = no_error
    has_room = self%replicas%allocate_at(home)
    if (has_room) return
    call self%refuse(error_memory, 'finds no memory left on the device', status)
  end function has_room

  !> Make the copy at `home`, which has memory, current if it is read.
  subroutine make_current(self, home, access)
    class(coherent_storage_type), intent(inout) :: self
    integer(c_int), intent(in) :: home
    integer(c_int), intent(in) :: access

    if (access /= access_write .and. self%coherence%is_stale(home)) then
      if (self%replicas%get_bytes() > 0) then
        call self%replicas%move_to(home)
        call count_transfer(self%done, home, self%replicas%get_bytes())
      end if
      call self%coherence%note_copy(home)
    else if (self%replicas%is_on_device() .and. self%coherence%is_initialised()) then
      call count_avoided(self%done)
    end if
  end subroutine make_current

  !> Spoil the copy that a write at `home` makes stale, if it was current until now.
  subroutine spoil_stale(self, home)
    class(coherent_storage_type), intent(in) :: self
    integer(c_int), intent(in) :: home

    integer(c_int) :: elsewhere

    elsewhere = space_host + space_device - home
    if (self%coherence%is_valid(elsewhere)) call self%replicas%spoil_at(elsewhere)
  end subroutine spoil_stale

  !> Refuse an assignment, after which two storages would own one memory.
  subroutine assign_storage(left, right)
    class(coherent_storage_type), intent(inout) :: left
    class(coherent_storage_type), intent(in) :: right

    call left%refuse(error_memory_in_use, 'cannot be assigned "' // right%get_name() // &
                     '": assign the values, of a window on each')
  end subroutine assign_storage

end module coherent_storage_mod
