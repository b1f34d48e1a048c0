!> Shows storages of arrays that belong to somebody else: without an argument, that nobody gets a
!> wrong value by them; with one, that what would give one stops the program.
program wrapped

  use, intrinsic :: iso_c_binding, only: c_loc, c_size_t
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use checks_mod, only: check, finish
  use storage_device_mod, only: device_has_memory, device_kind
  use storage_tables_mod, only: acquire_table, forget_table, release_table
  use storage_statistics_mod, only: get_total_statistics, storage_statistics_type
  use write_detection_mod, only: count_marks, digest_of, mark_host
  use storage_constants_mod
  use wrapped_arrays_mod, only: bring_to_host, halo_is_dirty, release_storage, release_tables, &
                                set_program_tells, storage_of, wrapped_array_type, wrote_on_host

  !$ use omp_lib, only: omp_get_thread_num

  implicit none

  real(real64), target :: memory(100)
  character(32) :: asked

  asked = ''
  if (command_argument_count() > 0) call get_command_argument(1, asked)
  if (asked /= '') then
    call set_program_tells(.true.)
    call use_wrongly(trim(asked))
    stop
  end if
  call check_marks()
  call check_untold()
  call check_flags(told=.false.)
  call check_one_memory()
  call check_names()
  call check_nothing()
  call check_kinds()
  call check_threads()
  call check_tables()
  call check_tables_alike()
  call set_program_tells(.true.)
  call check_told()
  call check_tables_told()
  call check_tables_alike()
  call check_overwritten()
  call check_exchanges()
  call check_flags(told=.true.)
  call check_names()
  call check_threads()
  call check_flags_end()
  call check_untold()
  call finish()

contains

  !> Add to all values on the device.
  subroutine add_there(values, more)
    real(real64), intent(in) :: values(:, :)
    real(real64), intent(in) :: more
    type(wrapped_array_type), pointer :: storage
    real(real64), pointer, contiguous :: window(:, :)

    storage => storage_of(values)
    call storage%acquire(space_device, access_read_write, window)
    window = window + more
    call storage%release(space_device)
  end subroutine add_there

  !> Say whether all values are so on the device.
  function there(values, expected)
    real(real64), intent(in) :: values(:, :)
    real(real64), intent(in) :: expected
    logical :: there
    type(wrapped_array_type), pointer :: storage
    real(real64), pointer, contiguous :: window(:, :)

    storage => storage_of(values)
    call storage%prefetch(space_device)
    call storage%acquire(space_device, access_read, window)
    there = all(abs(window - expected) < 1.0e-9_real64)
    call storage%release(space_device)
  end function there

  !> Say whether all values are so on the host, without asking for them.
  function here(values, expected)
    real(real64), intent(in) :: values(:, :)
    real(real64), intent(in) :: expected
    logical :: here

    here = all(abs(values - expected) < 1.0e-9_real64)
  end function here

  !> Marks are left where nobody writes; beside an emulated device no word is overlooked.
  subroutine check_marks()
    integer(int32), target :: words(1001)
    integer(c_size_t) :: left, all_marks, bytes
    integer(int64) :: before
    integer :: n, some

    do n = 1, size(words), 100
      bytes = 4 * n
      words = n
      call mark_host(c_loc(words), bytes)
      call count_marks(c_loc(words), bytes, left, all_marks)
      some = merge(n, min(n, 16), device_kind == 'emulated')
      call check(all_marks == some .and. left == all_marks, 'all marks are there')
      words(n) = 0
      call count_marks(c_loc(words), bytes, left, all_marks)
      call check(left == all_marks - 1, 'the last word is watched')
      words(1) = 0
      call count_marks(c_loc(words), bytes, left, all_marks)
      call check(left == max(all_marks - 2, 0_c_size_t), 'the first word is watched')
      words = n
      call count_marks(c_loc(words), bytes, left, all_marks)
      call check(left == 0, 'who writes all leaves no mark')
    end do
    words = 0
    bytes = 4 * size(words)
    before = digest_of(c_loc(words), bytes)
    do n = 1, size(words), merge(1, size(words) - 1, device_kind == 'emulated')
      words(n) = -1
      call check(digest_of(c_loc(words), bytes) /= before, 'a word that is watched has changed')
      words(n) = 0
    end do
    words = 1
    call check(digest_of(c_loc(words), bytes) /= before, 'all words have changed')
  end subroutine check_marks

  !> Nobody tells anything: the host reads and writes as it likes.
  subroutine check_untold()
    real(real64), allocatable :: values(:, :)
    integer :: round

    do round = 1, 3
      allocate (values(40, 30), source=1.0_real64)
      call check(there(values, 1.0_real64), 'a new array has the values of the host')
      call add_there(values, 1.0_real64)
      call check(here(values, 2.0_real64), 'the host finds what the device has written')
      values(3:5, 2) = 7.0_real64
      values(:, :) = values + 1.0_real64
      values(3:5, 2) = 3.0_real64
      call check(there(values, 3.0_real64), 'the device finds what the host has written')
      deallocate (values)
    end do
  end subroutine check_untold

  !> Arrays of several shapes in one memory, one after the other, and in parts of each other.
  subroutine check_one_memory()
    real(real64), pointer :: first(:, :), second(:, :), part(:, :)

    memory = 1.0_real64
    first(1:4, 1:3) => memory(1:12)
    second(1:6, 1:4) => memory(1:24)
    part(1:2, 1:4) => memory(9:16)
    call add_there(first, 1.0_real64)
    call add_there(second, 1.0_real64)
    call add_there(part, 1.0_real64)
    call add_there(first, 1.0_real64)
    call check(all(abs(memory(1:8) - 4) < 1.0e-9_real64), 'two of another shape at one address')
    call check(all(abs(memory(9:12) - 5) < 1.0e-9_real64), 'three arrays with common values')
    call check(all(abs(memory(13:16) - 3) < 1.0e-9_real64), 'an array that begins within another')
    call check(all(abs(memory(17:24) - 2) < 1.0e-9_real64), 'what is in one array alone')
  end subroutine check_one_memory

  !> An array under two names, and an invoke within an invoke.
  subroutine check_names()
    type(wrapped_array_type), pointer :: one, other
    real(real64), pointer, contiguous :: first(:, :), second(:, :)
    real(real64) :: values(5, 4)

    values = 1.0_real64
    one => storage_of(values)
    other => storage_of(values)
    call one%acquire(space_device, access_read_write, first, may_share=.true.)
    call other%acquire(space_device, access_read_write, second, may_share=.true.)
    first = first + 1
    second = second + 1
    call one%release(space_device)
    second = second + 1
    call other%release(space_device)
    call bring_to_host(one)
    call check(here(values, 4.0_real64), 'one array is written under two names')
    call one%acquire(space_host, access_read, first)
    call check(there(values, 4.0_real64), 'who reads within a reading finds the values')
    call check(all(abs(first - 4) < 1.0e-9_real64), 'who reads goes on reading')
    call one%release(space_host)
    call one%acquire(space_device, access_write, first, may_share=.true.)
    first(1, :) = 5
    call other%acquire(space_device, access_read_write, second, may_share=.true.)
    call check(all(abs(second(2:, :) - 4) < 1.0e-9_real64), 'who writes first leaves what was there')
    call other%release(space_device)
    call one%release(space_device)
    call check_exchanged_names(values)
    call release_storage(storage_of(values))
  end subroutine check_names

  !> An array is read under one name while it is exchanged under another one.
  subroutine check_exchanged_names(values)
    real(real64), intent(inout) :: values(:, :)
    type(wrapped_array_type), pointer :: one, other
    real(real64), pointer, contiguous :: first(:, :), there(:, :)

    one => storage_of(values)
    call one%acquire(space_device, access_read, first)
    call one%acquire(space_host, access_read, there)
    other => storage_of(values)
    call other%begin_exchange([2, 4, 2, 3], 1)
    values(1, :) = 7
    call other%end_exchange()
    call check(all(abs(first(1, :) - 7) < 1.0e-9_real64), 'who reads finds a part received')
    call check(all(abs(first(2:, :) - 4) < 1.0e-9_real64), 'and the other values')
    call other%begin_exchange()
    values(5, :) = 8
    call other%end_exchange()
    call check(all(abs(first(5, :) - 8) < 1.0e-9_real64), 'who reads finds what was received')
    call check(all(abs(there(5, :) - 8) < 1.0e-9_real64), 'on the host, too')
    call one%release(space_host)
    call one%release(space_device)
  end subroutine check_exchanged_names

  !> Threads read one table, and each forgets it in the end, as code for LFRic does.
  subroutine check_tables()
    integer(int32), target :: map(4, 250), none(4, 0)
    integer(int32), pointer, contiguous :: there(:, :)
    logical :: right
    integer :: n

    map = 7
    right = .true.
    !$omp parallel do num_threads(4) private(there) reduction(.and.:right)
    do n = 1, 4000
      call acquire_table(map, space_device, there)
      right = right .and. all(there == 7)
      call release_table(map, space_device)
      call forget_table(map)
    end do
    !$omp end parallel do
    call check(right, 'every thread finds the table')
    call acquire_table(map, space_device, there)
    call release_table(map, space_device)
    ! The last thread has not asked for anything on a device before.
    !$omp parallel num_threads(9)
    !$ if (omp_get_thread_num() == 8) call forget_table(map)
    !$omp end parallel
    call acquire_table(map, space_device, there)
    call forget_table(map)
    call check(all(there == 7), 'what is forgotten stays while it is used')
    call release_table(map, space_device)
    map = 8
    call acquire_table(map, space_device, there)
    call check(all(there == 8), 'what was forgotten is brought anew')
    call release_table(map, space_device)
    call forget_table(map)
    call acquire_table(none, space_device, there)
    call check(size(there) == 0, 'a table without elements')
    call release_table(none, space_device)
    call forget_table(none)
  end subroutine check_tables

  !> Arrays without elements are all alike, and never in each other's way.
  subroutine check_nothing()
    type(wrapped_array_type), pointer :: one, other
    real(real64), pointer, contiguous :: first(:, :), second(:, :)
    real(real64), allocatable :: values(:, :), more(:, :)

    allocate (values(0, 4), more(3, 0))
    one => storage_of(values)
    other => storage_of(more)
    call one%acquire(space_device, access_write, first)
    call other%acquire(space_host, access_read_write, second)
    call check(size(first) == 0 .and. size(second) == 0, 'nothing has no values')
    call one%begin_exchange([1, 0, 1, 4], 1)
    call one%end_exchange()
    call other%release(space_host)
    call one%release(space_device)
    call bring_to_host(one)
    call wrote_on_host(one)
    call release_storage(one)
  end subroutine check_nothing

  !> Elements of other types, and other numbers of dimensions.
  subroutine check_kinds()
    type(wrapped_array_type), pointer :: storage
    real(real32), pointer, contiguous :: short(:, :, :)
    integer(int32), pointer, contiguous :: whole(:)
    real(real32) :: shorts(3, 1, 3)
    integer(int32) :: wholes(3)

    shorts = 1.0_real32
    wholes = 1
    storage => storage_of(shorts)
    call storage%acquire(space_device, access_read_write, short)
    short = short + 1
    call storage%release(space_device)
    storage => storage_of(wholes)
    call storage%acquire(space_device, access_write, whole)
    whole = 5
    call storage%release(space_device)
    call check(all(nint(shorts) == 2) .and. all(wholes == 5), 'elements of other types')
  end subroutine check_kinds

  !> The program tells what it does: nothing moves that need not.
  subroutine check_told()
    type(storage_statistics_type) :: before, after
    real(real64), allocatable :: values(:, :)
    integer :: step

    allocate (values(40, 30), source=1.0_real64)
    before = get_total_statistics()
    do step = 1, 5
      call add_there(values, 1.0_real64)
    end do
    after = get_total_statistics()
    if (device_has_memory) then
      call check(after%to_device - before%to_device == 1, 'values go to the device once')
      call check(after%to_host == before%to_host, 'values stay on the device')
      if (device_kind == 'emulated') call check(.not. any(abs(values) < 1.0e9_real64), 'a mark')
    end if
    call bring_to_host(storage_of(values))
    call check(here(values, 6.0_real64), 'values that were brought are the latest')
    values(2, 2) = 9.0_real64
    call wrote_on_host(storage_of(values))
    values = 6.0_real64
    call wrote_on_host(storage_of(values))
    call check(there(values, 6.0_real64), 'the device finds what it was told of')
    call add_there(values, 1.0_real64)
    call release_storage(storage_of(values))
    values = 3.0_real64
    call check(there(values, 3.0_real64), 'an array is new after its storage was released')
    call release_storage(storage_of(values))
  end subroutine check_told

  !> What the host overwrites altogether is new, told or not: so is an array in a freed one's place.
  subroutine check_overwritten()
    type(wrapped_array_type), pointer :: storage
    real(real64), pointer, contiguous :: window(:, :)
    real(real64) :: values(8, 7)

    values = 1.0_real64
    call add_there(values, 1.0_real64)
    values = 5.0_real64
    call check(there(values, 5.0_real64), 'all values of the host are new')
    call add_there(values, 1.0_real64)
    values(1:3, 1:2) = 4.0_real64
    storage => storage_of(values)
    call storage%acquire(space_device, access_write, window)
    window = 8.0_real64
    call storage%release(space_device)
    call check(there(values, 8.0_real64), 'who overwrites all needs nothing of the host')
    call bring_to_host(storage_of(values))
    call check(here(values, 8.0_real64), 'what was overwritten there comes back')
    call release_storage(storage_of(values))
  end subroutine check_overwritten

  !> Halos are exchanged in the memory of the host, while the device has the values.
  subroutine check_exchanges()
    type(wrapped_array_type), pointer :: storage
    type(storage_statistics_type) :: before, after
    real(real64), pointer, contiguous :: window(:, :)
    real(real64) :: values(12, 10)
    integer :: first, last

    values = 1.0_real64
    call add_there(values, 1.0_real64)
    storage => storage_of(values)
    before = get_total_statistics()
    call storage%begin_exchange([3, 9, 2, 8], 2)
    call check(all(abs(values(3:4, 2:8) - 2) < 1.0e-9_real64), 'the border of what is owned')
    call check(all(abs(values(3:9, 7:8) - 2) < 1.0e-9_real64), 'the other border')
    call check(abs(values(12, 10) - 2) < 1.0e-9_real64, 'what lies beyond')
    values(1:2, 2:8) = 9.0_real64
    call storage%end_exchange()
    after = get_total_statistics()
    if (device_has_memory) then
      call check(after%to_host_bytes - before%to_host_bytes < 8 * size(values), 'parts alone')
    end if
    call storage%acquire(space_device, access_read, window)
    call check(all(abs(window(1:2, 2:8) - 9) < 1.0e-9_real64), 'what was received')
    call check(all(abs(window(3:, 2:8) - 2) < 1.0e-9_real64), 'what was not')
    call storage%release(space_device)
    ! What is owned may be narrower than the halo is wide.
    do first = 1, 3
      do last = 0, 4
        call storage%begin_exchange([3, 2 + last, 2, 1 + first], 2)
        call storage%end_exchange()
      end do
    end do
    call storage%begin_exchange()
    values = values + 1
    call storage%end_exchange()
    call storage%acquire(space_device, access_read, window)
    call check(abs(window(1, 2) - 10) < 1.0e-9_real64, 'all of an array is exchanged')
    call storage%release(space_device)
    ! An exchange of all values joins one of parts.
    call add_there(values, 1.0_real64)
    call storage%begin_exchange([3, 9, 2, 8], 2)
    call storage%begin_exchange()
    call check(all(abs(values(5:7, 4:6) - 4) < 1.0e-9_real64), 'all values are current')
    values(6, 5) = 20.0_real64
    call storage%end_exchange()
    call storage%end_exchange()
    call storage%acquire(space_device, access_read, window)
    call check(abs(window(6, 5) - 20) < 1.0e-9_real64, 'all values are received')
    call check(all(abs(window(5, 3:8) - 4) < 1.0e-9_real64), 'and the others are as before')
    call storage%release(space_device)
    call release_storage(storage)
  end subroutine check_exchanges

  !> A halo is clean after an exchange until something writes the array, if the program reports its
  !> uses; otherwise it is dirty between accesses.
  subroutine check_flags(told)
    logical, intent(in) :: told

    real(real64), target :: values(6, 5)
    real(real64), pointer, contiguous :: window(:, :)
    type(wrapped_array_type), pointer :: storage

    values = 1.0_real64
    call check(halo_is_dirty(storage_of(values), 1), 'a new array has a dirty halo')
    call exchange(values)
    call check(halo_is_dirty(storage_of(values), 1) .neqv. told, 'the halo after an exchange')
    call check(halo_is_dirty(storage_of(values), 2), 'a deeper halo is dirty')
    call check(there(values, 1.0_real64), 'a device reads the values')
    call check(here(values, 1.0_real64), 'the host reads the values')
    call check(halo_is_dirty(storage_of(values), 1) .neqv. told, 'reading leaves the halo clean')
    call add_there(values, 1.0_real64)
    call check(halo_is_dirty(storage_of(values), 1), 'a device has written the array')
    call exchange(values)
    call check(halo_is_dirty(storage_of(values), 1) .neqv. told, 'the halo of what a device wrote')
    storage => storage_of(values)
    call storage%acquire(space_host, access_read_write, window)
    call storage%release(space_host)
    call check(halo_is_dirty(storage_of(values), 1), 'an access that may write')
    call exchange(values)
    call bring_to_host(storage_of(values))
    values = 3.0_real64
    call wrote_on_host(storage_of(values))
    call check(halo_is_dirty(storage_of(values), 1), 'the host has written the array')
    call exchange(values)
    call release_storage(storage_of(values))
    call check(halo_is_dirty(storage_of(values), 1), 'another array in the same memory')
    call release_storage(storage_of(values))
  end subroutine check_flags

  !> A program that stops reporting its uses has no clean halos, and none later.
  subroutine check_flags_end()
    real(real64), target :: values(6, 5)

    values = 1.0_real64
    call exchange(values)
    call check(.not. halo_is_dirty(storage_of(values), 1), 'the halo is clean')
    call set_program_tells(.false.)
    call check(halo_is_dirty(storage_of(values), 1), 'without reports it is dirty')
    call set_program_tells(.true.)
    call check(halo_is_dirty(storage_of(values), 1), 'and stays so')
    call set_program_tells(.false.)
    call release_storage(storage_of(values))
  end subroutine check_flags_end

  !> Exchange the halo of an array whose neighbours have the same values.
  subroutine exchange(values)
    real(real64), target, intent(inout) :: values(:, :)

    type(wrapped_array_type), pointer :: storage

    storage => storage_of(values)
    call storage%begin_exchange([2, 5, 2, 4], 1)
    call storage%end_exchange()
  end subroutine exchange

  !> Threads ask for new storages, and for those of others.
  subroutine check_threads()
    integer, parameter :: arrays = 400
    real(real64), allocatable :: values(:, :, :)
    logical :: right
    integer :: n

    allocate (values(5, 4, arrays), source=1.0_real64)
    right = .true.
    call add_there(values(:, :, 1), 1.0_real64)
    !$omp parallel do num_threads(8) schedule(dynamic) reduction(.and.:right)
    do n = 2, arrays
      call add_there(values(:, :, n), 1.0_real64)
      right = right .and. there(values(:, :, n), 2.0_real64)
      right = right .and. there(values(:, :, 1), 2.0_real64)
    end do
    !$omp end parallel do
    call check(right, 'every thread finds its arrays')
    do n = 1, arrays
      call bring_to_host(storage_of(values(:, :, n)))
      call release_storage(storage_of(values(:, :, n)))
    end do
    call check(all(abs(values - 2) < 1.0e-9_real64), 'all arrays are written')
  end subroutine check_threads

  !> What a program tells of stays where it is, until the program says that it ends.
  subroutine check_tables_told()
    integer(int32), target :: map(20)
    integer(int32), pointer, contiguous :: there(:)

    map = 1
    call look(map)
    call forget_table(map, unless_told=.true.)
    call release_tables()
    map = 2
    call look(map)
    call forget_table(map, unless_told=.true.)
    call acquire_table(map, space_device, there)
    call release_tables()
    call check(all(there == 2), 'a table that is used stays')
    call release_table(map, space_device)
    map = 3
    call look(map)
    call set_program_tells(.false.)
    map = 4
    call look(map)
    call forget_table(map, unless_told=.true.)
    call set_program_tells(.true.)
    map = 5
    call look(map)
    call release_tables()
  end subroutine check_tables_told

  !> Look at the values that a device has of a table.
  subroutine look(map)
    integer(int32), target, contiguous, intent(in) :: map(:)
    integer(int32), pointer, contiguous :: there(:)

    call acquire_table(map, space_device, there)
    call check(all(there == map), 'a device has the values of a table')
    call release_table(map, space_device)
  end subroutine look

  !> Tables with the same values go to a device once, wherever they are, and never for another one.
  subroutine check_tables_alike()
    integer, parameter :: many = 100
    integer(int32), allocatable, target :: first(:), second(:)
    integer(int32), pointer, contiguous :: values(:), again(:)
    real(real32), target :: zeros(12)
    real(real32), pointer, contiguous :: real_values(:)
    integer(int32) :: n

    call release_tables()
    allocate (first(12), second(12))
    first = 7
    second = first
    call look_alike(first, brings=1)
    call look_alike(second, brings=0)
    deallocate (second)
    allocate (second(12), source=first)
    call look_alike(second, brings=0)
    first(12) = 8
    call look_alike(first, brings=1)
    call look_alike(first(:11), brings=1)
    call look_alike(second(:0), brings=0)
    first = 0
    zeros = 0
    call look_alike(first, brings=1)
    call acquire_table(zeros, space_device, real_values, alike=.true.)
    call check(all(abs(real_values) <= 0), 'one of another type is another one')
    call release_table(zeros, space_device, alike=.true.)
    call acquire_table(second, space_device, values, alike=.true.)
    first = second
    call acquire_table(first, space_device, again, alike=.true.)
    call release_table(second, space_device, alike=.true.)
    ! More than are kept come and go meanwhile.
    do n = 1, many
      call look_alike(spread(100 + n, 1, 12), brings=1)
    end do
    call check(all(again == 7), 'one that is used stays')
    call release_table(first, space_device, alike=.true.)
    call look_alike(first, brings=0)
    call release_tables()
    call look_alike(first, brings=1)
    !$omp parallel do num_threads(8) schedule(dynamic)
    do n = 1, 20 * many
      call look_alike([10, 20, modulo(n, many)])
    end do
    !$omp end parallel do
  end subroutine check_tables_alike

  !> Look at the values that a device has of a table, or of one that is alike, which brings so many.
  subroutine look_alike(table, brings)
    integer(int32), target, contiguous, intent(in) :: table(:)
    integer, optional, intent(in) :: brings
    integer(int32), pointer, contiguous :: values(:)
    type(storage_statistics_type) :: before, after

    before = get_total_statistics()
    call acquire_table(table, space_device, values, alike=.true.)
    call check(size(values) == size(table), 'a table that is alike has its size')
    call check(all(values == table), 'a device has the values of a table that is alike')
    call release_table(table, space_device, alike=.true.)
    after = get_total_statistics()
    if (.not. present(brings) .or. device_kind /= 'emulated') return
    call check(after%to_device - before%to_device == brings, 'what is alike is brought once')
  end subroutine look_alike

  !> Do something that would give a wrong answer.
  subroutine use_wrongly(what)
    character(*), intent(in) :: what
    type(wrapped_array_type), pointer :: storage
    real(real64), pointer, contiguous :: window(:, :)
    real(real64), pointer, contiguous :: table(:)
    real(real64), pointer :: values(:, :), other(:, :)

    memory = 1.0_real64
    values(1:5, 1:4) => memory(1:20)
    other(1:4, 1:5) => memory(1:20)
    storage => storage_of(values)
    if (what == 'gaps') storage => storage_of(values(1:5:2, :))
    if (what == 'used' .or. what == 'used part') then
      call storage%acquire(space_device, access_read, window)
      if (what == 'used') call release_storage(storage)
      storage => storage_of(memory(18:30))
    end if
    if (what == 'overtaken') call overtake()
    if (what == 'table changed') then
      call acquire_table(memory(21:40), space_device, table)
      call release_table(memory(21:40), space_device)
      call forget_table(memory(21:40), unless_told=.true.)
      memory(33) = 3.0_real64
      call acquire_table(memory(21:40), space_device, table)
    end if
    if (what == 'table alike changed') then
      call acquire_table(memory(21:40), space_device, table, alike=.true.)
      memory(33) = 3.0_real64
      call release_table(memory(21:40), space_device, alike=.true.)
    end if
    if (what == 'table released') call release_table(memory(21:40), space_device)
    if (what == 'two names') then
      call storage%acquire(space_device, access_read, window)
      call storage%acquire(space_host, access_write, window)
    end if
    if (what == 'exchanged by another') then
      call storage%acquire(space_device, access_read, window)
      !$omp parallel num_threads(2)
      !$ if (omp_get_thread_num() == 1) then
      call storage%begin_exchange()
      call storage%end_exchange()
      !$ end if
      !$omp end parallel
    end if
    if (what == 'gone') then
      call release_storage(storage)
      call bring_to_host(storage)
    end if
    call add_there(values, 1.0_real64)
    select case (what)
    case ('part written')
      values(2, 2) = 3.0_real64
      print *, there(values, 1.0_real64)
    case ('part told')
      values(2, 2) = 3.0_real64
      call wrote_on_host(storage)
    case ('changed')
      call bring_to_host(storage)
      values(2, 2) = 3.0_real64
      print *, there(values, 1.0_real64)
    case ('changed and looked at')
      call bring_to_host(storage)
      values(2, 2) = 3.0_real64
      call bring_to_host(storage)
    case ('changed and exchanged')
      call bring_to_host(storage)
      values(2, 2) = 3.0_real64
      call storage%begin_exchange([2, 4, 2, 3], 1)
    case ('another')
      storage => storage_of(other)
    case ('no more')
      call set_program_tells(.false.)
    end select
  end subroutine use_wrongly

  !> Ask in one thread for another array in the memory of one that another thread is about to use.
  subroutine overtake()
    type(wrapped_array_type), pointer :: storage

    !$omp parallel num_threads(2) private(storage)
    !$ if (omp_get_thread_num() == 0) storage => storage_of(memory(1:20))
    !$omp barrier
    !$ if (omp_get_thread_num() == 1) storage => storage_of(memory(1:30))
    !$omp barrier
    !$ if (omp_get_thread_num() == 0) call bring_to_host(storage)
    !$omp end parallel
  end subroutine overtake

end program wrapped
