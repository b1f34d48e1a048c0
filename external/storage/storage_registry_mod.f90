!> Owns storages for arrays that somebody else owns: found by the address of an array, made at first
!> sight of it.
!>
!> Owners have arrays that are copied, reallocated and freed without a word, so that an address may
!> mean another array later. Each owner has a stamp, drawn when it is made: what is found by an
!> address belongs to the array only if the stamp is the owner's. Who assigns one owner to another
!> has written its array, and has to say so as for all that is written without an access.
!>
!> Threads may share tables, which have no owner: each use is counted, and what is forgotten
!> meanwhile goes when the last one ends. Who has a stamp frees its array alone.
module storage_registry_mod

  use, intrinsic :: iso_c_binding, only: c_associated, c_f_pointer, c_int, c_int64_t, c_loc, c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, real64
  use address_table_mod, only: address_table_type, name_of_array
  use coherent_storage_mod, only: storage_options_type
  use field_storage_mod, only: field_storage_type
  use storage_errors_mod, only: report_error
  use storage_words_mod, only: error_access_conflict, error_no_access

  implicit none
  private

  public :: new_stamp, registered_storage, known_storage, forget_storage, fetch_constant
  public :: begin_table, end_table, forget_address

  !> What is known of one array. `users` have begun to use a table and not ended; one that is
  !> `forgotten` meanwhile goes behind the last of them.
  type :: entry_type
    integer(c_int64_t) :: stamp = 0
    integer :: users = 0
    logical :: forgotten = .false.
    type(field_storage_type), pointer :: storage => null()
  end type entry_type

  !> The storage of an array that nobody changes: made at first sight, its values on the host.
  interface fetch_constant
    module procedure constant_real64, constant_int32
  end interface fetch_constant

  type(address_table_type), save :: table
  integer(c_int64_t), save :: last_stamp = 0

contains

  !> Return a number that no owner has.
  function new_stamp() result(stamp)
    integer(c_int64_t) :: stamp

    call table%lock()
    last_stamp = last_stamp + 1
    stamp = last_stamp
    call table%unlock()
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

    call table%lock()
    storage => find(c_loc(values), stamp)
    if (.not. associated(storage)) then
      storage => enter(c_loc(values), stamp)
      all_values => values
      call storage%wrap(all_values, halo_depth=halo_depth, name='field', spoils=.true.)
      if (clean_depth > 0) call storage%set_clean(clean_depth)
    end if
    call table%unlock()
  end function registered_storage

  !> Return the storage of the array `values` of an owner, null if nobody has asked for it.
  function known_storage(values, stamp) result(storage)
    real(real64), pointer, contiguous, intent(in) :: values(:, :)
    integer(c_int64_t), intent(in) :: stamp
    type(field_storage_type), pointer :: storage

    call table%lock()
    storage => find(c_loc(values), stamp)
    call table%unlock()
  end function known_storage

  !> Give up the storage of the array `values`, if there is one, before the array is freed.
  subroutine forget_storage(values)
    real(real64), pointer, contiguous, intent(in) :: values(:, :)

    call forget_address(c_loc(values))
  end subroutine forget_storage

  !> Give up the storage of the array at an address, if there is one: at once, or when the last
  !> thread that uses it has ended.
  subroutine forget_address(address)
    type(c_ptr), intent(in) :: address

    type(entry_type), pointer :: entry

    call table%lock()
    entry => entry_at(address)
    if (associated(entry)) then
      entry%forgotten = .true.
      if (entry%users == 0) call remove(address, entry)
    end if
    call table%unlock()
  end subroutine forget_address

  !> Return the storage of an array that is only read and has no owner with a stamp: its type and
  !> size stand for one. It stays until `end_table`, which each use has to call.
  !>
  !> Stops with 201 while another table at the address is used.
  function begin_table(address, element, count) result(storage)
    type(c_ptr), intent(in) :: address
    integer(c_int), intent(in) :: element
    integer(c_int64_t), intent(in) :: count
    type(field_storage_type), pointer :: storage

    type(storage_options_type) :: options
    type(entry_type), pointer :: entry
    integer(c_int64_t) :: stamp

    stamp = stamp_of_table(element, count)
    call table%lock()
    storage => find(address, stamp)
    if (.not. associated(storage)) then
      storage => enter(address, stamp)
      options%name = name_of_array('table', address, [count])
      options%host = address
      options%has_values = .true.
      options%read_only = .true.
      call storage%describe(element, [count], options)
    end if
    entry => entry_at(address)
    entry%users = entry%users + 1
    call table%unlock()
  end function begin_table

  !> End a use of a table in a space.
  !>
  !> Stops with 206 if nobody uses it.
  subroutine end_table(address, element, count, space)
    type(c_ptr), intent(in) :: address
    integer(c_int), intent(in) :: element
    integer(c_int64_t), intent(in) :: count
    integer(c_int), intent(in) :: space

    type(entry_type), pointer :: entry

    call table%lock()
    entry => entry_at(address)
    if (associated(entry)) then
      if (entry%users == 0 .or. entry%stamp /= stamp_of_table(element, count)) nullify (entry)
    end if
    if (.not. associated(entry)) then
      call report_error(error_no_access, '"' // name_of_array('table', address, [count]) // &
                        '" is released, but nobody acquired it.')
    end if
    call entry%storage%release(space)
    entry%users = entry%users - 1
    if (entry%forgotten .and. entry%users == 0) call remove(address, entry)
    call table%unlock()
  end subroutine end_table

  !> Return the storage of an array that is only read.
  function constant_real64(values, stamp) result(storage)
    real(real64), target, contiguous, intent(inout) :: values(:, :)
    integer(c_int64_t), intent(in) :: stamp
    type(field_storage_type), pointer :: storage

    call table%lock()
    storage => find(c_loc(values), stamp)
    if (.not. associated(storage)) then
      storage => enter(c_loc(values), stamp)
      call storage%wrap(values, name='property of a grid', read_only=.true.)
    end if
    call table%unlock()
  end function constant_real64

  !> Return the storage of an array that is only read.
  function constant_int32(values, stamp) result(storage)
    integer(int32), target, contiguous, intent(inout) :: values(:, :)
    integer(c_int64_t), intent(in) :: stamp
    type(field_storage_type), pointer :: storage

    call table%lock()
    storage => find(c_loc(values), stamp)
    if (.not. associated(storage)) then
      storage => enter(c_loc(values), stamp)
      call storage%wrap(values, name='property of a grid', read_only=.true.)
    end if
    call table%unlock()
  end function constant_int32

  ! -- private: while the table is locked ----------------------------------------------------------

  !> Return what stands for the owner of a table, which no owner has.
  pure function stamp_of_table(element, count) result(stamp)
    integer(c_int), intent(in) :: element
    integer(c_int64_t), intent(in) :: count
    integer(c_int64_t) :: stamp

    stamp = -(8 * count + element)
  end function stamp_of_table

  !> Return the storage at an address, null if there is none of this stamp.
  function find(address, stamp) result(storage)
    type(c_ptr), intent(in) :: address
    integer(c_int64_t), intent(in) :: stamp
    type(field_storage_type), pointer :: storage

    type(entry_type), pointer :: entry

    nullify (storage)
    entry => entry_at(address)
    if (.not. associated(entry)) return
    if (entry%stamp == stamp) storage => entry%storage
  end function find

  !> Return what is known of the array at an address, null if nothing is.
  function entry_at(address) result(entry)
    type(c_ptr), intent(in) :: address
    type(entry_type), pointer :: entry

    type(c_ptr) :: item

    nullify (entry)
    item = table%item_at(address)
    if (c_associated(item)) call c_f_pointer(item, entry)
  end function entry_at

  !> Return a storage that is to be that of what is at an address; what was there is forgotten.
  function enter(address, stamp) result(storage)
    type(c_ptr), intent(in) :: address
    integer(c_int64_t), intent(in) :: stamp
    type(field_storage_type), pointer :: storage

    type(entry_type), pointer :: entry

    entry => entry_at(address)
    if (associated(entry)) then
      if (entry%users > 0) then
        call report_error(error_access_conflict, '"' // entry%storage%get_name() // '" is used, ' &
                          // 'and another array at its address is asked for its storage: ' // &
                          'release one before the other is acquired.')
      end if
      call remove(address, entry)
    end if
    allocate (entry)
    allocate (entry%storage)
    entry%stamp = stamp
    call table%enter(address, c_loc(entry))
    storage => entry%storage
  end function enter

  !> Free what is known of the array at an address.
  subroutine remove(address, entry)
    type(c_ptr), intent(in) :: address
    type(entry_type), pointer, intent(inout) :: entry

    call table%leave(address)
    deallocate (entry%storage)
    deallocate (entry)
  end subroutine remove

end module storage_registry_mod
