!> Owns the storages of arrays that code only reads: maps, sizes, coefficients.
!>
!> They are found by the address and the size of the array, and made at first sight of it. Whoever
!> frees or changes an array says so before with `forget_table`. A pointer that stands for an array
!> has to be `contiguous`: else compilers may pass a copy, which has another address. Of arrays that
!> are `alike`, as they are made anew with the same values, one copy stands for all, and nobody has
!> to say anything.
module storage_tables_mod

  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_int, c_int64_t, c_loc, c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, real32, real64
  use field_storage_mod, only: element_bytes, field_storage_type
  use kept_tables_mod, only: begin_alike, end_alike, used_alike
  use storage_registry_mod, only: begin_table, end_table, forget_address
  use storage_words_mod, only: access_read, element_int32, element_logical, element_real32, &
                               element_real64

  implicit none
  private

  public :: acquire_table, release_table, forget_table

  !> Begin to read an array in a space, where its values are from then on: `values` are those that
  !> code for the space reads, until `release_table`. With `alike`, they are those of a copy that
  !> has the same values, of this array or another one.
  interface acquire_table
    module procedure acquire_int32_1, acquire_int32_2, acquire_int32_3, acquire_int32_4, &
                     acquire_real32_1, acquire_real32_2, acquire_real32_3, acquire_real32_4, &
                     acquire_real64_1, acquire_real64_2, acquire_real64_3, acquire_real64_4, &
                     acquire_logical_1, acquire_logical_2, acquire_logical_3, acquire_logical_4
  end interface acquire_table

  !> End to read an array in a space, which has the values that it had, and is `alike` or not as
  !> it was.
  interface release_table
    module procedure release_int32_1, release_int32_2, release_int32_3, release_int32_4, &
                     release_real32_1, release_real32_2, release_real32_3, release_real32_4, &
                     release_real64_1, release_real64_2, release_real64_3, release_real64_4, &
                     release_logical_1, release_logical_2, release_logical_3, release_logical_4
  end interface release_table

  !> Give up the storage of an array, if it has one; `unless_told` who frees it tells that, as a
  !> program does which calls `set_program_tells`.
  interface forget_table
    module procedure forget_int32_1, forget_int32_2, forget_int32_3, forget_int32_4, &
                     forget_real32_1, forget_real32_2, forget_real32_3, forget_real32_4, &
                     forget_real64_1, forget_real64_2, forget_real64_3, forget_real64_4, &
                     forget_logical_1, forget_logical_2, forget_logical_3, forget_logical_4
  end interface forget_table

  !> What arrays without elements, which have no address, are said to lie at.
  integer(c_int), target, save :: nothing = 0

contains

  !> Begin to read the array at an address, or what stands for those that are alike.
  subroutine acquire_at(address, element, count, space, values, alike)
    type(c_ptr), intent(in) :: address
    integer(c_int), intent(in) :: element
    integer, intent(in) :: count
    integer(c_int), intent(in) :: space
    type(c_ptr), intent(out) :: values
    logical, optional, intent(in) :: alike

    type(field_storage_type), pointer :: storage
    type(c_ptr) :: there

    values = c_loc(nothing)
    if (count == 0) return
    there = address
    if (is_asked(alike)) there = begin_alike(address, element, count * element_bytes(element))
    storage => begin_table(there, element, int(count, c_int64_t))
    call storage%acquire(space, access_read)
    values = storage%get_kernel_address(space)
  end subroutine acquire_at

  !> End to read the array at an address, or what stands for those that are alike.
  subroutine release_at(address, element, count, space, alike)
    type(c_ptr), intent(in) :: address
    integer(c_int), intent(in) :: element
    integer, intent(in) :: count
    integer(c_int), intent(in) :: space
    logical, optional, intent(in) :: alike

    type(c_ptr) :: there

    if (count == 0) return
    there = address
    if (is_asked(alike)) there = used_alike(address, element, count * element_bytes(element))
    call end_table(there, element, int(count, c_int64_t), space)
    if (is_asked(alike)) call end_alike(there)
  end subroutine release_at

  !> Say whether something is asked for that need not be said.
  pure function is_asked(wish)
    logical, optional, intent(in) :: wish
    logical :: is_asked

    is_asked = .false.
    if (present(wish)) is_asked = wish
  end function is_asked

  ! -- one procedure for each type and number of dimensions ---------------------------------------
  !
  ! The text of those that acquire and release is acquire_table.inc and release_table.inc.

  subroutine acquire_int32_1(array, space, values, alike)
    integer(int32), target, contiguous, intent(in) :: array(:)
    integer(int32), pointer, contiguous, intent(out) :: values(:)
    integer(c_int), parameter :: element = element_int32
    include 'acquire_table.inc'
  end subroutine acquire_int32_1

  subroutine release_int32_1(array, space, alike)
    integer(int32), target, contiguous, intent(in) :: array(:)
    integer(c_int), parameter :: element = element_int32
    include 'release_table.inc'
  end subroutine release_int32_1

  subroutine forget_int32_1(array, unless_told)
    integer(int32), target, contiguous, intent(in) :: array(:)
    logical, optional, intent(in) :: unless_told

    call forget_address(c_loc(array), unless_told)
  end subroutine forget_int32_1

  subroutine acquire_int32_2(array, space, values, alike)
    integer(int32), target, contiguous, intent(in) :: array(:, :)
    integer(int32), pointer, contiguous, intent(out) :: values(:, :)
    integer(c_int), parameter :: element = element_int32
    include 'acquire_table.inc'
  end subroutine acquire_int32_2

  subroutine release_int32_2(array, space, alike)
    integer(int32), target, contiguous, intent(in) :: array(:, :)
    integer(c_int), parameter :: element = element_int32
    include 'release_table.inc'
  end subroutine release_int32_2

  subroutine forget_int32_2(array, unless_told)
    integer(int32), target, contiguous, intent(in) :: array(:, :)
    logical, optional, intent(in) :: unless_told

    call forget_address(c_loc(array), unless_told)
  end subroutine forget_int32_2

  subroutine acquire_int32_3(array, space, values, alike)
    integer(int32), target, contiguous, intent(in) :: array(:, :, :)
    integer(int32), pointer, contiguous, intent(out) :: values(:, :, :)
    integer(c_int), parameter :: element = element_int32
    include 'acquire_table.inc'
  end subroutine acquire_int32_3

  subroutine release_int32_3(array, space, alike)
    integer(int32), target, contiguous, intent(in) :: array(:, :, :)
    integer(c_int), parameter :: element = element_int32
    include 'release_table.inc'
  end subroutine release_int32_3

  subroutine forget_int32_3(array, unless_told)
    integer(int32), target, contiguous, intent(in) :: array(:, :, :)
    logical, optional, intent(in) :: unless_told

    call forget_address(c_loc(array), unless_told)
  end subroutine forget_int32_3

  subroutine acquire_int32_4(array, space, values, alike)
    integer(int32), target, contiguous, intent(in) :: array(:, :, :, :)
    integer(int32), pointer, contiguous, intent(out) :: values(:, :, :, :)
    integer(c_int), parameter :: element = element_int32
    include 'acquire_table.inc'
  end subroutine acquire_int32_4

  subroutine release_int32_4(array, space, alike)
    integer(int32), target, contiguous, intent(in) :: array(:, :, :, :)
    integer(c_int), parameter :: element = element_int32
    include 'release_table.inc'
  end subroutine release_int32_4

  subroutine forget_int32_4(array, unless_told)
    integer(int32), target, contiguous, intent(in) :: array(:, :, :, :)
    logical, optional, intent(in) :: unless_told

    call forget_address(c_loc(array), unless_told)
  end subroutine forget_int32_4

  subroutine acquire_real32_1(array, space, values, alike)
    real(real32), target, contiguous, intent(in) :: array(:)
    real(real32), pointer, contiguous, intent(out) :: values(:)
    integer(c_int), parameter :: element = element_real32
    include 'acquire_table.inc'
  end subroutine acquire_real32_1

  subroutine release_real32_1(array, space, alike)
    real(real32), target, contiguous, intent(in) :: array(:)
    integer(c_int), parameter :: element = element_real32
    include 'release_table.inc'
  end subroutine release_real32_1

  subroutine forget_real32_1(array, unless_told)
    real(real32), target, contiguous, intent(in) :: array(:)
    logical, optional, intent(in) :: unless_told

    call forget_address(c_loc(array), unless_told)
  end subroutine forget_real32_1

  subroutine acquire_real32_2(array, space, values, alike)
    real(real32), target, contiguous, intent(in) :: array(:, :)
    real(real32), pointer, contiguous, intent(out) :: values(:, :)
    integer(c_int), parameter :: element = element_real32
    include 'acquire_table.inc'
  end subroutine acquire_real32_2

  subroutine release_real32_2(array, space, alike)
    real(real32), target, contiguous, intent(in) :: array(:, :)
    integer(c_int), parameter :: element = element_real32
    include 'release_table.inc'
  end subroutine release_real32_2

  subroutine forget_real32_2(array, unless_told)
    real(real32), target, contiguous, intent(in) :: array(:, :)
    logical, optional, intent(in) :: unless_told

    call forget_address(c_loc(array), unless_told)
  end subroutine forget_real32_2

  subroutine acquire_real32_3(array, space, values, alike)
    real(real32), target, contiguous, intent(in) :: array(:, :, :)
    real(real32), pointer, contiguous, intent(out) :: values(:, :, :)
    integer(c_int), parameter :: element = element_real32
    include 'acquire_table.inc'
  end subroutine acquire_real32_3

  subroutine release_real32_3(array, space, alike)
    real(real32), target, contiguous, intent(in) :: array(:, :, :)
    integer(c_int), parameter :: element = element_real32
    include 'release_table.inc'
  end subroutine release_real32_3

  subroutine forget_real32_3(array, unless_told)
    real(real32), target, contiguous, intent(in) :: array(:, :, :)
    logical, optional, intent(in) :: unless_told

    call forget_address(c_loc(array), unless_told)
  end subroutine forget_real32_3

  subroutine acquire_real32_4(array, space, values, alike)
    real(real32), target, contiguous, intent(in) :: array(:, :, :, :)
    real(real32), pointer, contiguous, intent(out) :: values(:, :, :, :)
    integer(c_int), parameter :: element = element_real32
    include 'acquire_table.inc'
  end subroutine acquire_real32_4

  subroutine release_real32_4(array, space, alike)
    real(real32), target, contiguous, intent(in) :: array(:, :, :, :)
    integer(c_int), parameter :: element = element_real32
    include 'release_table.inc'
  end subroutine release_real32_4

  subroutine forget_real32_4(array, unless_told)
    real(real32), target, contiguous, intent(in) :: array(:, :, :, :)
    logical, optional, intent(in) :: unless_told

    call forget_address(c_loc(array), unless_told)
  end subroutine forget_real32_4

  subroutine acquire_real64_1(array, space, values, alike)
    real(real64), target, contiguous, intent(in) :: array(:)
    real(real64), pointer, contiguous, intent(out) :: values(:)
    integer(c_int), parameter :: element = element_real64
    include 'acquire_table.inc'
  end subroutine acquire_real64_1

  subroutine release_real64_1(array, space, alike)
    real(real64), target, contiguous, intent(in) :: array(:)
    integer(c_int), parameter :: element = element_real64
    include 'release_table.inc'
  end subroutine release_real64_1

  subroutine forget_real64_1(array, unless_told)
    real(real64), target, contiguous, intent(in) :: array(:)
    logical, optional, intent(in) :: unless_told

    call forget_address(c_loc(array), unless_told)
  end subroutine forget_real64_1

  subroutine acquire_real64_2(array, space, values, alike)
    real(real64), target, contiguous, intent(in) :: array(:, :)
    real(real64), pointer, contiguous, intent(out) :: values(:, :)
    integer(c_int), parameter :: element = element_real64
    include 'acquire_table.inc'
  end subroutine acquire_real64_2

  subroutine release_real64_2(array, space, alike)
    real(real64), target, contiguous, intent(in) :: array(:, :)
    integer(c_int), parameter :: element = element_real64
    include 'release_table.inc'
  end subroutine release_real64_2

  subroutine forget_real64_2(array, unless_told)
    real(real64), target, contiguous, intent(in) :: array(:, :)
    logical, optional, intent(in) :: unless_told

    call forget_address(c_loc(array), unless_told)
  end subroutine forget_real64_2

  subroutine acquire_real64_3(array, space, values, alike)
    real(real64), target, contiguous, intent(in) :: array(:, :, :)
    real(real64), pointer, contiguous, intent(out) :: values(:, :, :)
    integer(c_int), parameter :: element = element_real64
    include 'acquire_table.inc'
  end subroutine acquire_real64_3

  subroutine release_real64_3(array, space, alike)
    real(real64), target, contiguous, intent(in) :: array(:, :, :)
    integer(c_int), parameter :: element = element_real64
    include 'release_table.inc'
  end subroutine release_real64_3

  subroutine forget_real64_3(array, unless_told)
    real(real64), target, contiguous, intent(in) :: array(:, :, :)
    logical, optional, intent(in) :: unless_told

    call forget_address(c_loc(array), unless_told)
  end subroutine forget_real64_3

  subroutine acquire_real64_4(array, space, values, alike)
    real(real64), target, contiguous, intent(in) :: array(:, :, :, :)
    real(real64), pointer, contiguous, intent(out) :: values(:, :, :, :)
    integer(c_int), parameter :: element = element_real64
    include 'acquire_table.inc'
  end subroutine acquire_real64_4

  subroutine release_real64_4(array, space, alike)
    real(real64), target, contiguous, intent(in) :: array(:, :, :, :)
    integer(c_int), parameter :: element = element_real64
    include 'release_table.inc'
  end subroutine release_real64_4

  subroutine forget_real64_4(array, unless_told)
    real(real64), target, contiguous, intent(in) :: array(:, :, :, :)
    logical, optional, intent(in) :: unless_told

    call forget_address(c_loc(array), unless_told)
  end subroutine forget_real64_4

  subroutine acquire_logical_1(array, space, values, alike)
    logical, target, contiguous, intent(in) :: array(:)
    logical, pointer, contiguous, intent(out) :: values(:)
    integer(c_int), parameter :: element = element_logical
    include 'acquire_table.inc'
  end subroutine acquire_logical_1

  subroutine release_logical_1(array, space, alike)
    logical, target, contiguous, intent(in) :: array(:)
    integer(c_int), parameter :: element = element_logical
    include 'release_table.inc'
  end subroutine release_logical_1

  subroutine forget_logical_1(array, unless_told)
    logical, target, contiguous, intent(in) :: array(:)
    logical, optional, intent(in) :: unless_told

    call forget_address(c_loc(array), unless_told)
  end subroutine forget_logical_1

  subroutine acquire_logical_2(array, space, values, alike)
    logical, target, contiguous, intent(in) :: array(:, :)
    logical, pointer, contiguous, intent(out) :: values(:, :)
    integer(c_int), parameter :: element = element_logical
    include 'acquire_table.inc'
  end subroutine acquire_logical_2

  subroutine release_logical_2(array, space, alike)
    logical, target, contiguous, intent(in) :: array(:, :)
    integer(c_int), parameter :: element = element_logical
    include 'release_table.inc'
  end subroutine release_logical_2

  subroutine forget_logical_2(array, unless_told)
    logical, target, contiguous, intent(in) :: array(:, :)
    logical, optional, intent(in) :: unless_told

    call forget_address(c_loc(array), unless_told)
  end subroutine forget_logical_2

  subroutine acquire_logical_3(array, space, values, alike)
    logical, target, contiguous, intent(in) :: array(:, :, :)
    logical, pointer, contiguous, intent(out) :: values(:, :, :)
    integer(c_int), parameter :: element = element_logical
    include 'acquire_table.inc'
  end subroutine acquire_logical_3

  subroutine release_logical_3(array, space, alike)
    logical, target, contiguous, intent(in) :: array(:, :, :)
    integer(c_int), parameter :: element = element_logical
    include 'release_table.inc'
  end subroutine release_logical_3

  subroutine forget_logical_3(array, unless_told)
    logical, target, contiguous, intent(in) :: array(:, :, :)
    logical, optional, intent(in) :: unless_told

    call forget_address(c_loc(array), unless_told)
  end subroutine forget_logical_3

  subroutine acquire_logical_4(array, space, values, alike)
    logical, target, contiguous, intent(in) :: array(:, :, :, :)
    logical, pointer, contiguous, intent(out) :: values(:, :, :, :)
    integer(c_int), parameter :: element = element_logical
    include 'acquire_table.inc'
  end subroutine acquire_logical_4

  subroutine release_logical_4(array, space, alike)
    logical, target, contiguous, intent(in) :: array(:, :, :, :)
    integer(c_int), parameter :: element = element_logical
    include 'release_table.inc'
  end subroutine release_logical_4

  subroutine forget_logical_4(array, unless_told)
    logical, target, contiguous, intent(in) :: array(:, :, :, :)
    logical, optional, intent(in) :: unless_told

    call forget_address(c_loc(array), unless_told)
  end subroutine forget_logical_4

end module storage_tables_mod
