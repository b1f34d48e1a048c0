!> Cache of tables that programs compute repeatedly with equal values, for example basis functions
!> in each call of a routine. All equal tables share one copy, and its copy on a device.
!>
!> The copies are internal and constant. The cache has a maximum size: a new copy replaces one that
!> is not in use.
module table_cache_mod

  use, intrinsic :: iso_c_binding, only: c_associated, c_int, c_int64_t, c_null_ptr, c_ptr, &
                                         c_size_t
  use field_storage_mod, only: array_name_type
  use storage_errors_mod, only: report_error
  use storage_memory_mod, only: copy_memory, give_memory, take_memory
  use storage_registry_mod, only: forget_address
  use storage_constants_mod, only: error_memory, error_no_access

  implicit none
  private

  public :: begin_alike, used_alike, end_alike

  !> Copy of a table and the number of its current users.
  type :: kept_type
    type(c_ptr) :: values = c_null_ptr
    integer(c_int) :: element = 0
    integer(c_size_t) :: bytes = 0
    integer :: users = 0
  end type kept_type

  !> Maximum number of copies, unless more are in use at once.
  integer, parameter :: room = 64
  type(kept_type), allocatable, save :: kept(:)
  integer, save :: number_kept = 0
  integer, save :: last_given_up = 0
  integer(c_int), save :: lock_word = 0

  interface
    function memcmp(first, second, bytes) bind(c, name='memcmp') result(difference)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value, intent(in) :: first, second
      integer(c_size_t), value, intent(in) :: bytes
      integer(c_int) :: difference
    end function memcmp
  end interface

contains

  !> Begin to use the shared copy of the table at an address, which has at least one byte, and
  !> return the address of the copy.
  !>
  !> Stops with 207 without enough memory.
  function begin_alike(address, element, bytes) result(values)
    type(c_ptr), intent(in) :: address
    integer(c_int), intent(in) :: element
    integer(c_size_t), intent(in) :: bytes
    type(c_ptr) :: values

    type(array_name_type) :: name
    integer :: place

    call acquire_lock(lock_word)
    place = place_of(address, element, bytes)
    if (place == 0) then
      place = free_place()
      values = take_memory(bytes)
      if (.not. c_associated(values)) then
        name = array_name_type('table', address, [int(bytes, c_int64_t)])
        call report_error(error_memory, 'A copy of "' // name%text() // '" cannot be ' &
                          // 'allocated on the host: out of memory.')
      end if
      call copy_memory(values, address, bytes)
      kept(place) = kept_type(values, element, bytes)
    end if
    kept(place)%users = kept(place)%users + 1
    values = kept(place)%values
    call release_lock(lock_word)
  end function begin_alike

  !> Return the address of the copy of a table; the copy must be in use.
  !>
  !> Stops with 206 if it is not.
  function used_alike(address, element, bytes) result(values)
    type(c_ptr), intent(in) :: address
    integer(c_int), intent(in) :: element
    integer(c_size_t), intent(in) :: bytes
    type(c_ptr) :: values

    integer :: place, users

    call acquire_lock(lock_word)
    place = place_of(address, element, bytes)
    users = 0
    if (place > 0) users = kept(place)%users
    if (users == 0) then
      call report_error(error_no_access, 'A table was released that was not acquired, or that ' &
                        // 'has changed since: release it before the change.')
    end if
    values = kept(place)%values
    call release_lock(lock_word)
  end function used_alike

  !> End one use of a copy; without users it can be replaced.
  subroutine end_alike(values)
    type(c_ptr), intent(in) :: values

    integer :: place

    call acquire_lock(lock_word)
    do place = 1, number_kept
      if (c_associated(kept(place)%values, values)) kept(place)%users = kept(place)%users - 1
    end do
    call release_lock(lock_word)
  end subroutine end_alike

  ! -- while the lock is held ----------------------------------------------------------------------

  !> Return the index of the copy of a table, 0 without one.
  function place_of(address, element, bytes) result(place)
    type(c_ptr), intent(in) :: address
    integer(c_int), intent(in) :: element
    integer(c_size_t), intent(in) :: bytes
    integer :: place

    do place = 1, number_kept
      if (kept(place)%element /= element .or. kept(place)%bytes /= bytes) cycle
      if (memcmp(kept(place)%values, address, bytes) == 0) return
    end do
    place = 0
  end function place_of

  !> Return the index for a new copy: an unused one, or that of a copy without users.
  function free_place() result(place)
    integer :: place

    type(kept_type), allocatable :: more(:)
    integer :: n

    if (.not. allocated(kept)) allocate (kept(room))
    if (number_kept >= room) then
      do n = 1, number_kept
        place = modulo(last_given_up + n - 1, number_kept) + 1
        if (kept(place)%users > 0) cycle
        last_given_up = place
        call forget_address(kept(place)%values)
        call give_memory(kept(place)%values)
        return
      end do
    end if
    if (number_kept == size(kept)) then
      allocate (more(2 * number_kept))
      more(:number_kept) = kept
      call move_alloc(more, kept)
    end if
    number_kept = number_kept + 1
    place = number_kept
  end function free_place

  include 'lock_procedures.inc'

end module table_cache_mod
