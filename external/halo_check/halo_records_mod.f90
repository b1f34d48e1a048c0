!> Records of the run-time check of halos: which loop wrote a field last, and how far into the halo.
!>
!> A record belongs to an array of values, which its address and its size identify.
module halo_records_mod

  use, intrinsic :: iso_c_binding, only: c_intptr_t, c_ptr

  implicit none
  private

  public :: record_of

  integer, parameter, public :: text_length = 160

  !> The last write of a field by a loop with checks, in the call `call_number` of an invoke. Levels
  !> 1 to `computed` have the values that the loop computed there, which need not have the bits of
  !> their owners. `annexed` is 1 if it left annexed dofs clean, -1 if stale, 0 if it is not known.
  !> `received` are the points of a grid that an exchange sets.
  type, public :: halo_record_type
    integer(c_intptr_t) :: address = 0
    integer :: values = 0
    integer :: computed = 0
    integer :: annexed = 0
    integer :: call_number = 0
    character(text_length) :: writer = 'no loop with checks'
    integer :: domain(15) = 0
    logical, allocatable :: received(:, :)
  end type halo_record_type

  integer, parameter :: first_size = 256

  type(halo_record_type), allocatable, target :: table(:)
  integer :: used = 0

contains

  !> Return the record of the array of `values` values at `address`, a new one if it has none. An
  !> array without values (null address) always has a new one. The pointer is valid until the next
  !> call.
  function record_of(address, values) result(record)
    type(c_ptr), intent(in) :: address
    integer, intent(in) :: values
    type(halo_record_type), pointer :: record
    integer(c_intptr_t) :: key

    if (.not. allocated(table)) allocate (table(first_size))
    if (2 * used > size(table)) call grow()
    key = transfer(address, key)
    record => table(place_of(key))
    if (record%address == 0 .and. key /= 0) used = used + 1
    if (record%address == 0 .or. record%values /= values) record = halo_record_type(key, values)
  end function record_of

  !> Return the place of a key in the table: its own, or a free one.
  function place_of(key) result(place)
    integer(c_intptr_t), intent(in) :: key
    integer :: place

    place = 1 + int(modulo(key / 16, int(size(table), c_intptr_t)))
    do while (table(place)%address /= 0 .and. table(place)%address /= key)
      place = 1 + modulo(place, size(table))
    end do
  end function place_of

  !> Double the size of the table.
  subroutine grow()
    type(halo_record_type), allocatable :: old(:)
    integer :: n

    allocate (old, source=table)
    deallocate (table)
    allocate (table(2 * size(old)))
    do n = 1, size(old)
      if (old(n)%address /= 0) table(place_of(old(n)%address)) = old(n)
    end do
  end subroutine grow

end module halo_records_mod
