!> The table of all arrays that have storages; an array is found by the address of its values.
!>
!> Fields that know their storage enter it, either directly or with a stamp, and so do readers of
!> tables. Any other array gets a storage at its first use. A request for an array returns the entry
!> for its address, so that no array has two storages. An array that overlaps the memory of another
!> one replaces it or is refused; only this module decides that.
!>
!> A caller that searches for an array and then enters it holds the lock of the table during both.
module array_table_mod

  use, intrinsic :: iso_c_binding, only: c_associated, c_f_pointer, c_int, c_int64_t, c_intptr_t, &
                                         c_loc, c_ptr, c_size_t
  use address_table_mod, only: address_table_type
  use coherent_storage_mod, only: storage_options_type
  use field_storage_mod, only: array_name_type, element_bytes
  use storage_device_mod, only: device_has_memory
  use storage_constants_mod, only: error_access_conflict, error_lost_values, space_host
  use wrapped_array_mod, only: of_field, of_nobody, of_readers, of_stamped_field, &
                               wrapped_array_type

  implicit none
  private

  public :: lock_table, unlock_table, arrays_at, find_array
  public :: array_at, new_array, adopt, make_room, give_way, look_up, remove
  public :: enter_field, leave_field, array_used_by, check_parts

  !> State of the memory of a requested array: it has just been allocated for this array; it can
  !> contain remains of fields that have ended; it can contain arrays of other owners.
  integer, parameter, public :: just_allocated = 0, has_one_owner = 1, may_be_shared = 2

  !> Name of the array of a field in messages: the name of the field, then its extents.
  type, extends(array_name_type) :: field_name_type
    type(wrapped_array_type), pointer :: field => null()
  contains
    procedure, public :: text => text_of_field
  end type field_name_type

  type(address_table_type), save :: table

  !> Number of arrays in the table that have no owner, so that no one reports their end.
  integer, save :: unowned = 0

  !> The last array that this thread looked up.
  type(wrapped_array_type), pointer, save :: looked_up => null()
  !$omp threadprivate(looked_up)

contains

  !> Acquire the lock of the table; wait while another thread holds it.
  subroutine lock_table()
    call table%lock()
  end subroutine lock_table

  !> Release the lock of the table.
  subroutine unlock_table()
    call table%unlock()
  end subroutine unlock_table

  ! -- while the table is locked -------------------------------------------------------------------

  !> Return the first array at or after the position `place` of the table and set `place` to its
  !> position; null at the end. Removing an array can move another one to its position.
  subroutine find_array(place, array)
    integer, intent(inout) :: place
    type(wrapped_array_type), pointer, intent(out) :: array

    type(c_ptr) :: item

    call table%find_item(place, item)
    array => array_from(item)
  end subroutine find_array

  !> Return the array that begins at an address, null if the table has none.
  function arrays_at(address) result(array)
    type(c_ptr), intent(in) :: address
    type(wrapped_array_type), pointer :: array

    array => array_from(table%item_at(address))
  end function arrays_at

  !> Return the array with this type and these extents at an address: the one in the table, whatever
  !> its owner, or a new one without an owner.
  function array_at(address, element, extents) result(array)
    type(c_ptr), intent(in) :: address
    integer(c_int), intent(in) :: element
    integer(c_int64_t), intent(in) :: extents(:)
    type(wrapped_array_type), pointer :: array

    array => arrays_at(address)
    if (associated(array)) then
      ! The owner of an array that is only read may free or change it without notice, so only its
      ! readers may use this entry.
      if (array%owner /= of_readers .and. array%storage%is_like(element, extents)) return
    end if
    array => new_array_of_nobody(address, element, extents)
  end function array_at

  !> Return a new array without an owner. Later arrays in the same memory replace it.
  function new_array_of_nobody(address, element, extents) result(array)
    type(c_ptr), intent(in) :: address
    integer(c_int), intent(in) :: element
    integer(c_int64_t), intent(in) :: extents(:)
    type(wrapped_array_type), pointer :: array

    type(storage_options_type) :: options

    options%name = 'array'
    options%named_by_place = .true.
    options%spoils = .true.
    options%halo_depth = 1
    call make_room(array_name_type('array', address, extents), &
                   element_bytes(element) * product(extents), may_be_shared)
    array => new_array(address, element, extents, of_nobody, options)
  end function new_array_of_nobody

  !> Return a new array, whose current values are on the host. The table must have none at its
  !> address.
  function new_array(address, element, extents, owner, options) result(array)
    type(c_ptr), intent(in) :: address
    integer(c_int), intent(in) :: element
    integer(c_int64_t), intent(in) :: extents(:)
    integer, intent(in) :: owner
    type(storage_options_type), intent(in) :: options
    type(wrapped_array_type), pointer :: array

    type(storage_options_type) :: all_options

    allocate (array)
    array%address = address
    array%bytes = element_bytes(element) * product(extents)
    array%owner = owner
    all_options = options
    all_options%host = address
    all_options%has_values = .true.
    call array%storage%describe(element, extents, all_options)
    if (owner == of_nobody) unowned = unowned + 1
    call table%enter(address, c_loc(array))
  end function new_array

  !> Set the owner and the stamp of an array that has no owner.
  subroutine adopt(array, owner, stamp)
    type(wrapped_array_type), intent(inout) :: array
    integer, intent(in) :: owner
    integer(c_int64_t), intent(in) :: stamp

    if (array%owner == of_nobody) unowned = unowned - 1
    array%owner = owner
    array%stamp = stamp
  end subroutine adopt

  !> Keep the entry of an array valid for the thread that looks it up, until it looks up another
  !> one. The component of a field belongs to the field, which keeps it.
  subroutine look_up(array)
    type(wrapped_array_type), pointer, intent(in) :: array

    type(wrapped_array_type), pointer :: before

    before => looked_up
    nullify (looked_up)
    if (array%owner /= of_field) looked_up => array
    if (associated(looked_up)) looked_up%pending = looked_up%pending + 1
    if (.not. associated(before)) return
    before%pending = before%pending - 1
    if (before%gone .and. before%pending == 0) deallocate (before)
  end subroutine look_up

  !> Remove the entry of an array and free it; while it is `pending`, free only the memory on
  !> devices. The component of a field, and the arrays that share its memory, are only removed: the
  !> field frees them.
  !>
  !> Stops with 201 and `sentence` if the array is in use.
  subroutine remove(array, sentence)
    type(wrapped_array_type), pointer, intent(inout) :: array
    character(*), intent(in) :: sentence

    call array%lock()
    if (array%is_used() .or. array%users > 0) call array%stop_at(error_access_conflict, sentence)
    call table%leave(array%address)
    if (array%owner == of_field) then
      call free_guests(array)
      call array%unlock()
      return
    end if
    if (array%owner == of_nobody) unowned = unowned - 1
    call array%storage%destroy()
    array%gone = .true.
    call array%unlock()
    if (array%pending == 0) deallocate (array)
  end subroutine remove

  !> Remove all arrays that overlap the memory of a new array, after a check that no values are
  !> lost. Fields with a storage must not overlap, unless host and device share memory.
  !>
  !> Stops with 201 if one of them is in use or belongs to a field, with 200 if only a device has
  !> its values.
  subroutine make_room(name, bytes, memory)
    class(array_name_type), intent(in) :: name
    integer(c_size_t), intent(in) :: bytes
    integer, intent(in) :: memory

    type(wrapped_array_type), pointer :: other
    integer :: place

    other => arrays_at(name%address)
    if (associated(other)) call give_way(other, name, memory)
    if (unowned == 0 .and. (memory /= may_be_shared .or. .not. device_has_memory)) return
    place = 1
    do
      call find_array(place, other)
      if (.not. associated(other)) exit
      if (overlaps(other, name%address, bytes) .and. &
          (device_has_memory .or. other%owner == of_nobody)) then
        call give_way(other, name, memory)
      else
        place = place + 1
      end if
    end do
  end subroutine make_room

  !> Remove an array that overlaps the memory of another one, or refuse it.
  subroutine give_way(array, name, memory)
    type(wrapped_array_type), pointer, intent(inout) :: array
    class(array_name_type), intent(in) :: name
    integer, intent(in) :: memory

    logical :: may_have_ended

    may_have_ended = memory == just_allocated
    if (memory == has_one_owner) may_have_ended = array%owner /= of_nobody
    if (.not. may_have_ended .and. .not. array%is_used()) then
      call check_values(array)
      if (array%owner == of_field .or. array%owner == of_stamped_field) then
        call array%stop_at(error_access_conflict, '"' // name%text() // '" cannot get a ' // &
                           'storage: it lies in the memory of a field ' // &
                           reason_of_refusal(array, name))
      end if
    end if
    call remove(array, 'The storage of an array is requested while another array in the ' // &
                'same memory is in use: end that use before.')
  end subroutine give_way

  !> Return why the array of a field cannot be replaced by another one, with a remedy.
  function reason_of_refusal(array, name) result(reason)
    type(wrapped_array_type), intent(in) :: array
    class(array_name_type), intent(in) :: name
    character(:), allocatable :: reason

    character(20) :: count

    reason = 'that has one. Pass the whole field or a copy of the part, or free the field ' // &
             'before. At a time, override_data lends memory only to fields of one space and ' // &
             'one halo depth.'
    select type (name)
    type is (field_name_type)
      if (.not. has_same_dofs(name%field, array)) return
      if (.not. c_associated(name%address, array%address)) return
      reason = 'of the same space and halo depth with '
      if (name%field%storage%get_element() /= array%storage%get_element()) then
        reason = reason // 'elements of another type. At a time, override_data lends memory ' // &
                 'only to fields of one type; free the field before.'
      else
        write (count, '(i0)') product(array%storage%get_extents())
        reason = reason // trim(count) // ' elements. Lend both the same number of elements ' // &
                 '(override_data), or free the field before.'
      end if
    end select
  end function reason_of_refusal

  !> Return the name of the array of a field for messages.
  pure function text_of_field(self) result(text)
    class(field_name_type), intent(in) :: self
    character(:), allocatable :: text

    type(array_name_type) :: place

    place%kind = self%field%storage%get_name() // ', a field'
    place%address = self%address
    place%extents = self%field%storage%get_extents()
    text = place%text()
  end function text_of_field

  !> Stop with 200 if only a device has the values of an array that another one is about to replace.
  subroutine check_values(array)
    type(wrapped_array_type), intent(in) :: array

    if (.not. array%is_on_device_alone()) return
    call array%stop_at(error_lost_values, 'The storage of an array is requested, but only ' // &
                       'the device has the values of another array in the same memory: call ' // &
                       'bring_to_host for that array, or release_storage before it is ' // &
                       'freed.')
  end subroutine check_values

  !> Check the arrays without an owner that overlap this memory.
  !>
  !> Stops with 200 if only a device has the values of one of them.
  subroutine check_parts(address, bytes)
    type(c_ptr), intent(in) :: address
    integer(c_size_t), intent(in) :: bytes

    type(wrapped_array_type), pointer :: other
    integer :: place

    if (unowned == 0 .or. .not. device_has_memory) return
    place = 1
    do
      call find_array(place, other)
      if (.not. associated(other)) exit
      if (other%owner == of_nobody .and. overlaps(other, address, bytes)) call check_values(other)
      place = place + 1
    end do
  end subroutine check_parts

  !> Return whether an array overlaps this memory.
  function overlaps(array, address, bytes)
    type(wrapped_array_type), intent(in) :: array
    type(c_ptr), intent(in) :: address
    integer(c_size_t), intent(in) :: bytes
    logical :: overlaps

    integer(c_intptr_t) :: mine, other

    mine = transfer(address, mine)
    other = transfer(array%address, other)
    overlaps = other < mine + bytes .and. mine < other + array%bytes
  end function overlaps

  !> Return the array that is an item of the table, null if the item is null.
  function array_from(item) result(array)
    type(c_ptr), intent(in) :: item
    type(wrapped_array_type), pointer :: array

    nullify (array)
    if (c_associated(item)) call c_f_pointer(item, array)
  end function array_from

  ! -- fields that have their storages as components -----------------------------------------------

  !> Enter the array of a field, whose storage has been set up, in memory of its own or in `lent`
  !> memory. If a field of the same `layout` has that memory already, this array becomes a guest of
  !> it: both use one storage.
  !>
  !> An array that is not `is_whole` has fewer values than its field and represents a field that is
  !> never used. Many of these can have the same address, so they are not entered and not monitored.
  !>
  !> Stops with 200 or 201 if an array in this memory is in use, or if only a device has its values.
  subroutine enter_field(array, lent, is_whole, layout)
    type(wrapped_array_type), target, intent(inout) :: array
    logical, intent(in) :: lent
    logical, optional, intent(in) :: is_whole
    type(c_ptr), optional, intent(in) :: layout

    type(wrapped_array_type), pointer :: host

    array%owner = of_field
    array%lent = lent
    if (present(layout)) array%layout = layout
    if (present(is_whole)) then
      if (.not. is_whole) return
    end if
    array%address = array%storage%get_address(space_host)
    array%bytes = array%storage%state%replicas%get_bytes()
    if (array%bytes == 0) return
    call table%lock()
    host => arrays_at(array%address)
    if (lent .and. device_has_memory .and. is_of_same_field(array, host)) then
      call be_guest(array, host)
    else
      call enter_alone(array)
    end if
    call table%unlock()
  end subroutine enter_field

  !> Return the array whose storage an array uses: its own, or for a guest, that of its host.
  function array_used_by(array) result(used)
    type(wrapped_array_type), target, intent(inout) :: array
    type(wrapped_array_type), pointer :: used

    call table%lock()
    used => array
    if (array%guest) used => arrays_at(array%address)
    call table%unlock()
  end function array_used_by

  !> Enter the array of a field that shares its memory with no other field, or refuse it. The caller
  !> holds the lock of the table.
  subroutine enter_alone(array)
    type(wrapped_array_type), target, intent(inout) :: array

    type(field_name_type) :: name

    ! If host and device share memory, fields may have the same memory, too.
    if (device_has_memory .or. .not. array%lent) then
      name%field => array
      name%address = array%address
      call make_room(name, array%bytes, merge(may_be_shared, just_allocated, array%lent))
    end if
    call table%enter(array%address, c_loc(array))
  end subroutine enter_alone

  !> Return whether the entry at the address of a field's array belongs to a field with the same
  !> values at the same dofs and the same halo depth.
  function is_of_same_field(array, other)
    type(wrapped_array_type), intent(in) :: array
    type(wrapped_array_type), pointer, intent(in) :: other
    logical :: is_of_same_field

    is_of_same_field = .false.
    if (.not. associated(other)) return
    if (.not. has_same_dofs(array, other)) return
    is_of_same_field = other%storage%is_like(array%storage%get_element(), &
                                             array%storage%get_extents())
  end function is_of_same_field

  !> Return whether an array belongs to a field with the same dofs and the same halo depth as
  !> another one.
  function has_same_dofs(array, other)
    type(wrapped_array_type), intent(in) :: array, other
    logical :: has_same_dofs

    has_same_dofs = other%owner == of_field .and. c_associated(array%layout, other%layout)
    if (.not. has_same_dofs) return
    has_same_dofs = other%storage%get_halo_depth() == array%storage%get_halo_depth()
  end function has_same_dofs

  !> Remove the array of a field before the field ends. If its memory was lent to it, one of its
  !> guests takes its place and gets a storage of its own; the other guests become guests of that
  !> one.
  !>
  !> Stops with 201 if the array is in use.
  subroutine leave_field(array)
    type(wrapped_array_type), target, intent(inout) :: array

    type(wrapped_array_type), pointer :: heir

    if (array%is_used()) then
      call array%stop_at(error_access_conflict, 'A field in use is freed: end its use ' // &
                         'before.')
    end if
    if (array%bytes == 0) return
    call table%lock()
    if (array%guest) then
      call leave_host(array)
    else if (c_associated(table%item_at(array%address), c_loc(array))) then
      heir => array%next_guest
      if (associated(heir) .and. array%lent) then
        heir%guest = .false.
        call table%enter(array%address, c_loc(heir))
      else
        call free_guests(array)
        call table%leave(array%address)
      end if
    end if
    call table%unlock()
  end subroutine leave_field

  !> Make an array a guest of another one, the host.
  subroutine be_guest(array, host)
    type(wrapped_array_type), target, intent(inout) :: array
    type(wrapped_array_type), intent(inout) :: host

    array%guest = .true.
    array%next_guest => host%next_guest
    host%next_guest => array
  end subroutine be_guest

  !> Remove a guest from its host before the guest ends.
  subroutine leave_host(array)
    type(wrapped_array_type), target, intent(inout) :: array

    type(wrapped_array_type), pointer :: before

    before => arrays_at(array%address)
    do while (.not. associated(before%next_guest, array))
      before => before%next_guest
    end do
    before%next_guest => array%next_guest
    array%guest = .false.
  end subroutine leave_host

  !> Give storages of their own, which the table does not have, to the guests of an array whose
  !> memory ends.
  subroutine free_guests(array)
    type(wrapped_array_type), intent(inout) :: array

    type(wrapped_array_type), pointer :: guest, next

    next => array%next_guest
    nullify (array%next_guest)
    do while (associated(next))
      guest => next
      next => guest%next_guest
      nullify (guest%next_guest)
      guest%guest = .false.
    end do
  end subroutine free_guests

end module array_table_mod
