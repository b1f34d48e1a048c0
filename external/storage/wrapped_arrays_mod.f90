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
  use address_table_mod, only: address_table_type
  use coherent_storage_mod, only: storage_options_type
  use field_storage_mod, only: element_bytes, field_storage_type
  use storage_device_mod, only: device_has_memory
  use storage_errors_mod, only: report_error
  use storage_parts_mod, only: boxes_around
  use storage_watch_mod, only: count_marks, digest_of, mark_host
  use storage_words_mod, only: access_read, access_write, element_int32, element_real32, &
                               element_real64, error_access_conflict, error_lost_values, &
                               error_window, space_device, space_host

  implicit none
  private

  public :: storage_of, bring_to_host, wrote_on_host, release_storage, set_program_tells

  !> The storage of an array. `shares` counts those who have it once more under another name; the
  !> digest is that of values which are current on both sides while nobody uses them.
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
    integer(c_int64_t) :: digest = 0
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
      if (is_on_device_alone(array)) then
        call report_error(error_lost_values, 'A program that tells no more what it does with ' // &
                          'arrays has one of which only the device has the values: bring_to_host')
      end if
      call assume_host_alone(array)
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

    if (array%bytes == 0) return
    call close_latch(array%latch)
    left = 0
    if (is_on_device_alone(array)) then
      call count_marks(array%address, array%bytes, left, all_marks)
    end if
    if (left > 0) then
      call report_error(error_lost_values, 'The host has written a part of an array of which ' // &
                        'only the device has the values: call bring_to_host before that.')
    end if
    call array%storage%touch(space_host)
    call open_latch(array%latch)
  end subroutine wrote_on_host

  !> Give up the storage of an array, before the array is freed. What only the device has is lost.
  !>
  !> Stops with 201 while the array is used.
  subroutine release_storage(array)
    type(wrapped_array_type), pointer, intent(in) :: array

    type(wrapped_array_type), pointer :: gone

    if (array%bytes == 0) return
    gone => array
    call table%lock()
    if (is_used(gone)) then
      call report_error(error_access_conflict, 'The storage of an array is released that is used.')
    end if
    call remove(gone)
    call table%unlock()
  end subroutine release_storage

  ! -- use -----------------------------------------------------------------------------------------

  !> Begin to use the values in a space, where they are current from then on. One who `may_share`
  !> has maybe acquired them already, for the same and under another name: then nothing is done.
  subroutine begin_use(self, space, access, may_share)
    class(wrapped_array_type), intent(inout) :: self
    integer(c_int), intent(in) :: space
    integer(c_int), intent(in) :: access
    logical, optional, intent(in) :: may_share

    if (self%bytes == 0) return
    call close_latch(self%latch)
    if (is_shared(self, space, access, may_share)) then
      self%shares = self%shares + 1
    else
      if (access /= access_write) then
        call notice_changes(self, space == space_host .and. access /= access_read)
      end if
      call self%storage%acquire(space, access)
    end if
    call open_latch(self%latch)
  end subroutine begin_use

  !> Say whether the values are acquired already for what somebody wants to do with them, too.
  function is_shared(self, space, access, may_share)
    type(wrapped_array_type), intent(in) :: self
    integer(c_int), intent(in) :: space
    integer(c_int), intent(in) :: access
    logical, optional, intent(in) :: may_share
    logical :: is_shared

    is_shared = .false.
    if (present(may_share)) is_shared = may_share .and. access /= access_read
    if (is_shared) is_shared = self%storage%is_written(space)
  end function is_shared

  !> End the use of the values in a space that began last.
  subroutine release(self, space)
    class(wrapped_array_type), intent(inout) :: self
    integer(c_int), intent(in) :: space

    if (self%bytes == 0) return
    call close_latch(self%latch)
    if (self%shares > 0) then
      self%shares = self%shares - 1
    else
      call self%storage%release(space)
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
    call close_latch(self%latch)
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

    if (self%bytes == 0) return
    call close_latch(self%latch)
    call notice_changes(self, .false.)
    if (present(inner) .and. present(depth)) then
      owned = inner
      kept(1::2) = owned(1::2) + depth
      kept(2::2) = max(owned(2::2) - depth, kept(1::2) - 1)
      call self%storage%begin_exchange_of_parts(space_host, 1, &
                                                boxes_around(kept, self%extents(:2)), &
                                                boxes_around(owned, self%extents(:2)))
    else
      call self%storage%begin_exchange(space_host, 1)
    end if
    call open_latch(self%latch)
  end subroutine begin_exchange

  !> End an exchange: what was received lies in the memory of the host.
  subroutine end_exchange(self)
    class(wrapped_array_type), intent(inout) :: self

    if (self%bytes == 0) return
    call close_latch(self%latch)
    call self%storage%end_exchange(0_c_int64_t, 0_c_int64_t)
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
      call report_error(error_lost_values, 'The host has written an array that the device ' // &
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
    call report_error(error_lost_values, 'The host has written a part of an array of which ' // &
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
    array => known_at(address)
    if (associated(array)) then
      if (.not. is_of(array, element, extents)) nullify (array)
    end if
    if (.not. associated(array)) array => entered(address, element, extents)
    call table%unlock()
  end function storage_at

  !> Return what is known of the array at an address, null if nothing is.
  function known_at(address) result(array)
    type(c_ptr), intent(in) :: address
    type(wrapped_array_type), pointer :: array

    array => array_from(table%item_at(address))
  end function known_at

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
    options%name = 'wrapped array'
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
      if (is_used(other)) then
        call report_error(error_access_conflict, 'An array is asked for its storage, and ' // &
                          'another one that lies in the same memory is used.')
      else if (is_on_device_alone(other)) then
        call report_error(error_lost_values, 'An array is asked for its storage, and only ' // &
                          'the device has the values of another one that lies, or lay, in ' // &
                          'the same memory: call bring_to_host for that, or release_storage ' // &
                          'before it is freed.')
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

  !> Free what is known of an array.
  subroutine remove(array)
    type(wrapped_array_type), pointer, intent(inout) :: array

    call table%leave(array%address)
    call array%storage%destroy()
    deallocate (array)
  end subroutine remove

  include 'latch_procedures.inc'

  ! -- one procedure for each type and number of dimensions ---------------------------------------

  function storage_real64_1(values) result(storage)
    real(real64), target, intent(in) :: values(:)
    integer(c_int), parameter :: element = element_real64
    include 'wrapped_array_storage.inc'
  end function storage_real64_1

  subroutine acquire_real64_1(self, space, access, values, may_share)
    real(real64), pointer, contiguous, intent(out) :: values(:)
    integer, parameter :: dimensions = 1
    include 'wrapped_array_window.inc'
  end subroutine acquire_real64_1

  function storage_real64_2(values) result(storage)
    real(real64), target, intent(in) :: values(:, :)
    integer(c_int), parameter :: element = element_real64
    include 'wrapped_array_storage.inc'
  end function storage_real64_2

  subroutine acquire_real64_2(self, space, access, values, may_share)
    real(real64), pointer, contiguous, intent(out) :: values(:, :)
    integer, parameter :: dimensions = 2
    include 'wrapped_array_window.inc'
  end subroutine acquire_real64_2

  function storage_real64_3(values) result(storage)
    real(real64), target, intent(in) :: values(:, :, :)
    integer(c_int), parameter :: element = element_real64
    include 'wrapped_array_storage.inc'
  end function storage_real64_3

  subroutine acquire_real64_3(self, space, access, values, may_share)
    real(real64), pointer, contiguous, intent(out) :: values(:, :, :)
    integer, parameter :: dimensions = 3
    include 'wrapped_array_window.inc'
  end subroutine acquire_real64_3

  function storage_real32_1(values) result(storage)
    real(real32), target, intent(in) :: values(:)
    integer(c_int), parameter :: element = element_real32
    include 'wrapped_array_storage.inc'
  end function storage_real32_1

  subroutine acquire_real32_1(self, space, access, values, may_share)
    real(real32), pointer, contiguous, intent(out) :: values(:)
    integer, parameter :: dimensions = 1
    include 'wrapped_array_window.inc'
  end subroutine acquire_real32_1

  function storage_real32_2(values) result(storage)
    real(real32), target, intent(in) :: values(:, :)
    integer(c_int), parameter :: element = element_real32
    include 'wrapped_array_storage.inc'
  end function storage_real32_2

  subroutine acquire_real32_2(self, space, access, values, may_share)
    real(real32), pointer, contiguous, intent(out) :: values(:, :)
    integer, parameter :: dimensions = 2
    include 'wrapped_array_window.inc'
  end subroutine acquire_real32_2

  function storage_real32_3(values) result(storage)
    real(real32), target, intent(in) :: values(:, :, :)
    integer(c_int), parameter :: element = element_real32
    include 'wrapped_array_storage.inc'
  end function storage_real32_3

  subroutine acquire_real32_3(self, space, access, values, may_share)
    real(real32), pointer, contiguous, intent(out) :: values(:, :, :)
    integer, parameter :: dimensions = 3
    include 'wrapped_array_window.inc'
  end subroutine acquire_real32_3

  function storage_int32_1(values) result(storage)
    integer(int32), target, intent(in) :: values(:)
    integer(c_int), parameter :: element = element_int32
    include 'wrapped_array_storage.inc'
  end function storage_int32_1

  subroutine acquire_int32_1(self, space, access, values, may_share)
    integer(int32), pointer, contiguous, intent(out) :: values(:)
    integer, parameter :: dimensions = 1
    include 'wrapped_array_window.inc'
  end subroutine acquire_int32_1

  function storage_int32_2(values) result(storage)
    integer(int32), target, intent(in) :: values(:, :)
    integer(c_int), parameter :: element = element_int32
    include 'wrapped_array_storage.inc'
  end function storage_int32_2

  subroutine acquire_int32_2(self, space, access, values, may_share)
    integer(int32), pointer, contiguous, intent(out) :: values(:, :)
    integer, parameter :: dimensions = 2
    include 'wrapped_array_window.inc'
  end subroutine acquire_int32_2

end module wrapped_arrays_mod
