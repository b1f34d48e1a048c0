!> Owns the storages of arrays that belong to somebody whose types have no place for one: found by
!> the address of the values, and made at first sight of them.
!>
!> Nobody says here when such an array is written on the host, freed, or another put in its place.
!> So there are two contracts. At first **the program tells nothing**: when the last access to an
!> array ends, its values go back to the host, and what a device has of them is stale. That is
!> always right, and moves everything each time. If **the program tells** (`set_program_tells`),
!> values stay where they are; the program calls `bring_to_host` before it reads them on the host,
!> `wrote_on_host` when it has written them there, and `release_storage` before they are freed.
!>
!> What it forgets to tell is looked for, by marks in what is stale on the host, and by a digest of
!> what is current on both sides: all of it beside an emulated device, a few words beside others.
!> What the host has overwritten altogether is new, and current there.
module wrapped_arrays_mod

  use, intrinsic :: iso_c_binding, only: c_associated, c_f_pointer, c_int, c_int64_t, c_intptr_t, &
                                         c_loc, c_null_ptr, c_ptr, c_size_t
  use, intrinsic :: iso_fortran_env, only: int32, real32, real64
  use address_table_mod, only: address_table_type, name_of_array
  use coherent_storage_mod, only: storage_options_type
  use field_storage_mod, only: element_bytes, field_storage_type
  use storage_device_mod, only: device_has_memory
  use storage_errors_mod, only: last_error, report_error
  use storage_parts_mod, only: boxes_around
  use storage_watch_mod, only: count_marks, digest_of, mark_host
  use storage_words_mod, only: access_read, access_read_write, access_write, element_int32, &
                               element_real32, element_real64, error_access_conflict, &
                               error_lost_values, error_window, no_error, space_device, space_host

  implicit none
  private

  integer(c_intptr_t), parameter :: no_thread = 0

  public :: storage_of, bring_to_host, wrote_on_host, release_storage, set_program_tells

  !> The storage of an array. `shares` counts those who have it once more under another name, and
  !> who writes it has the values that were there before if they were `brought`. The digest is that
  !> of values which are current on both sides while nobody uses them.
  !>
  !> A storage that is `gone` from the table stays in memory while some thread looked it up last:
  !> there are `pending` of them. Those who use it now are of one thread, or of `no_thread` alone.
  type, public :: wrapped_array_type
    private
    type(field_storage_type) :: storage
    type(c_ptr) :: address = c_null_ptr
    integer(c_int) :: element = 0
    integer(c_int64_t) :: extents(3) = 0
    integer :: dimensions = 0
    integer(c_size_t) :: bytes = 0
    integer(c_int) :: latch = 0
    integer :: shares = 0
    logical :: brought = .true.
    integer(c_int64_t) :: digest = 0
    integer :: pending = 0
    logical :: gone = .false.
    integer(c_intptr_t) :: thread = no_thread
  contains
    procedure, private :: acquire_real64_1, acquire_real64_2, acquire_real64_3
    procedure, private :: acquire_real32_1, acquire_real32_2, acquire_real32_3
    procedure, private :: acquire_int32_1, acquire_int32_2
    generic, public :: acquire => acquire_real64_1, acquire_real64_2, acquire_real64_3, &
                                  acquire_real32_1, acquire_real32_2, acquire_real32_3, &
                                  acquire_int32_1, acquire_int32_2
    procedure, public :: release
    procedure, public :: prefetch
    procedure, public :: begin_exchange
    procedure, public :: end_exchange
    procedure, private :: begin_use
  end type wrapped_array_type

  !> Return the storage of an array. One that nobody has asked for yet has its values on the host.
  !> It is there until the thread looks another one up, and longer while somebody uses it.
  !>
  !> Stops with 220 for an array with gaps, with 201 or 200 if another array, which lies in part or
  !> with another shape in the same memory, is used or has its only current values on the device.
  interface storage_of
    module procedure storage_real64_1, storage_real64_2, storage_real64_3, &
                     storage_real32_1, storage_real32_2, storage_real32_3, &
                     storage_int32_1, storage_int32_2
  end interface storage_of

  type(address_table_type), save :: table
  logical, save :: program_tells = .false.

  !> What the thread has looked up last.
  type(wrapped_array_type), pointer, save :: looked_up => null()
  !$omp threadprivate(looked_up)

contains

  !> Say whether the program tells from now on what it does with arrays on the host.
  !>
  !> Stops with 200 if a program that tells no more has left values on the device alone.
  subroutine set_program_tells(tells)
    logical, intent(in) :: tells

    type(wrapped_array_type), pointer :: array
    integer :: place

    call table%lock()
    do place = 1, table%get_places()
      array => array_from(table%item_in(place))
      if (tells .or. .not. associated(array)) cycle
      call close_latch(array%latch)
      if (is_on_device_alone(array)) then
        call stop_at(array, error_lost_values, 'A program that tells no more what it does with ' &
                     // 'arrays has one of which only the device has the values: bring_to_host')
      end if
      call assume_host_alone(array)
      call open_latch(array%latch)
    end do
    program_tells = tells
    call table%unlock()
  end subroutine set_program_tells

  !> Make the host have the current values of an array: before it reads them.
  subroutine bring_to_host(array)
    type(wrapped_array_type), pointer, intent(in) :: array

    call array%begin_use(space_host, access_read)
    call array%release(space_host)
  end subroutine bring_to_host

  !> Note that the host has written an array: the values of the device are stale.
  !>
  !> Stops with 200 if the host has written a part only, and has not brought the rest before.
  subroutine wrote_on_host(array)
    type(wrapped_array_type), pointer, intent(in) :: array

    integer(c_size_t) :: left, all_marks

    integer(c_int) :: status

    if (array%bytes == 0) return
    call enter_latch(array)
    left = 0
    if (is_on_device_alone(array)) then
      call count_marks(array%address, array%bytes, left, all_marks)
    end if
    if (left > 0) then
      call stop_at(array, error_lost_values, 'The host has written a part of an array of which ' &
                   // 'only the device has the values: call bring_to_host before that.')
    end if
    call array%storage%touch(space_host, status)
    call stop_unless_done(array, status)
    call open_latch(array%latch)
  end subroutine wrote_on_host

  !> Give up the storage of an array, before the array is freed. What only the device has is lost.
  !>
  !> Stops with 201 while the array is used.
  subroutine release_storage(array)
    type(wrapped_array_type), pointer, intent(in) :: array

    type(wrapped_array_type), pointer :: gone

    if (array%bytes == 0) return
    call table%lock()
    gone => array
    if (.not. gone%gone) then
      call close_latch(gone%latch)
      if (is_used(gone)) then
        call stop_at(gone, error_access_conflict, 'The storage of an array is released that is ' &
                     // 'used: end what uses it before.')
      end if
      call remove(gone)
    end if
    call table%unlock()
  end subroutine release_storage

  ! -- use -----------------------------------------------------------------------------------------

  !> Begin to use the values in a space, where they are current from then on. One who `may_share`
  !> has maybe acquired them already, for the same and under another name: then nothing is done.
  !> As the other name may read what this one overwrites, who `may_share` has all values brought.
  subroutine begin_use(self, space, access, may_share)
    class(wrapped_array_type), intent(inout) :: self
    integer(c_int), intent(in) :: space
    integer(c_int), intent(in) :: access
    logical, optional, intent(in) :: may_share

    integer(c_int) :: wanted, status
    logical :: sharing

    if (self%bytes == 0) return
    sharing = .false.
    if (present(may_share)) sharing = may_share .and. access /= access_read
    wanted = access
    if (sharing .and. access == access_write) wanted = access_read_write
    call enter_latch(self)
    if (sharing) sharing = self%brought .and. self%storage%is_written(space)
    if (sharing) then
      self%shares = self%shares + 1
    else
      if (wanted /= access_write) then
        call notice_changes(self, space == space_host .and. wanted /= access_read)
      end if
      call note_thread(self)
      call self%storage%acquire(space, wanted, status)
      call stop_unless_done(self, status)
      if (wanted /= access_read) self%brought = wanted /= access_write
    end if
    call open_latch(self%latch)
  end subroutine begin_use

  !> End the use of the values in a space that began last.
  subroutine release(self, space)
    class(wrapped_array_type), intent(inout) :: self
    integer(c_int), intent(in) :: space

    integer(c_int) :: status

    if (self%bytes == 0) return
    call enter_latch(self)
    if (self%shares > 0) then
      self%shares = self%shares - 1
    else
      call self%storage%release(space, status)
      call stop_unless_done(self, status)
      call end_last_use(self)
    end if
    call open_latch(self%latch)
  end subroutine release

  !> Begin to bring the values to the device, where they will be acquired later. Where the program
  !> tells nothing they are brought when they are acquired, as they are to the host, and when
  !> somebody still writes them.
  subroutine prefetch(self, space)
    class(wrapped_array_type), intent(inout) :: self
    integer(c_int), intent(in) :: space

    if (self%bytes == 0 .or. .not. program_tells .or. space == space_host) return
    call enter_latch(self)
    if (.not. self%storage%is_written()) then
      call notice_changes(self, .false.)
      call self%storage%acquire(space, access_read, queue=1)
      call self%storage%release(space, queue=1)
      call end_last_use(self)
    end if
    call open_latch(self%latch)
  end subroutine prefetch

  !> Begin an exchange of halos that works on the memory of the host. All values are current there,
  !> or those that are less than `depth` from the border of the `inner` part, and all beyond: the
  !> first and the last of it in each of two dimensions, which nobody else writes meanwhile.
  subroutine begin_exchange(self, inner, depth)
    class(wrapped_array_type), intent(inout) :: self
    integer, optional, intent(in) :: inner(4)
    integer, optional, intent(in) :: depth

    integer(c_int64_t) :: owned(4), kept(4)
    integer(c_int) :: status

    if (self%bytes == 0) return
    call enter_latch(self)
    call notice_changes(self, .false.)
    call note_thread(self)
    if (present(inner) .and. present(depth)) then
      owned = inner
      kept(1::2) = owned(1::2) + depth
      kept(2::2) = max(owned(2::2) - depth, kept(1::2) - 1)
      call self%storage%begin_exchange_of_parts(space_host, 1, &
                                                boxes_around(kept, self%extents(:2)), &
                                                boxes_around(owned, self%extents(:2)), status)
    else
      call self%storage%begin_exchange(space_host, 1, status)
    end if
    call stop_unless_done(self, status)
    call open_latch(self%latch)
  end subroutine begin_exchange

  !> End an exchange: what was received lies in the memory of the host. The thread itself may read
  !> the array under another name meanwhile: it does nothing with it now, and goes on reading, in
  !> the same memory, when that has what was received, too.
  subroutine end_exchange(self)
    class(wrapped_array_type), intent(inout) :: self

    integer :: readers(space_host:space_device)
    integer(c_int) :: space, status
    integer :: n

    if (self%bytes == 0) return
    call enter_latch(self)
    readers = 0
    if (self%thread == this_thread()) readers = self%storage%state%coherence%get_readers()
    do space = space_host, space_device
      do n = 1, readers(space)
        call self%storage%release(space)
      end do
    end do
    call self%storage%end_exchange(0_c_int64_t, 0_c_int64_t, status=status)
    call stop_unless_done(self, status)
    do space = space_host, space_device
      do n = 1, readers(space)
        call self%storage%acquire(space, access_read)
      end do
    end do
    call end_last_use(self)
    call open_latch(self%latch)
  end subroutine end_exchange

  ! -- what nobody tells ---------------------------------------------------------------------------

  !> Look whether the host has written values that it has not told of, before old ones are used. If
  !> the host `takes_over`, what is on both sides now is going to be stale on the device anyway.
  !>
  !> Stops with 200 if the host has written some of the values that are current on the device alone,
  !> or has changed some that are current on both sides.
  subroutine notice_changes(self, takes_over)
    class(wrapped_array_type), intent(inout) :: self
    logical, intent(in) :: takes_over

    integer(c_size_t) :: left, all_marks
    integer(c_int64_t) :: digest

    if (.not. is_in_two_memories(self) .or. .not. program_tells) return
    if (is_used(self) .or. .not. self%storage%is_valid(space_device)) return
    if (self%storage%is_valid(space_host)) then
      if (takes_over) return
      digest = digest_of(self%address, self%bytes)
      if (digest == self%digest) return
      call stop_at(self, error_lost_values, 'The host has written an array that the device ' // &
                   'has, too, and has not told so: call wrote_on_host behind, or ' // &
                   'release_storage before an array is freed.')
    end if
    call self%storage%wait()
    call count_marks(self%address, self%bytes, left, all_marks)
    if (left == all_marks) return
    if (left == 0) then
      call self%storage%touch(space_host)
      return
    end if
    call stop_at(self, error_lost_values, 'The host has written a part of an array of which ' // &
                 'only the device has the values: call bring_to_host before, and ' // &
                 'wrote_on_host behind, or release_storage before an array is freed.')
  end subroutine notice_changes

  !> Make ready for a time in which nobody uses the values through their storage.
  subroutine end_last_use(self)
    class(wrapped_array_type), intent(inout) :: self

    integer(c_size_t) :: left, all_marks

    if (.not. is_in_two_memories(self)) return
    if (is_used(self)) return
    if (.not. program_tells) then
      if (is_on_device_alone(self)) then
        call self%storage%acquire(space_host, access_read)
        call self%storage%release(space_host)
      end if
      call assume_host_alone(self)
    else if (is_on_device_alone(self)) then
      call self%storage%wait()
      call count_marks(self%address, self%bytes, left, all_marks)
      if (left < all_marks) call mark_host(self%address, self%bytes)
    else if (self%storage%is_valid(space_device)) then
      self%digest = digest_of(self%address, self%bytes)
    end if
  end subroutine end_last_use

  !> Say whether a device has values elsewhere than the host: there are programs for devices that
  !> run on the host, and devices that share its memory.
  function is_in_two_memories(self)
    class(wrapped_array_type), intent(in) :: self
    logical :: is_in_two_memories

    is_in_two_memories = device_has_memory
    if (.not. is_in_two_memories) return
    is_in_two_memories = self%storage%has_device_memory() .and. .not. &
                         c_associated(self%storage%get_address(space_device), self%address)
  end function is_in_two_memories

  !> Say whether the device alone has the current values.
  function is_on_device_alone(self)
    class(wrapped_array_type), intent(in) :: self
    logical :: is_on_device_alone

    is_on_device_alone = is_in_two_memories(self) .and. self%storage%is_valid(space_device) &
                         .and. .not. self%storage%is_valid(space_host)
  end function is_on_device_alone

  !> Take what a device has of an array that nobody uses for stale.
  subroutine assume_host_alone(self)
    class(wrapped_array_type), intent(inout) :: self

    if (is_used(self)) return
    if (self%storage%is_valid(space_device)) call self%storage%assume_valid(.true., .false.)
  end subroutine assume_host_alone

  !> Say whether somebody has access, or exchanges.
  function is_used(self)
    class(wrapped_array_type), intent(in) :: self
    logical :: is_used

    is_used = self%storage%state%coherence%is_used()
  end function is_used

  !> Return what tells the thread from others.
  function this_thread() result(thread)
    integer(c_intptr_t) :: thread

    integer(c_int), target, save :: own = 0
    !$omp threadprivate(own)

    thread = transfer(c_loc(own), thread)
  end function this_thread

  !> Note that the thread begins to use the values.
  subroutine note_thread(self)
    class(wrapped_array_type), intent(inout) :: self

    if (.not. is_used(self)) then
      self%thread = this_thread()
    else if (self%thread /= this_thread()) then
      self%thread = no_thread
    end if
  end subroutine note_thread

  ! -- errors --------------------------------------------------------------------------------------

  !> Stop with a sentence, and say which array it is about.
  subroutine stop_at(self, code, sentence)
    class(wrapped_array_type), intent(in) :: self
    integer(c_int), intent(in) :: code
    character(*), intent(in) :: sentence

    call report_error(code, sentence // ' It is the ' // self%storage%get_name() // '.')
  end subroutine stop_at

  !> Stop if a storage has refused something, and say what to do.
  subroutine stop_unless_done(self, status)
    class(wrapped_array_type), intent(in) :: self
    integer(c_int), intent(in) :: status

    if (status == no_error) return
    if (status /= error_access_conflict) call report_error(status, last_error())
    call report_error(status, last_error() // ' One array, under one name or two, is read by ' // &
                      'several or written by one: pass another field, or copy it before.')
  end subroutine stop_unless_done

  !> Take the latch of a storage that is not gone.
  subroutine enter_latch(self)
    class(wrapped_array_type), intent(inout) :: self

    call close_latch(self%latch)
    if (.not. self%gone) return
    call stop_at(self, error_access_conflict, 'The storage of an array is used, and it was ' // &
                 'released, or another array has taken the memory: call storage_of at each use.')
  end subroutine enter_latch

  ! -- the table -----------------------------------------------------------------------------------

  !> Return the storage of the array at an address. Arrays without elements, which have no address,
  !> share one.
  function storage_at(address, element, extents) result(array)
    type(c_ptr), intent(in) :: address
    integer(c_int), intent(in) :: element
    integer(c_int64_t), intent(in) :: extents(:)
    type(wrapped_array_type), pointer :: array

    type(wrapped_array_type), target, save :: nothing

    array => nothing
    if (.not. c_associated(address)) return
    call table%lock()
    array => array_from(table%item_at(address))
    if (associated(array)) then
      if (.not. is_of(array, element, extents)) nullify (array)
    end if
    if (.not. associated(array)) array => entered(address, element, extents)
    array%pending = array%pending + 1
    call drop_pending(looked_up)
    looked_up => array
    call table%unlock()
  end function storage_at

  !> Note that a thread looks up another storage than the one that it had before.
  subroutine drop_pending(array)
    type(wrapped_array_type), pointer, intent(inout) :: array

    if (.not. associated(array)) return
    array%pending = array%pending - 1
    if (array%gone .and. array%pending == 0) deallocate (array)
  end subroutine drop_pending

  !> Return the array that is an item of the table, null if that is null.
  function array_from(item) result(array)
    type(c_ptr), intent(in) :: item
    type(wrapped_array_type), pointer :: array

    nullify (array)
    if (c_associated(item)) call c_f_pointer(item, array)
  end function array_from

  !> Say whether an array has elements of a type, and these extents.
  pure function is_of(array, element, extents)
    type(wrapped_array_type), intent(in) :: array
    integer(c_int), intent(in) :: element
    integer(c_int64_t), intent(in) :: extents(:)
    logical :: is_of

    is_of = array%element == element .and. array%dimensions == size(extents)
    if (is_of) is_of = all(array%extents(:size(extents)) == extents)
  end function is_of

  !> Return a new storage, of an array in whose memory no other array lies any more.
  function entered(address, element, extents) result(array)
    type(c_ptr), intent(in) :: address
    integer(c_int), intent(in) :: element
    integer(c_int64_t), intent(in) :: extents(:)
    type(wrapped_array_type), pointer :: array

    type(storage_options_type) :: options

    allocate (array)
    array%address = address
    array%element = element
    array%dimensions = size(extents)
    array%extents(:size(extents)) = extents
    array%bytes = element_bytes(element) * product(extents)
    call remove_overlapping(array)
    options%name = name_of_array('array', address, extents)
    options%host = address
    options%has_values = .true.
    options%spoils = .true.
    options%halo_depth = 1
    call array%storage%describe(element, extents, options)
    call table%enter(address, c_loc(array))
  end function entered

  !> Give up the storages of arrays that lie in the memory of another one: they are gone, or others
  !> have their memory, too, which is right as long as the host has the values of all of them.
  subroutine remove_overlapping(array)
    type(wrapped_array_type), intent(in) :: array

    type(wrapped_array_type), pointer :: other
    integer :: place

    place = 1
    do while (place <= table%get_places())
      other => array_from(table%item_in(place))
      place = place + 1
      if (.not. associated(other)) cycle
      if (.not. overlap(array, other)) cycle
      call close_latch(other%latch)
      if (is_used(other)) then
        call stop_at(other, error_access_conflict, 'An array is asked for its storage, and ' // &
                     'another one that lies in the same memory is used: end that before.')
      else if (is_on_device_alone(other)) then
        call stop_at(other, error_lost_values, 'An array is asked for its storage, and only ' // &
                     'the device has the values of another one that lies, or lay, in the same ' // &
                     'memory: call bring_to_host for that, or release_storage before it is freed.')
      end if
      call remove(other)
      ! Another entry may lie there now.
      place = place - 1
    end do
  end subroutine remove_overlapping

  !> Say whether two arrays lie in the same memory, in part.
  pure function overlap(one, other)
    type(wrapped_array_type), intent(in) :: one, other
    logical :: overlap

    overlap = first_byte(other) < first_byte(one) + one%bytes .and. &
              first_byte(one) < first_byte(other) + other%bytes
  end function overlap

  !> Return the address of the first byte of an array.
  pure function first_byte(array) result(number)
    type(wrapped_array_type), intent(in) :: array
    integer(c_intptr_t) :: number

    number = transfer(array%address, number)
  end function first_byte

  !> Free what is known of an array, whose latch is taken, or the device's memory alone while it
  !> is pending.
  subroutine remove(array)
    type(wrapped_array_type), pointer, intent(inout) :: array

    call table%leave(array%address)
    call array%storage%destroy()
    array%gone = .true.
    call open_latch(array%latch)
    if (array%pending == 0) deallocate (array)
  end subroutine remove

  include 'latch_procedures.inc'

  include 'wrapped_array_kinds.inc'

end module wrapped_arrays_mod
