!> Hash table from addresses to items, at most one item for each address.
!>
!> One lock protects the table. Callers that search for an address and then add it hold the lock
!> during both, so the procedures of this module do not acquire it.
module address_table_mod

  use, intrinsic :: iso_c_binding, only: c_associated, c_int, c_intptr_t, c_null_ptr, c_ptr

  implicit none
  private

  type :: entry_type
    type(c_ptr) :: address = c_null_ptr
    type(c_ptr) :: item = c_null_ptr
  end type entry_type

  !> Open addressing: an entry lies at its hash position or at the next free position after it. At
  !> least half of the positions are free, and their number is a power of 2.
  type, public :: address_table_type
    private
    type(entry_type), allocatable :: entries(:)
    integer :: used = 0
    integer(c_int) :: lock_word = 0
  contains
    procedure, public :: lock
    procedure, public :: unlock
    procedure, public :: item_at
    procedure, public :: enter
    procedure, public :: leave
    procedure, public :: find_item
  end type address_table_type

contains

  !> Acquire the lock; wait while another thread holds it.
  subroutine lock(self)
    class(address_table_type), intent(inout) :: self

    call acquire_lock(self%lock_word)
  end subroutine lock

  !> Release the lock.
  subroutine unlock(self)
    class(address_table_type), intent(inout) :: self

    call release_lock(self%lock_word)
  end subroutine unlock

  include 'lock_procedures.inc'

  !> Return the item of an address, null if it has none.
  pure function item_at(self, address) result(item)
    class(address_table_type), intent(in) :: self
    type(c_ptr), intent(in) :: address
    type(c_ptr) :: item

    item = c_null_ptr
    if (.not. allocated(self%entries)) return
    item = self%entries(place_of(self%entries, size(self%entries), address))%item
  end function item_at

  !> Set the item of an address, which is not null; replaces an earlier item.
  subroutine enter(self, address, item)
    class(address_table_type), intent(inout) :: self
    type(c_ptr), intent(in) :: address
    type(c_ptr), intent(in) :: item

    integer :: place

    call make_room(self)
    place = place_of(self%entries, size(self%entries), address)
    if (.not. c_associated(self%entries(place)%address)) self%used = self%used + 1
    self%entries(place) = entry_type(address, item)
  end subroutine enter

  !> Remove the item of an address. Entries after it move, so that searches still find them.
  subroutine leave(self, address)
    class(address_table_type), intent(inout) :: self
    type(c_ptr), intent(in) :: address

    integer :: free, next, places

    if (.not. allocated(self%entries)) return
    places = size(self%entries)
    free = place_of(self%entries, places, address)
    if (.not. c_associated(self%entries(free)%address)) return
    next = free
    do
      next = 1 + iand(next, places - 1)
      if (.not. c_associated(self%entries(next)%address)) exit
      ! An entry moves to the free position unless that would precede its hash position.
      if (iand(next - first_place(self%entries(next)%address, places), places - 1) < &
          iand(next - free, places - 1)) cycle
      self%entries(free) = self%entries(next)
      free = next
    end do
    self%entries(free) = entry_type()
    self%used = self%used - 1
  end subroutine leave

  !> Return the first item at or after the position `place` and set `place` to its position; null at
  !> the end. Removing an entry can move others to its position, also from the start of the table to
  !> its end.
  subroutine find_item(self, place, item)
    class(address_table_type), intent(in) :: self
    integer, intent(inout) :: place
    type(c_ptr), intent(out) :: item

    integer :: first

    item = c_null_ptr
    if (.not. allocated(self%entries)) return
    first = place
    do place = first, size(self%entries)
      item = self%entries(place)%item
      if (c_associated(item)) return
    end do
  end subroutine find_item

  ! -- private -------------------------------------------------------------------------------------

  !> Grow the table so that half of the positions remain free after the next entry.
  subroutine make_room(self)
    type(address_table_type), intent(inout) :: self

    type(entry_type), allocatable :: more(:)
    integer :: n

    if (.not. allocated(self%entries)) allocate (self%entries(256))
    if (2 * (self%used + 1) <= size(self%entries)) return
    allocate (more(2 * size(self%entries)))
    do n = 1, size(self%entries)
      if (c_associated(self%entries(n)%address)) then
        more(place_of(more, size(more), self%entries(n)%address)) = self%entries(n)
      end if
    end do
    call move_alloc(more, self%entries)
  end subroutine make_room

  !> Return the position of an address, or the free position for it.
  pure function place_of(entries, places, address) result(place)
    integer, intent(in) :: places
    type(entry_type), intent(in) :: entries(places)
    type(c_ptr), intent(in) :: address
    integer :: place

    place = first_place(address, places)
    do while (c_associated(entries(place)%address))
      if (c_associated(entries(place)%address, address)) return
      place = 1 + iand(place, places - 1)
    end do
  end function place_of

  !> Return the hash position of an address in a table with this number of positions.
  pure function first_place(address, places) result(place)
    type(c_ptr), intent(in) :: address
    integer, intent(in) :: places
    integer :: place

    integer(c_intptr_t) :: number

    ! Arrays begin at multiples of 16 bytes, and large ones often at equal distances.
    number = transfer(address, number) / 16
    place = 1 + int(iand(ieor(number, number / 4096), int(places - 1, c_intptr_t)))
  end function first_place

end module address_table_mod
