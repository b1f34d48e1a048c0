!> Use of an array that belongs to other code: access, release, transfers and exchanges.
!>
!> Other code can write such an array on the host, free it, or reuse its memory without notice.
!> Therefore there are two contracts. By default **the program reports nothing**: when the last
!> access ends, the values are copied to the host, and copies on devices become stale. This is
!> always correct, but transfers everything each time. If **the program reports its uses**
!> (`set_program_tells`), or if the release states that values stay, as for fields with storages,
!> they remain on the device.
module wrapped_array_mod

  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_int, c_int64_t, c_intptr_t, c_loc, &
                                         c_null_ptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, real32, real64
  use storage_device_mod, only: device_has_memory
  use storage_parts_mod, only: box_type, boxes_around
  use storage_constants_mod, only: access_read, access_read_write, access_write, &
                               error_access_conflict, error_lost_values, last_space, space_host
  use monitored_storage_mod, only: monitored_storage_type

  implicit none
  private

  public :: note_contract, stays

  integer(c_intptr_t), parameter :: no_thread = 0

  !> Owner of an array: code that knows no storage; a field that identifies its storage by the
  !> address of its array and a stamp; a field with the storage as a component; readers, where no
  !> code ever writes.
  integer, parameter, public :: of_nobody = 0, of_stamped_field = 1, of_field = 2, of_readers = 3

  !> The storage of an array. `shares` counts further accesses under another name; a writer whose
  !> values were `brought` found the old values. The owner exchanges to the depth `within` an
  !> exchange that surrounding code has begun, otherwise 0. For an array without an owner that gets
  !> reports, `halo_written` is set by writers, until a field at its address has a clean halo.
  !> `exchanges` counts the calls that have begun an exchange and not ended it: several if one call
  !> exchanges the array under several names, including exchanges that were not needed.
  !>
  !> A storage that is `gone` from the table remains in memory while it is the last one that some
  !> thread looked up; `pending` counts these threads. Its current users belong to one thread, or
  !> are `no_thread`. The table uses the rest: `users` counts uses in progress; a storage that is
  !> `forgotten` meanwhile is freed after the last. A `guest` uses memory that was lent to it and
  !> the storage of the field with the same `layout` that has this memory; a host has its guests in
  !> a linked list, of which it knows the first.
  type, public, extends(monitored_storage_type) :: wrapped_array_type
    integer, public :: owner = of_nobody
    integer(c_int64_t), public :: stamp = 0
    integer, public :: users = 0
    logical, public :: forgotten = .false.
    logical, public :: guest = .false.
    logical, public :: lent = .false.
    type(wrapped_array_type), pointer, public :: next_guest => null()
    type(c_ptr), public :: layout = c_null_ptr
    integer, public :: pending = 0
    logical, public :: gone = .false.
    integer(c_int), private :: lock_word = 0
    integer, private :: shares = 0
    logical, private :: brought = .true.
    logical, public :: halo_written = .false.
    integer(c_int), private :: within = 0
    integer, private :: exchanges = 0
    integer(c_intptr_t), private :: thread = no_thread
  contains
    procedure, non_overridable, private :: acquire_real64_1, acquire_real64_2, acquire_real64_3
    procedure, non_overridable, private :: acquire_real32_1, acquire_real32_2, acquire_real32_3
    procedure, non_overridable, private :: acquire_int32_1, acquire_int32_2
    generic, public :: acquire => acquire_real64_1, acquire_real64_2, acquire_real64_3, &
                                  acquire_real32_1, acquire_real32_2, acquire_real32_3, &
                                  acquire_int32_1, acquire_int32_2
    procedure, non_overridable, public :: begin_use
    procedure, non_overridable, public :: release
    procedure, non_overridable, public :: prefetch
    procedure, non_overridable, public :: touch_host
    procedure, non_overridable, public :: wrote_all_on_host
    procedure, non_overridable, public :: begin_exchange
    procedure, non_overridable, public :: begin_exchange_of_parts
    procedure, non_overridable, public :: end_exchange
    procedure, non_overridable, public :: is_exchanged
    procedure, non_overridable, public :: is_nothing
    procedure, non_overridable, public :: has_owner
    procedure, non_overridable, public :: is_dirty
    procedure, non_overridable, public :: set_clean
    procedure, non_overridable, public :: lock_if_in_table
    procedure, non_overridable, public :: unlock
    procedure, non_overridable, public :: lock
  end type wrapped_array_type

  logical, save :: program_tells = .false.

contains

  !> Record whether the program reports its uses of arrays on the host from now on.
  subroutine note_contract(tells)
    logical, intent(in) :: tells

    program_tells = tells
  end subroutine note_contract

  !> Begin an access to the values in a space; they are current there afterwards. With `may_share`,
  !> the same caller may have acquired the array already under another name: then nothing is done.
  !> Since the other name may read what this one overwrites, all values are copied first in this
  !> case. With `looks`, the caller only inspects the values of the host, and may be code with its
  !> own directives.
  !>
  !> Stops with 201 if directives keep the array on a device.
  subroutine begin_use(self, space, access, may_share, looks)
    class(wrapped_array_type), intent(inout) :: self
    integer(c_int), intent(in) :: space
    integer(c_int), intent(in) :: access
    logical, optional, intent(in) :: may_share
    logical, optional, intent(in) :: looks

    integer(c_int) :: wanted, status
    logical :: sharing, is_look

    if (self%is_nothing()) return
    sharing = .false.
    if (present(may_share)) sharing = may_share .and. access /= access_read
    wanted = access
    if (sharing .and. access == access_write) wanted = access_read_write
    call self%lock_if_in_table()
    if (sharing) sharing = self%storage%is_written(space)
    if (sharing) sharing = self%brought .or. access == access_write
    if (sharing) then
      self%shares = self%shares + 1
    else
      if (device_has_memory .and. wanted /= access_write) then
        call self%notice_changes(space == space_host .and. wanted /= access_read)
      end if
      call note_thread(self)
      is_look = .false.
      if (present(looks)) is_look = looks
      if (.not. is_look) call check_if_written(self)
      call self%show_copies()
      call complete_if_exchanged(self, space)
      call self%storage%acquire(space, wanted, status)
      call self%stop_unless_done(status)
      if (wanted /= access_read) self%brought = wanted /= access_write
      if (wanted /= access_read) self%halo_written = .not. self%has_owner()
    end if
    call self%unlock()
  end subroutine begin_use

  !> End the last access that began in a space. With `stay`, values remain where they are: the
  !> caller reports uses on the host.
  subroutine release(self, space, stay)
    class(wrapped_array_type), intent(inout) :: self
    integer(c_int), intent(in) :: space
    logical, optional, intent(in) :: stay

    integer(c_int) :: status

    if (self%is_nothing()) return
    call self%lock_if_in_table()
    if (self%shares > 0) then
      self%shares = self%shares - 1
    else
      call self%storage%release(space, status)
      call self%stop_unless_done(status)
      call end_last_use(self, stay)
    end if
    call self%unlock()
  end subroutine release

  !> Begin a transfer of the values to a space where they will be acquired later, unless they are
  !> being written, or will not `stay` there.
  subroutine prefetch(self, space, stay)
    class(wrapped_array_type), intent(inout) :: self
    integer(c_int), intent(in) :: space
    logical, optional, intent(in) :: stay

    if (self%is_nothing() .or. .not. stays(stay)) return
    call self%lock_if_in_table()
    if (.not. self%storage%is_written()) then
      call self%notice_changes(.false.)
      call check_if_written(self)
      call self%show_copies()
      call complete_if_exchanged(self, space)
      call self%storage%acquire(space, access_read, queue=1)
      call self%storage%release(space, queue=1)
      if (space /= space_host) then
        call self%watch()
      else
        call self%forget_digest()
      end if
      if (self%owner /= of_readers) call self%hide_copies()
    end if
    call self%unlock()
  end subroutine prefetch

  !> Record that the host has written values: those on devices become stale. The owner calls this,
  !> after it has fetched the values that it did not write and that are needed.
  !>
  !> Does nothing if the host values are stale and unchanged: then the write took place on the
  !> device and is reported for both sides. With `all`, the report is checked.
  !>
  !> Stops with 200 if the host should have written all values, but only the device has some of
  !> them.
  subroutine touch_host(self, all)
    class(wrapped_array_type), intent(inout) :: self
    logical, optional, intent(in) :: all

    integer(c_int) :: status

    if (self%is_nothing()) return
    call self%lock_if_in_table()
    if (self%storage%has_device_memory()) call self%check_one_contract()
    if (self%has_old_values()) then
      call self%storage%set_dirty()
    else
      if (present(all)) call self%check_all_written(all)
      call self%storage%touch(space_host, status)
      call self%stop_unless_done(status)
    end if
    call self%unlock()
  end subroutine touch_host

  !> Record that the host has written all values, or a part after all were fetched.
  !>
  !> Stops with 200 if the rest was not fetched.
  subroutine wrote_all_on_host(self)
    class(wrapped_array_type), intent(inout) :: self

    integer(c_int) :: status

    if (self%is_nothing()) return
    call self%lock_if_in_table()
    if (self%storage%has_device_memory()) call self%check_one_contract()
    call self%check_all_written(.true.)
    call self%storage%touch(space_host, status)
    call self%stop_unless_done(status)
    self%halo_written = .not. self%has_owner()
    call self%unlock()
  end subroutine wrote_all_on_host

  !> Begin a halo exchange in host memory. All values become current there, or only those closer
  !> than `depth` to the border of the `inner` part and everything outside of it; `inner` gives the
  !> first and last index in each of two dimensions, and no other thread may write it meanwhile.
  !> `needed`: as for an exchange of parts.
  subroutine begin_exchange(self, inner, depth, needed)
    class(wrapped_array_type), intent(inout) :: self
    integer, optional, intent(in) :: inner(4)
    integer, optional, intent(in) :: depth
    logical, optional, intent(in) :: needed

    integer(c_int64_t) :: owned(4), kept(4)

    if (self%is_nothing()) return
    if (.not. present(inner) .or. .not. present(depth)) then
      call self%begin_exchange_of_parts(1, needed=needed)
      return
    end if
    owned = inner
    kept(1::2) = owned(1::2) + depth
    kept(2::2) = max(owned(2::2) - depth, kept(1::2) - 1)
    associate (extents => self%storage%get_extents())
      call self%begin_exchange_of_parts(1, boxes_around(kept, extents), &
                                        boxes_around(owned, extents), needed=needed)
    end associate
  end subroutine begin_exchange

  !> Begin a halo exchange to a depth. With `sent` and `received`, only these parts are fetched, and
  !> a copy on a device stays current. A caller that exchanges its own component can do so `within`
  !> an exchange that the surrounding code has begun, which does the rest.
  !>
  !> An exchange that is not `needed`, because the halo is clean, does nothing at its begin and end:
  !> no message arrives, and the halo on the host may be older than on the device. The thread may
  !> begin another exchange of the same array, under another name and to another depth, before it
  !> sends messages: the exchange then covers what both send and receive, or all values if one of
  !> them does. The last end completes it.
  subroutine begin_exchange_of_parts(self, depth, sent, received, within, needed)
    class(wrapped_array_type), intent(inout) :: self
    integer(c_int), intent(in) :: depth
    type(box_type), optional, intent(in) :: sent(:)
    type(box_type), optional, intent(in) :: received(:)
    logical, optional, intent(in) :: within
    logical, optional, intent(in) :: needed

    integer(c_int) :: status
    logical :: joins, passes

    if (self%is_nothing()) return
    call self%lock_if_in_table()
    if (present(within) .and. self%within == 0 .and. self%is_exchanged()) then
      self%within = depth
      call self%unlock()
      return
    end if
    passes = .true.
    if (present(needed)) passes = needed
    joins = self%exchanges > 0 .and. self%thread == this_thread() .and. self%is_exchanged()
    self%exchanges = self%exchanges + 1
    if (.not. passes .or. joins) then
      if (passes) then
        if (present(sent) .and. present(received)) then
          call self%storage%widen_exchange_by_parts(sent, received, status)
        else
          call self%storage%widen_exchange(status)
        end if
        call self%stop_unless_done(status)
      end if
      call self%unlock()
      return
    end if
    call self%notice_changes(.false.)
    call note_thread(self)
    call self%show_copies()
    if (present(sent) .and. present(received)) then
      call self%storage%begin_exchange_of_parts(space_host, depth, sent, received, status)
    else
      call self%storage%begin_exchange(space_host, depth, status)
    end if
    call self%stop_unless_done(status)
    call self%unlock()
  end subroutine begin_exchange_of_parts

  !> End an exchange: the received values are in host memory. The same thread may be reading the
  !> array under another name; that access continues in the same memory if it gets the received
  !> values, too. If several calls began exchanges of the array, the last end completes them, if one
  !> of them was needed.
  subroutine end_exchange(self, messages, bytes, stay)
    class(wrapped_array_type), intent(inout) :: self
    integer(c_int64_t), optional, intent(in) :: messages, bytes
    logical, optional, intent(in) :: stay

    integer(c_int64_t) :: sent_messages, sent_bytes
    integer :: readers(space_host:last_space)
    integer(c_int) :: space, status
    integer :: n

    if (self%is_nothing()) return
    sent_messages = 0
    sent_bytes = 0
    if (present(messages)) sent_messages = messages
    if (present(bytes)) sent_bytes = bytes
    call self%lock_if_in_table()
    if (self%within > 0) then
      call self%set_clean(self%within)
      self%within = 0
      call self%unlock()
      return
    end if
    if (self%exchanges > 0) then
      self%exchanges = self%exchanges - 1
      if (self%exchanges > 0 .or. .not. self%is_exchanged()) then
        call self%unlock()
        return
      end if
    end if
    readers = 0
    if (self%thread == this_thread()) readers = self%storage%state%coherence%get_readers()
    do space = space_host, last_space
      do n = 1, readers(space)
        call self%storage%release(space)
      end do
    end do
    call self%storage%end_exchange(sent_messages, sent_bytes, status)
    call self%stop_unless_done(status)
    do space = space_host, last_space
      do n = 1, readers(space)
        call self%storage%acquire(space, access_read)
      end do
    end do
    call end_last_use(self, stay)
    call self%unlock()
  end subroutine end_exchange

  !> Return whether an exchange is in progress.
  function is_exchanged(self)
    class(wrapped_array_type), intent(in) :: self
    logical :: is_exchanged

    is_exchanged = self%storage%state%coherence%is_exchanged()
  end function is_exchanged

  !> Return whether a field owns this storage.
  pure function has_owner(self)
    class(wrapped_array_type), intent(in) :: self
    logical :: has_owner

    has_owner = self%owner /= of_nobody
  end function has_owner

  !> Return whether the halo is dirty at a depth. For an array without an owner, `clean_depth` is
  !> the depth up to which the field at its address had a clean halo before the array was written;
  !> if no field records it, the storage does.
  function is_dirty(self, depth, clean_depth)
    class(wrapped_array_type), intent(in) :: self
    integer(c_int), intent(in) :: depth
    integer(c_int), optional, intent(in) :: clean_depth
    logical :: is_dirty

    if (self%has_owner() .or. .not. present(clean_depth)) then
      is_dirty = depth > self%storage%get_clean_depth()
    else
      is_dirty = self%halo_written .or. depth > clean_depth
    end if
  end function is_dirty

  !> Mark the halo clean up to a depth. A field that does not own the storage at its address has
  !> recorded a `clean_depth`, which is 0 if the array was written since.
  subroutine set_clean(self, depth, clean_depth)
    class(wrapped_array_type), intent(inout) :: self
    integer(c_int), intent(in) :: depth
    integer(c_int), optional, intent(inout) :: clean_depth

    if (self%has_owner()) then
      call self%storage%set_clean(depth)
    else if (present(clean_depth)) then
      if (self%halo_written) clean_depth = 0
      self%halo_written = .false.
    end if
  end subroutine set_clean

  !> Return whether this represents all arrays without elements that have no owner.
  pure function is_nothing(self)
    class(wrapped_array_type), intent(in) :: self
    logical :: is_nothing

    is_nothing = self%bytes == 0 .and. self%owner == of_nobody
  end function is_nothing

  ! -- one thread at a time ------------------------------------------------------------------------

  !> Acquire the lock of a storage.
  subroutine lock(self)
    class(wrapped_array_type), intent(inout) :: self

    call acquire_lock(self%lock_word)
  end subroutine lock

  !> Acquire the lock of a storage that is still in the table.
  subroutine lock_if_in_table(self)
    class(wrapped_array_type), intent(inout) :: self

    call acquire_lock(self%lock_word)
    if (.not. self%gone) return
    call self%stop_at(error_access_conflict, 'The storage of an array was used after its ' // &
                      'release, or after another array got the memory: call storage_of for ' // &
                      'each use.')
  end subroutine lock_if_in_table

  !> Release the lock of a storage.
  subroutine unlock(self)
    class(wrapped_array_type), intent(inout) :: self

    call release_lock(self%lock_word)
  end subroutine unlock

  ! -- private -------------------------------------------------------------------------------------

  !> Fetch what an exchange in progress has not fetched, for a reader on the host during the
  !> exchange.
  subroutine complete_if_exchanged(self, space)
    class(wrapped_array_type), intent(inout) :: self
    integer(c_int), intent(in) :: space

    if (.not. device_has_memory .or. space /= space_host) return
    if (self%is_exchanged()) call self%storage%complete_exchange()
  end subroutine complete_if_exchanged

  !> Prepare for a time in which the values are not used through the storage.
  subroutine end_last_use(self, stay)
    class(wrapped_array_type), intent(inout) :: self
    logical, optional, intent(in) :: stay

    if (self%owner == of_nobody .and. .not. stays(stay)) call self%storage%set_dirty()
    if (.not. device_has_memory) return
    if (stays(stay)) then
      call self%watch()
    else
      call self%bring_home()
    end if
    if (self%owner /= of_readers) call self%hide_copies()
  end subroutine end_last_use

  !> Stop if directives keep the array on a device, unless all uses are reads.
  subroutine check_if_written(self)
    class(wrapped_array_type), intent(in) :: self

    if (self%owner /= of_readers) call self%check_one_contract()
  end subroutine check_if_written

  !> Return whether values remain where they are, because their uses are reported.
  function stays(stay)
    logical, optional, intent(in) :: stay
    logical :: stays

    stays = program_tells
    if (present(stay)) stays = stays .or. stay
  end function stays

  !> Return the number of the calling thread.
  function this_thread() result(thread)
    integer(c_intptr_t) :: thread

    integer(c_int), target, save :: own = 0
    !$omp threadprivate(own)

    thread = transfer(c_loc(own), thread)
  end function this_thread

  !> Record that the thread begins to use the values.
  subroutine note_thread(self)
    class(wrapped_array_type), intent(inout) :: self

    if (self%thread == this_thread()) return
    self%thread = merge(no_thread, this_thread(), self%is_used())
  end subroutine note_thread

  include 'lock_procedures.inc'

  include 'wrapped_array_windows.inc'

end module wrapped_array_mod
