!> Owns copies of tables that are made anew again and again, and have the same values each time, as
!> basis functions have in each call of a routine: one copy stands for all that are alike, and with
!> it what a device has.
!>
!> Nobody else knows the copies, which nobody changes. A few are kept: a new one takes the place of
!> one that nobody uses.
module kept_tables_mod

  use, intrinsic :: iso_c_binding, only: c_associated, c_int, c_int64_t, c_null_ptr, c_ptr, &
                                         c_size_t
  use field_storage_mod, only: array_name_type
  use storage_errors_mod, only: report_error
  use storage_memory_mod, only: copy_memory, give_memory, take_memory
  use storage_registry_mod, only: forget_address
  use storage_words_mod, only: error_memory, error_no_access

  implicit none
  private

  public :: begin_alike, used_alike, end_alike

  !> A copy of values of a type, and how many use it now.
  type :: kept_type
    type(c_ptr) :: values = c_null_ptr
    integer(c_int) :: element = 0
    integer(c_size_t) :: bytes = 0
    integer :: users = 0
  end type kept_type

  !> How many are kept where nobody uses more at once.
  integer, parameter :: room = 64
  type(kept_type), allocatable, save :: kept(:)
  integer, save :: number_kept = 0
  integer, save :: last_given_up = 0
  integer(c_int), save :: latch = 0

  interface
    function memcmp(first, second, bytes) bind(c, name='memcmp') result(difference)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value, intent(in) :: first, second
      integer(c_size_t), value, intent(in) :: bytes
      integer(c_int) :: difference
    end function memcmp
  end interface

contains

  !> Begin to use the copy of the values at an address, of which there is at least one, and return
  !> where it is.
  !>
  !> Stops with 207 without enough memory.
  function begin_alike(address, element, bytes) result(values)
    type(c_ptr), intent(in) :: address
    integer(c_int), intent(in) :: element
    integer(c_size_t), intent(in) :: bytes
    type(c_ptr) :: values

    type(array_name_type) :: name
    integer :: place

    call close_latch(latch)
    place = place_of(address, element, bytes)
    if (place == 0) then
      place = free_place()
      values = take_memory(bytes)
      if (.not. c_associated(values)) then
        name = array_name_type('table', address, [int(bytes, c_int64_t)])
        call report_error(error_memory, 'A copy of "' // name%text() // '" finds no memory left ' &
                          // 'on the host.')
      end if
      call copy_memory(values, address, bytes)
      kept(place) = kept_type(values, element, bytes)
    end if
    kept(place)%users = kept(place)%users + 1
    values = kept(place)%values
    call open_latch(latch)
  end function begin_alike

  !> Return where the copy of the values at an address is, which somebody uses.
  !>
  !> Stops with 206 if nobody does.
  function used_alike(address, element, bytes) result(values)
    type(c_ptr), intent(in) :: address
    integer(c_int), intent(in) :: element
    integer(c_size_t), intent(in) :: bytes
    type(c_ptr) :: values

    integer :: place, users

    call close_latch(latch)
    place = place_of(address, element, bytes)
    users = 0
    if (place > 0) users = kept(place)%users
    if (users == 0) then
      call report_error(error_no_access, 'A table is released, but nobody acquired it, or it has ' &
                        // 'changed since: release it before.')
    end if
    values = kept(place)%values
    call open_latch(latch)
  end function used_alike

  !> End a use of a copy: another one may take its place from now on.
  subroutine end_alike(values)
    type(c_ptr), intent(in) :: values

    integer :: place

    call close_latch(latch)
    do place = 1, number_kept
      if (c_associated(kept(place)%values, values)) kept(place)%users = kept(place)%users - 1
    end do
    call open_latch(latch)
  end subroutine end_alike

  ! -- while the latch is taken --------------------------------------------------------------------

  !> Return the place of the copy of values, 0 if there is none.
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

  !> Return a place for one more copy: a new one, or that of one that nobody uses.
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

  include 'latch_procedures.inc'

end module kept_tables_mod
