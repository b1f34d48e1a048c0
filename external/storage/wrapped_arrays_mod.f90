!> Owns what generated code and programs call for arrays of others: their storages, found by the
!> address of the values and made at first sight, and what a program tells of them.
!>
!> A program that tells (`set_program_tells`) calls `bring_to_host` before it reads values on the
!> host, `wrote_on_host` when it has written them there, and `release_storage` before they are
!> freed, or `release_tables` before maps are. What it forgets to tell is looked for.
module wrapped_arrays_mod

  use, intrinsic :: iso_c_binding, only: c_associated, c_int, c_int64_t, c_loc, c_null_ptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, real32, real64
  use array_table_mod, only: array_at, find_array, lock_table, look_up, remove, unlock_table
  use storage_errors_mod, only: report_error
  use storage_registry_mod, only: forget_tables
  use storage_words_mod, only: access_read, element_int32, element_real32, element_real64, &
                               error_lost_values, error_window, space_host
  use wrapped_array_mod, only: note_contract, of_nobody, wrapped_array_type

  implicit none
  private

  public :: wrapped_array_type
  public :: storage_of, bring_to_host, wrote_on_host, release_storage, set_program_tells
  public :: release_tables

  !> Return the storage of an array. One that nobody has asked for yet has its values on the host.
  !> It is there until the thread looks another one up, and longer while somebody uses it. A field
  !> that has a storage gives that.
  !>
  !> Stops with 220 for an array with gaps, with 201 or 200 if another array, which lies in part or
  !> with another shape in the same memory, is used, is a field with a storage, or has its only
  !> current values on the device.
  interface storage_of
    module procedure storage_real64_1, storage_real64_2, storage_real64_3, &
                     storage_real32_1, storage_real32_2, storage_real32_3, &
                     storage_int32_1, storage_int32_2
  end interface storage_of

contains

  !> Say whether the program tells from now on what it does with arrays on the host. Who owns a
  !> field with a storage tells in any case.
  !>
  !> Stops with 200 if a program that tells no more has left values on the device alone.
  subroutine set_program_tells(tells)
    logical, intent(in) :: tells

    type(wrapped_array_type), pointer :: array
    integer :: place

    call lock_table()
    place = 1
    do
      call find_array(place, array)
      if (tells .or. .not. associated(array)) exit
      place = place + 1
      if (array%owner /= of_nobody) cycle
      call array%take_latch()
      if (array%is_on_device_alone()) then
        call array%stop_at(error_lost_values, 'A program that tells no more what it does with ' &
                           // 'arrays has one of which only the device has the values: ' // &
                           'bring_to_host')
      end if
      call array%assume_host_alone()
      call array%leave_latch()
    end do
    call note_contract(tells)
    call unlock_table()
    if (.not. tells) call forget_tables()
  end subroutine set_program_tells

  !> Make the host have the current values of an array: before it reads them.
  subroutine bring_to_host(array)
    type(wrapped_array_type), pointer, intent(in) :: array

    call array%begin_use(space_host, access_read, looks=.true.)
    call array%release(space_host, stay=array%owner /= of_nobody)
  end subroutine bring_to_host

  !> Note that the host has written an array: the values of the device are stale.
  !>
  !> Stops with 200 if the host has written a part only, and has not brought the rest before.
  subroutine wrote_on_host(array)
    type(wrapped_array_type), pointer, intent(in) :: array

    call array%wrote_all_on_host()
  end subroutine wrote_on_host

  !> Give up the storage of an array, before the array is freed. What only the device has is lost.
  !> That of a field goes with the field.
  !>
  !> Stops with 201 while the array is used.
  subroutine release_storage(array)
    type(wrapped_array_type), pointer, intent(in) :: array

    type(wrapped_array_type), pointer :: gone

    if (array%owner /= of_nobody .or. array%is_nothing()) return
    call lock_table()
    gone => array
    if (.not. gone%gone) then
      call remove(gone, 'The storage of an array is released that is used: end what uses it ' // &
                  'before.')
    end if
    call unlock_table()
  end subroutine release_storage

  !> Give up what devices have of maps and other tables of LFRic: before function spaces or meshes
  !> are freed. Those that are used go when that ends.
  subroutine release_tables()
    call forget_tables()
  end subroutine release_tables

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
    call lock_table()
    array => array_at(address, element, extents)
    call look_up(array)
    call unlock_table()
  end function storage_at

  include 'wrapped_array_kinds.inc'

end module wrapped_arrays_mod
