!> Shows every kind of window: what is written through one on the device is found in the array that
!> was wrapped, after an acquire on the host; and what is refused.
program windows

  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_null_ptr
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use checks_mod, only: check, check_code, finish
  use coherent_storage_mod, only: storage_options_type
  use field_storage_mod, only: field_storage_type
  use storage_errors_mod, only: last_error
  use storage_constants_mod

  implicit none

  interface same
    procedure same_real32, same_real64, same_int32, same_int64, same_logical
  end interface same

  call show_real32_1()
  call show_real32_2()
  call show_real64_1()
  call show_real64_2()
  call show_int32_1()
  call show_int32_2()
  call show_int64_1()
  call show_int64_2()
  call show_logical_1()
  call show_logical_2()
  call show_what_is_refused()
  call show_nothing()
  call show_that_memory_comes_and_goes()
  call finish()

contains

  subroutine show_real32_1()
    real(real32), target :: values(5)
    real(real32), pointer, contiguous :: seen(:)
    real(real32), parameter :: first = 1.0_real32, second = 2.0_real32
    integer(c_int), parameter :: element = element_real32
    include 'show_window.inc'
  end subroutine show_real32_1

  subroutine show_real32_2()
    real(real32), target :: values(5, 3)
    real(real32), pointer, contiguous :: seen(:, :)
    real(real32), parameter :: first = 1.0_real32, second = 2.0_real32
    integer(c_int), parameter :: element = element_real32
    include 'show_window.inc'
  end subroutine show_real32_2

  subroutine show_real64_1()
    real(real64), target :: values(5)
    real(real64), pointer, contiguous :: seen(:)
    real(real64), parameter :: first = 1.0_real64, second = 2.0_real64
    integer(c_int), parameter :: element = element_real64
    include 'show_window.inc'
  end subroutine show_real64_1

  subroutine show_real64_2()
    real(real64), target :: values(5, 3)
    real(real64), pointer, contiguous :: seen(:, :)
    real(real64), parameter :: first = 1.0_real64, second = 2.0_real64
    integer(c_int), parameter :: element = element_real64
    include 'show_window.inc'
  end subroutine show_real64_2

  subroutine show_int32_1()
    integer(int32), target :: values(5)
    integer(int32), pointer, contiguous :: seen(:)
    integer(int32), parameter :: first = 1_int32, second = 2_int32
    integer(c_int), parameter :: element = element_int32
    include 'show_window.inc'
  end subroutine show_int32_1

  subroutine show_int32_2()
    integer(int32), target :: values(5, 3)
    integer(int32), pointer, contiguous :: seen(:, :)
    integer(int32), parameter :: first = 1_int32, second = 2_int32
    integer(c_int), parameter :: element = element_int32
    include 'show_window.inc'
  end subroutine show_int32_2

  subroutine show_int64_1()
    integer(int64), target :: values(5)
    integer(int64), pointer, contiguous :: seen(:)
    integer(int64), parameter :: first = 1_int64, second = 2_int64
    integer(c_int), parameter :: element = element_int64
    include 'show_window.inc'
  end subroutine show_int64_1

  subroutine show_int64_2()
    integer(int64), target :: values(5, 3)
    integer(int64), pointer, contiguous :: seen(:, :)
    integer(int64), parameter :: first = 1_int64, second = 2_int64
    integer(c_int), parameter :: element = element_int64
    include 'show_window.inc'
  end subroutine show_int64_2

  subroutine show_logical_1()
    logical, target :: values(5)
    logical, pointer, contiguous :: seen(:)
    logical, parameter :: first = .false., second = .true.
    integer(c_int), parameter :: element = element_logical
    include 'show_window.inc'
  end subroutine show_logical_1

  subroutine show_logical_2()
    logical, target :: values(5, 3)
    logical, pointer, contiguous :: seen(:, :)
    logical, parameter :: first = .false., second = .true.
    integer(c_int), parameter :: element = element_logical
    include 'show_window.inc'
  end subroutine show_logical_2

  elemental function same_real32(left, right) result(same)
    real(real32), intent(in) :: left, right
    logical :: same

    same = abs(left - right) <= 0
  end function same_real32

  elemental function same_real64(left, right) result(same)
    real(real64), intent(in) :: left, right
    logical :: same

    same = abs(left - right) <= 0
  end function same_real64

  elemental function same_int32(left, right) result(same)
    integer(int32), intent(in) :: left, right
    logical :: same

    same = left == right
  end function same_int32

  elemental function same_int64(left, right) result(same)
    integer(int64), intent(in) :: left, right
    logical :: same

    same = left == right
  end function same_int64

  elemental function same_logical(left, right) result(same)
    logical, intent(in) :: left, right
    logical :: same

    same = left .eqv. right
  end function same_logical

  subroutine show_what_is_refused()
    real(real64), target :: values(6), table(4, 4)
    complex, target :: others(2)
    real(real64), pointer, contiguous :: right(:), square(:, :)
    real(real32), pointer, contiguous :: wrong(:)
    type(field_storage_type) :: storage, twin
    type(storage_options_type) :: options
    integer(c_int) :: status

    call storage%acquire(space_host, access_read, status)
    call check_code(status, error_memory, 'acquire without memory')
    call storage%wrap(table(1:2, :), status=status)
    call check_code(status, error_window, 'wrap of an array with gaps')
    call storage%wrap(table(1, :), status=status)
    call check_code(status, error_window, 'wrap of a row')
    call storage%wrap(others, status=status)
    call check_code(status, error_window, 'wrap of complex numbers')
    call storage%create(99_c_int, [3], status=status)
    call check_code(status, error_window, 'create with an unknown element type')
    call storage%create(element_int32, [1, 2, 3, 4, 5, 6], status=status)
    call check_code(status, error_window, 'create with six dimensions')
    call storage%create(element_int32, [-1], status=status)
    call check_code(status, error_memory, 'create with a size below 0')
    call storage%create(element_int32, [1], halo_depth=-1_c_int, status=status)
    call check_code(status, error_memory, 'create with a halo depth below 0')
    call storage%create(element_int32, [-1, -1], status=status)
    call check_code(status, error_memory, 'create with two sizes below 0')
    call storage%describe(element_real64, [2_c_int64_t**62], options, status)
    call check_code(status, error_memory, 'more bytes than can be counted')
    call storage%describe(element_real32, [2_c_int64_t**33, 2_c_int64_t**33], options, status)
    call check_code(status, error_memory, 'more elements than can be counted')

    call storage%wrap(values, read_only=.true., name='fixed', status=status)
    call check_code(status, no_error, 'wrap')
    call storage%window(space_host, right, status)
    call check_code(status, error_no_access, 'window without access')
    call check(last_error() == '"fixed" is used at the host without an access there.', &
               'sentence: ' // last_error())
    call check(.not. associated(right), 'no window without access')
    call storage%acquire(space_host, access_read, status)
    call storage%window(space_host, wrong, status)
    call check_code(status, error_window, 'window of the wrong type')
    call check(.not. associated(wrong), 'no window of the wrong type')
    call storage%window(space_host, square, status)
    call check_code(status, error_window, 'window of the wrong rank')
    call storage%window(space_host, right, status)
    call check_code(status, no_error, 'right window')
    call storage%destroy(status)
    call check_code(status, error_access_conflict, 'destroy while it is read')
    call storage%wrap(values, status=status)
    call check_code(status, error_access_conflict, 'wrap while it is read')
    call storage%assume_valid([space_host, space_device], status)
    call check_code(status, error_access_conflict, 'assume_valid while it is read')
    call storage%release(space_host, status)
    call storage%acquire(space_host, access_write, status)
    call check_code(status, error_read_only, 'write to what is read-only')
    call storage%acquire(99_c_int, access_read, status)
    call check_code(status, error_unknown_word, 'acquire in an unknown space')
    call storage%acquire(space_host, 4_c_int, status)
    call check_code(status, error_unknown_word, 'acquire with an unknown access')
    call storage%wrap(values, status=status)
    call check_code(status, no_error, 'wrap anew')
    call storage%acquire(space_host, access_read_write, status)
    call check_code(status, no_error, 'write after it was wrapped anew')
    call storage%release(space_host)
    call twin%create(element_real64, [6])
    call check(.not. twin%is_initialised(), 'no values after create')
    call check(storage%is_initialised(), 'values after wrap')
    call twin%attach_device(c_null_ptr, status)
    call check_code(status, error_memory, 'memory of a device at a null address')
  end subroutine show_what_is_refused

  subroutine show_nothing()
    real(real32), target :: nothing(0)
    real(real32), pointer, contiguous :: seen(:)
    type(field_storage_type) :: storage

    call storage%wrap(nothing)
    call check(storage%get_element() == element_real32, 'element of an empty array')
    call storage%acquire(space_device, access_read_write)
    call storage%window(space_device, seen)
    call check(size(seen) == 0, 'window on nothing')
    call storage%release(space_device)
    call storage%acquire(space_host, access_read)
    call storage%window(space_host, seen)
    call check(size(seen) == 0, 'window on nothing at the host')
    call storage%release(space_host)
  end subroutine show_nothing

  subroutine show_that_memory_comes_and_goes()
    integer(int64), pointer, contiguous :: seen(:)
    type(field_storage_type) :: storage
    integer :: n

    do n = 1, 3
      call storage%create(element_int64, [n], name='again')
      call check(.not. storage%has_device_memory(), 'no memory on the device before it is used')
      call storage%acquire(space_device, access_write)
      call storage%window(space_device, seen)
      call check(size(seen) == n, 'size after it was made anew')
      seen = n
      call storage%release(space_device)
      call check(storage%get_version() == 1_c_int64_t, 'version after one write')
      call storage%acquire(space_host, access_read)
      call storage%release(space_host)
      call storage%leave_device()
      call check(.not. storage%has_device_memory(), 'no memory on the device after leaving it')
      call check(storage%is_valid(space_host), 'values on the host after leaving the device')
    end do
    call storage%destroy()
    call check(.not. storage%is_initialised(), 'no values after the end')
  end subroutine show_that_memory_comes_and_goes

end program windows
