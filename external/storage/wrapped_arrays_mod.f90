!> Procedures that generated code and programs call for arrays of other code: their storages, found
!> by the address of the values and created at the first use, and reports of the program.
!>
!> A program that reports its uses (`set_program_tells`) calls `bring_to_host` before it reads
!> values on the host, `wrote_on_host` after it wrote them there, `release_storage` before it frees
!> them, and `release_tables` before it frees maps. Missing reports are detected.
module wrapped_arrays_mod

  use, intrinsic :: iso_c_binding, only: c_associated, c_int, c_int64_t, c_loc, c_null_ptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, real32, real64
  use array_table_mod, only: array_at, find_array, lock_table, look_up, remove, unlock_table
  use storage_errors_mod, only: report_error
  use storage_registry_mod, only: forget_tables
  use storage_constants_mod, only: access_read, element_int32, element_real32, element_real64, &
                               error_lost_values, error_window, space_host
  use wrapped_array_mod, only: note_contract, of_nobody, wrapped_array_type

  implicit none
  private

  public :: wrapped_array_type
  public :: storage_of, bring_to_host, wrote_on_host, release_storage, set_program_tells
  public :: release_tables, halo_is_dirty

  !> Get the storage of an array. A new storage has its values on the host. It exists until the
  !> thread requests another one, and longer while it is in use. For a field with a storage, this is
  !> the storage of the field.
  !>
  !> Stops with 220 for an array with gaps; with 201 or 200 if another array in the same memory,
  !> overlapping or of another shape, is in use, belongs to a field with a storage, or has its only
  !> current values on a device.
  interface storage_of
    module procedure storage_real64_1, storage_real64_2, storage_real64_3, &
                     storage_real32_1, storage_real32_2, storage_real32_3, &
                     storage_int32_1, storage_int32_2
  end interface storage_of

contains

  !> Set whether the program reports its uses of arrays on the host. Owners of fields with a storage
  !> always do.
  !>
  !> Stops with 200 if the program stops reporting while values are only on a device.
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
      call array%lock()
      if (array%is_on_device_alone()) then
        call array%stop_at(error_lost_values, 'A program stops reporting its uses of ' // &
                           'arrays while an array is current only on the device: call ' // &
                           'bring_to_host first.')
      end if
      call array%assume_host_alone()
      call array%storage%set_dirty()
      call array%unlock()
    end do
    call note_contract(tells)
    call unlock_table()
    if (.not. tells) call forget_tables()
  end subroutine set_program_tells

  !> Make the values of an array current on the host; call it before the host reads them.
  subroutine bring_to_host(array)
    type(wrapped_array_type), pointer, intent(in) :: array

    call array%begin_use(space_host, access_read, looks=.true.)
    call array%release(space_host, stay=array%owner /= of_nobody)
  end subroutine bring_to_host

  !> Record that the host has written an array: its values on devices become stale.
  !>
  !> Stops with 200 if the host has written only a part and did not fetch the rest before.
  subroutine wrote_on_host(array)
    type(wrapped_array_type), pointer, intent(in) :: array

    call array%wrote_all_on_host()
  end subroutine wrote_on_host

  !> Return whether the halo of an array without an owner was written, or not exchanged to a depth,
  !> since the program reports its uses. It is always dirty if the program does not.
  function halo_is_dirty(array, depth) result(dirty)
    type(wrapped_array_type), pointer, intent(in) :: array
    integer(c_int), intent(in) :: depth
    logical :: dirty

    dirty = array%is_dirty(depth)
  end function halo_is_dirty

  !> End the storage of an array before the array is freed. Values that only the device has are
  !> lost. The storage of a field ends with the field.
  !>
  !> Stops with 201 while the array is in use.
  subroutine release_storage(array)
    type(wrapped_array_type), pointer, intent(in) :: array

    type(wrapped_array_type), pointer :: gone

    if (array%owner /= of_nobody .or. array%is_nothing()) return
    call lock_table()
    gone => array
    if (.not. gone%gone) then
      call remove(gone, 'The storage of an array in use is released: end the accesses to it ' // &
                  'before.')
    end if
    call unlock_table()
  end subroutine release_storage

  !> Free the copies of maps and other tables of LFRic on devices, before function spaces or meshes
  !> are freed. Tables in use are freed at the end of their use.
  subroutine release_tables()
    call forget_tables()
  end subroutine release_tables

  !> Get the storage of the array at an address. All arrays without elements, which have no address,
  !> share one storage.
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
