!> Owns the storages of arrays that code only reads: maps, sizes, coefficients.
!>
!> They are found by the address and the size of the array, and made at first sight of it. Whoever
!> frees or changes an array says so before with `forget_table`. A pointer that stands for an array
!> has to be `contiguous`: else compilers may pass a copy, which has another address.
module storage_tables_mod

  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_int, c_int64_t, c_loc, c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, real32, real64
  use field_storage_mod, only: field_storage_type
  use storage_registry_mod, only: begin_table, end_table, forget_address
  use storage_words_mod, only: access_read, element_int32, element_logical, element_real32, &
                               element_real64

  implicit none
  private

  public :: acquire_table, release_table, forget_table

  !> Begin to read an array in a space, where its values are from then on: `values` are those that
  !> code for the space reads, until `release_table`.
  interface acquire_table
    module procedure acquire_int32_1, acquire_int32_2, acquire_int32_3, acquire_int32_4, &
                     acquire_real32_1, acquire_real32_2, acquire_real32_3, acquire_real32_4, &
                     acquire_real64_1, acquire_real64_2, acquire_real64_3, acquire_real64_4, &
                     acquire_logical_1, acquire_logical_2, acquire_logical_3, acquire_logical_4
  end interface acquire_table

  !> End to read an array in a space.
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

  !> Begin to read the array at an address.
  subroutine acquire_at(address, element, count, space, values)
    type(c_ptr), intent(in) :: address
    integer(c_int), intent(in) :: element
    integer, intent(in) :: count
    integer(c_int), intent(in) :: space
    type(c_ptr), intent(out) :: values

    type(field_storage_type), pointer :: storage

    values = c_loc(nothing)
    if (count == 0) return
    storage => begin_table(address, element, int(count, c_int64_t))
    call storage%acquire(space, access_read)
    values = storage%get_kernel_address(space)
  end subroutine acquire_at

  !> End to read the array at an address.
  subroutine release_at(address, element, count, space)
    type(c_ptr), intent(in) :: address
    integer(c_int), intent(in) :: element
    integer, intent(in) :: count
    integer(c_int), intent(in) :: space

    if (count > 0) call end_table(address, element, int(count, c_int64_t), space)
  end subroutine release_at

  ! -- one procedure for each type and number of dimensions ---------------------------------------
  !
  ! The text of those that acquire and release is acquire_table.inc and release_table.inc.

  subroutine acquire_int32_1(array, space, values)
    integer(int32), target, contiguous, intent(in) :: array(:)
    integer(int32), pointer, contiguous, intent(out) :: values(:)
    integer(c_int), parameter :: element = element_int32
    include 'acquire_table.inc'
  end subroutine acquire_int32_1

  subroutine release_int32_1(array, space)
    integer(int32), target, contiguous, intent(in) :: array(:)
    integer(c_int), parameter :: element = element_int32
    include 'release_table.inc'
  end subroutine release_int32_1

  subroutine forget_int32_1(array, unless_told)
    integer(int32), target, contiguous, intent(in) :: array(:)
    logical, optional, intent(in) :: unless_told

    call forget_address(c_loc(array), unless_told)
  end subroutine forget_int32_1

  subroutine acquire_int32_2(array, space, values)
    integer(int32), target, contiguous, intent(in) :: array(:, :)
    integer(int32), pointer, contiguous, intent(out) :: values(:, :)
    integer(c_int), parameter :: element = element_int32
    include 'acquire_table.inc'
  end subroutine acquire_int32_2

  subroutine release_int32_2(array, space)
    integer(int32), target, contiguous, intent(in) :: array(:, :)
    integer(c_int), parameter :: element = element_int32
    include 'release_table.inc'
  end subroutine release_int32_2

  subroutine forget_int32_2(array, unless_told)
    integer(int32), target, contiguous, intent(in) :: array(:, :)
    logical, optional, intent(in) :: unless_told

    call forget_address(c_loc(array), unless_told)
  end subroutine forget_int32_2

  subroutine acquire_int32_3(array, space, values)
    integer(int32), target, contiguous, intent(in) :: array(:, :, :)
    integer(int32), pointer, contiguous, intent(out) :: values(:, :, :)
    integer(c_int), parameter :: element = element_int32
    include 'acquire_table.inc'
  end subroutine acquire_int32_3

  subroutine release_int32_3(array, space)
    integer(int32), target, contiguous, intent(in) :: array(:, :, :)
    integer(c_int), parameter :: element = element_int32
    include 'release_table.inc'
  end subroutine release_int32_3

  subroutine forget_int32_3(array, unless_told)
    integer(int32), target, contiguous, intent(in) :: array(:, :, :)
    logical, optional, intent(in) :: unless_told

    call forget_address(c_loc(array), unless_told)
  end subroutine forget_int32_3

  subroutine acquire_int32_4(array, space, values)
    integer(int32), target, contiguous, intent(in) :: array(:, :, :, :)
    integer(int32), pointer, contiguous, intent(out) :: values(:, :, :, :)
    integer(c_int), parameter :: element = element_int32
    include 'acquire_table.inc'
  end subroutine acquire_int32_4

  subroutine release_int32_4(array, space)
    integer(int32), target, contiguous, intent(in) :: array(:, :, :, :)
    integer(c_int), parameter :: element = element_int32
    include 'release_table.inc'
  end subroutine release_int32_4

  subroutine forget_int32_4(array, unless_told)
    integer(int32), target, contiguous, intent(in) :: array(:, :, :, :)
    logical, optional, intent(in) :: unless_told

    call forget_address(c_loc(array), unless_told)
  end subroutine forget_int32_4

  subroutine acquire_real32_1(array, space, values)
    real(real32), target, contiguous, intent(in) :: array(:)
    real(real32), pointer, contiguous, intent(out) :: values(:)
    integer(c_int), parameter :: element = element_real32
    include 'acquire_table.inc'
  end subroutine acquire_real32_1

  subroutine release_real32_1(array, space)
    real(real32), target, contiguous, intent(in) :: array(:)
    integer(c_int), parameter :: element = element_real32
    include 'release_table.inc'
  end subroutine release_real32_1

  subroutine forget_real32_1(array, unless_told)
    real(real32), target, contiguous, intent(in) :: array(:)
    logical, optional, intent(in) :: unless_told

    call forget_address(c_loc(array), unless_told)
  end subroutine forget_real32_1

  subroutine acquire_real32_2(array, space, values)
    real(real32), target, contiguous, intent(in) :: array(:, :)
    real(real32), pointer, contiguous, intent(out) :: values(:, :)
    integer(c_int), parameter :: element = element_real32
    include 'acquire_table.inc'
  end subroutine acquire_real32_2

  subroutine release_real32_2(array, space)
    real(real32), target, contiguous, intent(in) :: array(:, :)
    integer(c_int), parameter :: element = element_real32
    include 'release_table.inc'
  end subroutine release_real32_2

  subroutine forget_real32_2(array, unless_told)
    real(real32), target, contiguous, intent(in) :: array(:, :)
    logical, optional, intent(in) :: unless_told

    call forget_address(c_loc(array), unless_told)
  end subroutine forget_real32_2

  subroutine acquire_real32_3(array, space, values)
    real(real32), target, contiguous, intent(in) :: array(:, :, :)
    real(real32), pointer, contiguous, intent(out) :: values(:, :, :)
    integer(c_int), parameter :: element = element_real32
    include 'acquire_table.inc'
  end subroutine acquire_real32_3

  subroutine release_real32_3(array, space)
    real(real32), target, contiguous, intent(in) :: array(:, :, :)
    integer(c_int), parameter :: element = element_real32
    include 'release_table.inc'
  end subroutine release_real32_3

  subroutine forget_real32_3(array, unless_told)
    real(real32), target, contiguous, intent(in) :: array(:, :, :)
    logical, optional, intent(in) :: unless_told

    call forget_address(c_loc(array), unless_told)
  end subroutine forget_real32_3

  subroutine acquire_real32_4(array, space, values)
    real(real32), target, contiguous, intent(in) :: array(:, :, :, :)
    real(real32), pointer, contiguous, intent(out) :: values(:, :, :, :)
    integer(c_int), parameter :: element = element_real32
    include 'acquire_table.inc'
  end subroutine acquire_real32_4

  subroutine release_real32_4(array, space)
    real(real32), target, contiguous, intent(in) :: array(:, :, :, :)
    integer(c_int), parameter :: element = element_real32
    include 'release_table.inc'
  end subroutine release_real32_4

  subroutine forget_real32_4(array, unless_told)
    real(real32), target, contiguous, intent(in) :: array(:, :, :, :)
    logical, optional, intent(in) :: unless_told

    call forget_address(c_loc(array), unless_told)
  end subroutine forget_real32_4

  subroutine acquire_real64_1(array, space, values)
    real(real64), target, contiguous, intent(in) :: array(:)
    real(real64), pointer, contiguous, intent(out) :: values(:)
    integer(c_int), parameter :: element = element_real64
    include 'acquire_table.inc'
  end subroutine acquire_real64_1

  subroutine release_real64_1(array, space)
    real(real64), target, contiguous, intent(in) :: array(:)
    integer(c_int), parameter :: element = element_real64
    include 'release_table.inc'
  end subroutine release_real64_1

  subroutine forget_real64_1(array, unless_told)
    real(real64), target, contiguous, intent(in) :: array(:)
    logical, optional, intent(in) :: unless_told

    call forget_address(c_loc(array), unless_told)
  end subroutine forget_real64_1

  subroutine acquire_real64_2(array, space, values)
    real(real64), target, contiguous, intent(in) :: array(:, :)
    real(real64), pointer, contiguous, intent(out) :: values(:, :)
    integer(c_int), parameter :: element = element_real64
    include 'acquire_table.inc'
  end subroutine acquire_real64_2

  subroutine release_real64_2(array, space)
    real(real64), target, contiguous, intent(in) :: array(:, :)
    integer(c_int), parameter :: element = element_real64
    include 'release_table.inc'
  end subroutine release_real64_2

  subroutine forget_real64_2(array, unless_told)
    real(real64), target, contiguous, intent(in) :: array(:, :)
    logical, optional, intent(in) :: unless_told

    call forget_address(c_loc(array), unless_told)
  end subroutine forget_real64_2

  subroutine acquire_real64_3(array, space, values)
    real(real64), target, contiguous, intent(in) :: array(:, :, :)
    real(real64), pointer, contiguous, intent(out) :: values(:, :, :)
    integer(c_int), parameter :: element = element_real64
    include 'acquire_table.inc'
  end subroutine acquire_real64_3

  subroutine release_real64_3(array, space)
    real(real64), target, contiguous, intent(in) :: array(:, :, :)
    integer(c_int), parameter :: element = element_real64
    include 'release_table.inc'
  end subroutine release_real64_3

  subroutine forget_real64_3(array, unless_told)
    real(real64), target, contiguous, intent(in) :: array(:, :, :)
    logical, optional, intent(in) :: unless_told

    call forget_address(c_loc(array), unless_told)
  end subroutine forget_real64_3

  subroutine acquire_real64_4(array, space, values)
    real(real64), target, contiguous, intent(in) :: array(:, :, :, :)
    real(real64), pointer, contiguous, intent(out) :: values(:, :, :, :)
    integer(c_int), parameter :: element = element_real64
    include 'acquire_table.inc'
  end subroutine acquire_real64_4

  subroutine release_real64_4(array, space)
    real(real64), target, contiguous, intent(in) :: array(:, :, :, :)
    integer(c_int), parameter :: element = element_real64
    include 'release_table.inc'
  end subroutine release_real64_4

  subroutine forget_real64_4(array, unless_told)
    real(real64), target, contiguous, intent(in) :: array(:, :, :, :)
    logical, optional, intent(in) :: unless_told

    call forget_address(c_loc(array), unless_told)
  end subroutine forget_real64_4

  subroutine acquire_logical_1(array, space, values)
    logical, target, contiguous, intent(in) :: array(:)
    logical, pointer, contiguous, intent(out) :: values(:)
    integer(c_int), parameter :: element = element_logical
    include 'acquire_table.inc'
  end subroutine acquire_logical_1

  subroutine release_logical_1(array, space)
    logical, target, contiguous, intent(in) :: array(:)
    integer(c_int), parameter :: element = element_logical
    include 'release_table.inc'
  end subroutine release_logical_1

  subroutine forget_logical_1(array, unless_told)
    logical, target, contiguous, intent(in) :: array(:)
    logical, optional, intent(in) :: unless_told

    call forget_address(c_loc(array), unless_told)
  end subroutine forget_logical_1

  subroutine acquire_logical_2(array, space, values)
    logical, target, contiguous, intent(in) :: array(:, :)
    logical, pointer, contiguous, intent(out) :: values(:, :)
    integer(c_int), parameter :: element = element_logical
    include 'acquire_table.inc'
  end subroutine acquire_logical_2

  subroutine release_logical_2(array, space)
    logical, target, contiguous, intent(in) :: array(:, :)
    integer(c_int), parameter :: element = element_logical
    include 'release_table.inc'
  end subroutine release_logical_2

  subroutine forget_logical_2(array, unless_told)
    logical, target, contiguous, intent(in) :: array(:, :)
    logical, optional, intent(in) :: unless_told

    call forget_address(c_loc(array), unless_told)
  end subroutine forget_logical_2

  subroutine acquire_logical_3(array, space, values)
    logical, target, contiguous, intent(in) :: array(:, :, :)
    logical, pointer, contiguous, intent(out) :: values(:, :, :)
    integer(c_int), parameter :: element = element_logical
    include 'acquire_table.inc'
  end subroutine acquire_logical_3

  subroutine release_logical_3(array, space)
    logical, target, contiguous, intent(in) :: array(:, :, :)
    integer(c_int), parameter :: element = element_logical
    include 'release_table.inc'
  end subroutine release_logical_3

  subroutine forget_logical_3(array, unless_told)
    logical, target, contiguous, intent(in) :: array(:, :, :)
    logical, optional, intent(in) :: unless_told

    call forget_address(c_loc(array), unless_told)
  end subroutine forget_logical_3

  subroutine acquire_logical_4(array, space, values)
    logical, target, contiguous, intent(in) :: array(:, :, :, :)
    logical, pointer, contiguous, intent(out) :: values(:, :, :, :)
    integer(c_int), parameter :: element = element_logical
    include 'acquire_table.inc'
  end subroutine acquire_logical_4

  subroutine release_logical_4(array, space)
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
