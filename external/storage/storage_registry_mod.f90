!> Owns storages for arrays that somebody else owns: found by the address of an array, made at first
!> sight of it.
!>
!> Owners have arrays that are copied, reallocated and freed without a word, so that an address may
!> mean another array later. Each owner has a stamp, drawn when it is made: what is found by an
!> address belongs to the array only if the stamp is the owner's. Who assigns one owner to another
!> has written its array, and has to say so as for all that is written without an access.
module storage_registry_mod

  use, intrinsic :: iso_c_binding, only: c_associated, c_int, c_int64_t, c_intptr_t, c_loc, &
                                         c_null_ptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, real64
  use coherent_storage_mod, only: storage_options_type
  use field_storage_mod, only: field_storage_type

  implicit none
  private

  public :: new_stamp, registered_storage, known_storage, forget_storage, fetch_constant
  public :: storage_of_table, forget_address

  !> What is known of one array.
  type :: entry_type
    type(c_ptr) :: address = c_null_ptr
    integer(c_int64_t) :: stamp = 0
    type(field_storage_type), pointer :: storage => null()
  end type entry_type

  !> The storage of an array that nobody changes: made at first sight, its values on the host.
  interface fetch_constant
    module procedure constant_real64, constant_int32
  end interface fetch_constant

  !> Entries lie at the first free place behind that which their address chooses; at least half of
  !> the places are free.
  type(entry_type), allocatable, save :: entries(:)
  integer, save :: used = 0
  integer(c_int64_t), save :: last_stamp = 0

contains

  !> Return a number that no owner has.
  function new_stamp() result(stamp)
    integer(c_int64_t) :: stamp

    last_stamp = last_stamp + 1
    stamp = last_stamp
  end function new_stamp

  !> Return the storage of the array `values` of an owner. One that nobody has asked for yet has
  !> its values on the host, and a halo that is clean to `clean_depth`.
  function registered_storage(values, stamp, halo_depth, clean_depth) result(storage)
    real(real64), pointer, contiguous, intent(in) :: values(:, :)
    integer(c_int64_t), intent(in) :: stamp
    integer, intent(in) :: halo_depth
    integer, intent(in) :: clean_depth
    type(field_storage_type), pointer :: storage

    real(real64), pointer, contiguous :: all_values(:, :)

    storage => known_storage(values, stamp)
    if (associated(storage)) return
    storage => enter(c_loc(values), stamp)
    all_values => values
    call storage%wrap(all_values, halo_depth=halo_depth, name='field', spoils=.true.)
    if (clean_depth > 0) call storage%set_clean(clean_depth)
  end function registered_storage

  !> Return the storage of the array `values` of an owner, null if nobody has asked for it.
  function known_storage(values, stamp) result(storage)
    real(real64), pointer, contiguous, intent(in) :: values(:, :)
    integer(c_int64_t), intent(in) :: stamp
    type(field_storage_type), pointer :: storage

    storage => find(c_loc(values), stamp)
  end function known_storage

  !> Give up the storage of the array `values`, if there is one, before the array is freed.
  subroutine forget_storage(values)
    real(real64), pointer, contiguous, intent(in) :: values(:, :)

    call forget_address(c_loc(values))
  end subroutine forget_storage

  !> Give up the storage of the array at an address, if there is one.
  subroutine forget_address(address)
    type(c_ptr), intent(in) :: address

    type(field_storage_type), pointer :: storage
    integer :: place

    if (.not. allocated(entries)) return
    place = place_of(entries, address)
    if (.not. c_associated(entries(place)%address)) return
    storage => entries(place)%storage
    call free_place(place)
    deallocate (storage)
  end subroutine forget_address

  !> Return the storage of an array that is only read and has no owner with a stamp: its type and
  !> size stand for one.
  function storage_of_table(address, element, count) result(storage)
    type(c_ptr), intent(in) :: address
    integer(c_int), intent(in) :: element
    integer(c_int64_t), intent(in) :: count
    type(field_storage_type), pointer :: storage

    type(storage_options_type) :: options
    integer(c_int64_t) :: stamp

    stamp = -(8 * count + element)
    storage => find(address, stamp)
    if (associated(storage)) return
    storage => enter(address, stamp)
    options%name = 'table'
    options%host = address
    options%has_values = .true.
    options%read_only = .true.
    call storage%describe(element, [count], options)
  end function storage_of_table

  !> Return the storage of an array that is only read.
  function constant_real64(values, stamp) result(storage)
    real(real64), target, contiguous, intent(inout) :: values(:, :)
    integer(c_int64_t), intent(in) :: stamp
    type(field_storage_type), pointer :: storage

    storage => find(c_loc(values), stamp)
    if (associated(storage)) return
    storage => enter(c_loc(values), stamp)
    call storage%wrap(values, name='property of a grid', read_only=.true.)
  end function constant_real64

  !> Return the storage of an array that is only read.
  function constant_int32(values, stamp) result(storage)
    integer(int32), target, contiguous, intent(inout) :: values(:, :)
    integer(c_int64_t), intent(in) :: stamp
    type(field_storage_type), pointer :: storage

    storage => find(c_loc(values), stamp)
    if (associated(storage)) return
    storage => enter(c_loc(values), stamp)
    call storage%wrap(values, name='property of a grid', read_only=.true.)
  end function constant_int32

  ! -- private -------------------------------------------------------------------------------------

  !> Return the storage at an address, null if there is none of this stamp.
  function find(address, stamp) result(storage)
    type(c_ptr), intent(in) :: address
    integer(c_int64_t), intent(in) :: stamp
    type(field_storage_type), pointer :: storage

    integer :: place

    nullify (storage)
    if (.not. allocated(entries)) return
    place = place_of(entries, address)
    if (entries(place)%stamp == stamp) storage => entries(place)%storage
  end function find

  !> Return a storage that is to be that of what is at an address; what was there is forgotten.
  function enter(address, stamp) result(storage)
    type(c_ptr), intent(in) :: address
    integer(c_int64_t), intent(in) :: stamp
    type(field_storage_type), pointer :: storage

    integer :: place

    call make_room()
    place = place_of(entries, address)
    if (.not. c_associated(entries(place)%address)) used = used + 1
    storage => entries(place)%storage
    if (associated(storage)) deallocate (storage)
    allocate (storage)
    entries(place)%address = address
    entries(place)%stamp = stamp
    entries(place)%storage => storage
  end function enter

  !> Make sure that half of the places are free behind the next entry.
  subroutine make_room()
    type(entry_type), allocatable :: more(:)
    integer :: n

    if (.not. allocated(entries)) allocate (entries(256))
    if (2 * (used + 1) <= size(entries)) return
    allocate (more(2 * size(entries)))
    do n = 1, size(entries)
      if (c_associated(entries(n)%address)) then
        more(place_of(more, entries(n)%address)) = entries(n)
      end if
    end do
    call move_alloc(more, entries)
  end subroutine make_room

  !> Make a place free, so that all entries behind it are found as before.
  subroutine free_place(place)
    integer, intent(in) :: place

    integer :: free, next, places

    places = size(entries)
    free = place
    next = place
    do
      next = 1 + modulo(next, places)
      if (.not. c_associated(entries(next)%address)) exit
      ! An entry moves to the free place unless it would lie before the one that it chooses.
      if (modulo(next - first_place(entries(next)%address, places), places) < &
          modulo(next - free, places)) cycle
      entries(free) = entries(next)
      free = next
    end do
    entries(free) = entry_type()
    used = used - 1
  end subroutine free_place

  !> Return the place of an address, or the free one where it is to be.
  pure function place_of(entries, address) result(place)
    type(entry_type), intent(in) :: entries(:)
    type(c_ptr), intent(in) :: address
    integer :: place

    place = first_place(address, size(entries))
    do while (c_associated(entries(place)%address))
      if (c_associated(entries(place)%address, address)) return
      place = 1 + modulo(place, size(entries))
    end do
  end function place_of

  !> Return the place that an address chooses of this number of places.
  pure function first_place(address, places) result(place)
    type(c_ptr), intent(in) :: address
    integer, intent(in) :: places
    integer :: place

    integer(c_intptr_t) :: number

    ! Arrays begin at multiples of 16 bytes, and great ones often at the same distance.
    number = transfer(address, number) / 16
    place = 1 + int(modulo(ieor(number, number / 4096), int(places, c_intptr_t)))
  end function first_place

end module storage_registry_mod
