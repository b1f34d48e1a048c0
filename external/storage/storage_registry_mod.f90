!> Registry: fields and readers of tables enter arrays in the table of arrays. An array is found by
!> its address, and gets a storage at its first use.
!>
!> Owners can copy, reallocate and free arrays without notice, so that an address can mean another
!> array later. Therefore each owner has a stamp, drawn at its creation: an entry at an address
!> belongs to the array only if its stamp is the owner's, or if it has no owner. An assignment of
!> one owner to another writes an array without an access, and must be reported as every such write.
!>
!> Threads can share tables, which have no owner: uses are counted, and a table that is removed
!> during a use is freed when the last use ends. Only the thread that uses it frees an array with a
!> stamp.
module storage_registry_mod

  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_loc, c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, real64
  use array_table_mod, only: adopt, arrays_at, check_parts, find_array, give_way, &
                             has_one_owner, just_allocated, lock_table, make_room, &
                             may_be_shared, new_array, remove, unlock_table
  use coherent_storage_mod, only: storage_options_type
  use field_storage_mod, only: array_name_type, element_bytes, field_storage_type
  use storage_errors_mod, only: report_error
  use storage_constants_mod, only: element_int32, element_real64, error_no_access
  use wrapped_array_mod, only: of_nobody, of_readers, of_stamped_field, stays, wrapped_array_type

  implicit none
  private

  public :: wrapped_array_type
  public :: new_stamp, registered_array, known_array, forget_storage, fetch_constant
  public :: begin_table, end_table, forget_address, forget_tables

  !> Get the storage of an array that is never changed; it is created at the first use, with values
  !> on the host.
  interface fetch_constant
    module procedure constant_real64, constant_int32
  end interface fetch_constant

  character(*), parameter :: is_used = 'An array in use is freed: release it before.'
  integer(c_int64_t), save :: last_stamp = 0

contains

  !> Return a stamp that no other owner has. Entries in the memory of its `values`, which were just
  !> allocated, are removed.
  function new_stamp(values) result(stamp)
    real(real64), target, contiguous, optional, intent(in) :: values(:, :)
    integer(c_int64_t) :: stamp

    call lock_table()
    last_stamp = last_stamp + 1
    stamp = last_stamp
    if (present(values)) then
      call make_room(array_name_type('field', c_loc(values), shape(values, c_int64_t)), &
                     size(values) * element_bytes(element_real64), just_allocated)
    end if
    call unlock_table()
  end function new_stamp

  !> Return the array `values` of an owner and its storage. A new storage has its values on the
  !> host, and a halo that is clean up to `clean_depth`. If the array was written without knowledge
  !> of the owner, its halo is dirty.
  !>
  !> Stops with 200 if only a device has the values of an overlapping array.
  function registered_array(values, stamp, halo_depth, clean_depth) result(array)
    real(real64), pointer, contiguous, intent(in) :: values(:, :)
    integer(c_int64_t), intent(in) :: stamp
    integer, intent(in) :: halo_depth
    integer, intent(in) :: clean_depth
    type(wrapped_array_type), pointer :: array

    call lock_table()
    array => found(c_loc(values), element_real64, shape(values, c_int64_t), stamp)
    if (.not. associated(array)) then
      array => new_field(values, halo_depth)
      array%stamp = stamp
      if (clean_depth > 0) call array%storage%set_clean(clean_depth)
    else if (.not. array%has_owner()) then
      call adopt(array, of_stamped_field, stamp)
      call array%storage%set_halo_depth(halo_depth)
      call array%storage%set_dirty()
      if (clean_depth > 0 .and. .not. array%halo_written) then
        call array%storage%set_clean(clean_depth)
      end if
    end if
    call unlock_table()
  end function registered_array

  !> Return the array `values` of an owner and its storage, null if it has none.
  !>
  !> Stops with 200 if only a device has the values of an overlapping array.
  function known_array(values, stamp) result(array)
    real(real64), pointer, contiguous, intent(in) :: values(:, :)
    integer(c_int64_t), intent(in) :: stamp
    type(wrapped_array_type), pointer :: array

    call lock_table()
    array => found(c_loc(values), element_real64, shape(values, c_int64_t), stamp)
    if (.not. associated(array)) then
      call check_parts(c_loc(values), size(values) * element_bytes(element_real64))
    end if
    call unlock_table()
  end function known_array

  !> End the storage of the array `values`, if it has one, before the array is freed.
  !>
  !> Stops with 201 if it is in use.
  subroutine forget_storage(values)
    real(real64), pointer, contiguous, intent(in) :: values(:, :)

    type(wrapped_array_type), pointer :: array

    call lock_table()
    array => arrays_at(c_loc(values))
    if (associated(array)) call remove(array, is_used)
    call unlock_table()
  end subroutine forget_storage

  !> End the storage of the table at an address, if it has one: immediately, or after its last use.
  !> With `unless_told`, only if the program does not report when it frees arrays.
  subroutine forget_address(address, unless_told)
    type(c_ptr), intent(in) :: address
    logical, optional, intent(in) :: unless_told

    type(wrapped_array_type), pointer :: array

    if (present(unless_told)) then
      if (unless_told .and. stays()) return
    end if
    call lock_table()
    array => arrays_at(address)
    if (associated(array)) then
      array%forgotten = .true.
      if (array%users == 0) call remove(array, is_used)
    end if
    call unlock_table()
  end subroutine forget_address

  !> End the storages of all tables, before the arrays of the tables are freed.
  subroutine forget_tables()
    type(wrapped_array_type), pointer :: array
    integer :: place

    call lock_table()
    place = 1
    do
      call find_array(place, array)
      if (.not. associated(array)) exit
      if (array%owner == of_readers .and. array%stamp < 0) array%forgotten = .true.
      if (array%forgotten .and. array%users == 0) then
        call remove(array, is_used)
      else
        place = place + 1
      end if
    end do
    call unlock_table()
  end subroutine forget_tables

  !> Return the storage of an array that is only read and has no owner with a stamp; its type and
  !> size serve as the stamp. It exists until `end_table`, which must be called once for each use.
  !>
  !> Stops with 201 while another table at the address is in use, with 200 if a device has values of
  !> an array that was changed or replaced since.
  function begin_table(address, element, count) result(storage)
    type(c_ptr), intent(in) :: address
    integer(c_int), intent(in) :: element
    integer(c_int64_t), intent(in) :: count
    type(field_storage_type), pointer :: storage

    type(wrapped_array_type), pointer :: array

    call lock_table()
    array => read_only(address, element, [count], stamp_of_table(element, count), 'table')
    if (array%users == 0) call array%notice_changes(.false.)
    array%users = array%users + 1
    storage => array%storage
    call unlock_table()
  end function begin_table

  !> End a use of a table in a space.
  !>
  !> Stops with 206 without a use.
  subroutine end_table(address, element, count, space)
    type(c_ptr), intent(in) :: address
    integer(c_int), intent(in) :: element
    integer(c_int64_t), intent(in) :: count
    integer(c_int), intent(in) :: space

    type(wrapped_array_type), pointer :: array

    call lock_table()
    array => arrays_at(address)
    if (associated(array)) then
      if (array%users == 0 .or. array%stamp /= stamp_of_table(element, count)) nullify (array)
    end if
    if (.not. associated(array)) then
      call stop_as_released(array_name_type('table', address, [count]))
    end if
    call array%storage%release(space)
    array%users = array%users - 1
    if (.not. array%forgotten) call array%watch()
    if (array%forgotten .and. array%users == 0) call remove(array, is_used)
    call unlock_table()
  end subroutine end_table

  !> Return the storage of an array that is only read.
  function constant_real64(values, stamp) result(storage)
    real(real64), target, contiguous, intent(inout) :: values(:, :)
    integer(c_int64_t), intent(in) :: stamp
    type(field_storage_type), pointer :: storage

    storage => constant(c_loc(values), element_real64, shape(values, c_int64_t), stamp)
  end function constant_real64

  !> Return the storage of an array that is only read.
  function constant_int32(values, stamp) result(storage)
    integer(int32), target, contiguous, intent(inout) :: values(:, :)
    integer(c_int64_t), intent(in) :: stamp
    type(field_storage_type), pointer :: storage

    storage => constant(c_loc(values), element_int32, shape(values, c_int64_t), stamp)
  end function constant_int32

  ! -- private -------------------------------------------------------------------------------------

  !> Return a new array of an owner.
  function new_field(values, halo_depth) result(array)
    real(real64), pointer, contiguous, intent(in) :: values(:, :)
    integer, intent(in) :: halo_depth
    type(wrapped_array_type), pointer :: array

    type(storage_options_type) :: options

    options%name = 'field'
    options%named_by_place = .true.
    options%spoils = .true.
    options%halo_depth = halo_depth
    call make_room(array_name_type('field', c_loc(values), shape(values, c_int64_t)), &
                   size(values) * element_bytes(element_real64), has_one_owner)
    array => new_array(c_loc(values), element_real64, shape(values, c_int64_t), of_stamped_field, &
                       options)
  end function new_field

  !> Return the storage of an owner's array that is only read.
  function constant(address, element, extents, stamp) result(storage)
    type(c_ptr), intent(in) :: address
    integer(c_int), intent(in) :: element
    integer(c_int64_t), intent(in) :: extents(:)
    integer(c_int64_t), intent(in) :: stamp
    type(field_storage_type), pointer :: storage

    type(wrapped_array_type), pointer :: array

    call lock_table()
    array => read_only(address, element, extents, stamp, 'property of a grid')
    storage => array%storage
    call unlock_table()
  end function constant

  !> Stop with 206 for a table that is not in use.
  subroutine stop_as_released(name)
    type(array_name_type), intent(in) :: name

    call report_error(error_no_access, '"' // name%text() // &
                      '" was released, but not acquired.')
  end subroutine stop_as_released

  !> Return a stamp for a table, distinct from the stamps of owners.
  pure function stamp_of_table(element, count) result(stamp)
    integer(c_int), intent(in) :: element
    integer(c_int64_t), intent(in) :: count
    integer(c_int64_t) :: stamp

    stamp = -(8 * count + element)
  end function stamp_of_table

  !> Return the entry of an array that is only read; messages use `kind`. Entries of others at the
  !> address are replaced if the host has their values; an owner with another stamp has ended.
  function read_only(address, element, extents, stamp, kind) result(array)
    type(c_ptr), intent(in) :: address
    integer(c_int), intent(in) :: element
    integer(c_int64_t), intent(in) :: extents(:)
    integer(c_int64_t), intent(in) :: stamp
    character(*), intent(in) :: kind
    type(wrapped_array_type), pointer :: array

    array => arrays_at(address)
    if (associated(array)) then
      if (array%stamp == stamp .and. array%owner == of_readers) return
    end if
    array => new_reader(address, element, extents, kind)
    array%stamp = stamp
  end function read_only

  !> Return a new array that is only read and that later arrays can replace.
  function new_reader(address, element, extents, kind) result(array)
    type(c_ptr), intent(in) :: address
    integer(c_int), intent(in) :: element
    integer(c_int64_t), intent(in) :: extents(:)
    character(*), intent(in) :: kind
    type(wrapped_array_type), pointer :: array

    type(storage_options_type) :: options

    array => arrays_at(address)
    if (associated(array)) then
      call give_way(array, array_name_type(kind, address, extents), &
                    merge(has_one_owner, may_be_shared, array%owner == of_readers .or. &
                                                        array%owner == of_stamped_field))
    end if
    options%name = kind
    options%named_by_place = .true.
    options%read_only = .true.
    array => new_array(address, element, extents, of_readers, options)
  end function new_reader

  !> Return the array at an address with a stamp, or without an owner if type and extents agree;
  !> null if there is none.
  function found(address, element, extents, stamp) result(array)
    type(c_ptr), intent(in) :: address
    integer(c_int), intent(in) :: element
    integer(c_int64_t), intent(in) :: extents(:)
    integer(c_int64_t), intent(in) :: stamp
    type(wrapped_array_type), pointer :: array

    array => arrays_at(address)
    if (.not. associated(array)) return
    if (array%owner /= of_nobody .and. array%stamp /= stamp) nullify (array)
    if (.not. associated(array)) return
    if (.not. array%storage%is_like(element, extents)) nullify (array)
  end function found

end module storage_registry_mod
