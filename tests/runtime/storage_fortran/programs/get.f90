!> Shows access in one call, one to five dimensions, lower bounds and blocks: values are current
!> where they are requested, and nothing but blocks is transferred for blocks.
program get

  use, intrinsic :: iso_c_binding, only: c_associated, c_int, c_int64_t, c_loc, c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use checks_mod, only: check, check_code, finish
  use field_storage_mod, only: box_type, field_storage_type
  use storage_device_mod, only: device_has_memory
  use storage_errors_mod, only: last_error
  use storage_statistics_mod, only: storage_statistics_type
  use storage_constants_mod

  implicit none

  type(field_storage_type) :: field
  integer(c_int) :: status

  call show_one_call()
  call show_conflicts()
  call show_read_only()
  call show_kinds()
  call show_dimensions()
  call show_lower_bounds()
  call show_blocks()
  call show_what_is_refused()
  call finish()

contains

  !> Values follow `get` from one space to the other; a read that is current moves nothing.
  subroutine show_one_call()
    real(real64), pointer, contiguous :: here(:, :), there(:, :)
    type(storage_statistics_type) :: done
    integer :: n

    call field%create(element_real64, [3, 4], halo_depth=2, name='field')
    call field%get(space_host, access_write, here)
    here = 1.0_real64
    call field%set_clean(2)
    call field%get(space_device, access_read, there)
    call check(all(abs(there - 1.0_real64) < 0.1_real64), 'a read brings the values')
    call check(.not. field%is_dirty(2), 'a read leaves the halo clean')
    call check(field%is_valid(space_host), 'and the host current')
    do n = 1, 5
      call field%get(space_device, access_read, there)
    end do
    done = field%get_statistics()
    call expect(done%to_device_bytes, 12, 'values are brought once')
    call check(field%get_version() == 1, 'reads are no writes')

    call field%get(space_device, access_read_write, there)
    there = there + 1.0_real64
    call check(field%is_dirty(1), 'a write makes the halo dirty')
    call check(field%get_version() == 2, 'and counts')
    if (device_has_memory) call check(.not. field%is_valid(space_host), 'the host is stale')
    call field%get(space_device, access_read_write, there)
    there = there + 1.0_real64
    call check(field%get_version() == 3, 'also where nothing has to be done')
    call field%get(space_host, access_read, here)
    call check(all(abs(here - 3.0_real64) < 0.1_real64), 'the host gets what was written')
    done = field%get_statistics()
    call expect(done%to_host_bytes, 12, 'once')

    call field%acquire(space_device, access_read_write, queue=1)
    call field%window(space_device, there)
    there = 5.0_real64
    call field%release(space_device, queue=1)
    call field%get(space_device, access_read, there)
    call check(field%state%coherence%get_queue() == 0, 'queues are awaited')
    call field%get(space_host, access_read, here)
    call check(all(abs(here - 5.0_real64) < 0.1_real64), 'and what they wrote is there')
  end subroutine show_one_call

  !> What another access excludes is refused, and changes nothing.
  subroutine show_conflicts()
    real(real64), pointer, contiguous :: values(:, :)

    call field%acquire(space_host, access_read)
    call field%get(space_host, access_read, values, status)
    call check_code(status, no_error, 'a read beside a read')
    if (device_has_memory) then
      call field%get(space_device, access_read_write, values, status)
      call check_code(status, error_access_conflict, 'a write elsewhere during a read')
      call check(.not. associated(values), 'nothing is pointed to after an error')
      call check(field%is_valid(space_host), 'and the read keeps its values')
    end if
    call field%release(space_host)
    call field%release(space_host, status)
    call check_code(status, error_no_access, 'get leaves no access behind')

    call field%acquire(space_host, access_read_write)
    call field%get(space_host, access_read, values, status)
    call check_code(status, error_access_conflict, 'a read during a write')
    call field%release(space_host)
    call field%begin_exchange(space_host, 1)
    call field%get(space_host, access_read, values, status)
    call check_code(status, no_error, 'a read during an exchange')
    call field%get(space_host, access_write, values, status)
    call check_code(status, error_access_conflict, 'a write during an exchange')
    call field%end_exchange(0_c_int64_t, 0_c_int64_t)
    call field%destroy()
  end subroutine show_conflicts

  subroutine show_read_only()
    type(field_storage_type) :: constant
    real(real64), target :: values(3)
    real(real64), pointer, contiguous :: seen(:)

    values = 4.0_real64
    call constant%wrap(values, read_only=.true.)
    call constant%get(space_device, access_read, seen)
    call check(all(abs(seen - 4.0_real64) < 0.1_real64), 'read-only values are read')
    call constant%get(space_device, access_read_write, seen, status)
    call check_code(status, error_read_only, 'a write to read-only values')
    call constant%get(space_host, access_write, seen, status)
    call check_code(status, error_read_only, 'a write to read-only values of the host')
    call check(.not. associated(seen), 'and gives no pointer')
  end subroutine show_read_only

  !> Every element type goes there and back.
  subroutine show_kinds()
    type(field_storage_type) :: fields(5)
    real(real32), pointer, contiguous :: singles(:)
    integer(int32), pointer, contiguous :: integers(:)
    integer(int64), pointer, contiguous :: longs(:)
    logical, pointer, contiguous :: flags(:)
    real(real64), pointer, contiguous :: doubles(:)
    integer(c_int), parameter :: kinds(5) = [element_real32, element_real64, element_int32, &
                                             element_int64, element_logical]
    integer :: n

    do n = 1, 5
      call fields(n)%create(kinds(n), [7])
    end do
    call fields(1)%get(space_device, access_write, singles)
    singles = 2.5_real32
    call fields(1)%get(space_host, access_read, singles)
    call check(all(abs(singles - 2.5_real32) < 0.1_real32), 'real32')
    call fields(2)%get(space_device, access_write, doubles)
    doubles = 2.5_real64
    call fields(2)%get(space_host, access_read, doubles)
    call check(all(abs(doubles - 2.5_real64) < 0.1_real64), 'real64')
    call fields(3)%get(space_device, access_write, integers)
    integers = -3_int32
    call fields(3)%get(space_host, access_read, integers)
    call check(all(integers == -3_int32), 'int32')
    call fields(4)%get(space_device, access_write, longs)
    longs = 2_int64**40
    call fields(4)%get(space_host, access_read, longs)
    call check(all(longs == 2_int64**40), 'int64')
    call fields(5)%get(space_device, access_write, flags)
    flags = [.true., .false., .true., .true., .false., .false., .true.]
    call fields(5)%get(space_host, access_read, flags)
    call check(count(flags) == 4 .and. flags(7), 'logical')
  end subroutine show_kinds

  !> Four and five dimensions have the elements of the wrapped array at their places.
  subroutine show_dimensions()
    type(field_storage_type) :: four, five
    real(real64), target :: a(2, 3, 2, 2), b(2, 2, 3, 2, 2)
    real(real64), pointer, contiguous :: p(:, :, :, :), q(:, :, :, :, :)
    integer :: n

    a = reshape([(real(n, real64), n=1, size(a))], shape(a))
    b = reshape([(real(n, real64), n=1, size(b))], shape(b))
    call four%wrap(a)
    call five%wrap(b)
    call four%get(space_device, access_read_write, p)
    call five%get(space_device, access_read_write, q)
    call check(all(shape(p) == shape(a)) .and. all(shape(q) == shape(b)), 'extents are kept')
    call check(abs(p(2, 3, 1, 2) - 18.0_real64) < 0.1_real64, 'an element of four dimensions')
    call check(abs(q(1, 2, 3, 2, 2) - 47.0_real64) < 0.1_real64, 'an element of five dimensions')
    p(2, 3, 1, 2) = -1.0_real64
    q(1, 2, 3, 2, 2) = -2.0_real64
    call four%get(space_host, access_read, p)
    call five%get(space_host, access_read, q)
    call check(abs(a(2, 3, 1, 2) + 1.0_real64) < 0.1_real64, 'is written in the array')
    call check(abs(b(1, 2, 3, 2, 2) + 2.0_real64) < 0.1_real64, 'is written in the array, too')
    call check(count(a < 0.0_real64) == 1 .and. count(b < 0.0_real64) == 1, 'and no other one')
    call five%acquire_part(space_host, access_read, [box_type()], status)
    call check_code(status, error_window, 'boxes of five dimensions')
  end subroutine show_dimensions

  subroutine show_lower_bounds()
    type(field_storage_type) :: grid
    real(real64), pointer, contiguous :: values(:, :), row(:)

    call grid%create(element_real64, [4, 3], name='grid')
    call grid%set_lower_bounds([0, -1])
    call grid%get(space_device, access_write, values)
    call check(all(lbound(values) == [0, -1]) .and. all(ubound(values) == [3, 1]), 'bounds of get')
    values = 0.0_real64
    values(0, -1) = 1.0_real64
    values(3, 1) = 2.0_real64
    call grid%acquire(space_host, access_read)
    call grid%window(space_host, values)
    call check(all(lbound(values) == [0, -1]), 'bounds of a window')
    call check(abs(values(0, -1) - 1.0_real64) < 0.1_real64, 'the first element')
    call check(abs(values(3, 1) - 2.0_real64) < 0.1_real64, 'the last element')
    call grid%release(space_host)
    call grid%get_block(space_host, 1, row)
    call check(lbound(row, 1) == 0 .and. abs(row(3) - 2.0_real64) < 0.1_real64, 'of a block')
    call grid%get_block(space_host, 2, row, status)
    call check_code(status, error_window, 'a block beyond the upper bound')
    call grid%get_block(space_host, -2, row, status)
    call check_code(status, error_window, 'a block before the lower bound')
    call grid%set_lower_bounds([1], status)
    call check_code(status, error_window, 'bounds for another number of dimensions')
    call check(index(last_error(), 'grid') > 0, 'which names the field')
    call grid%create(element_real64, [2, 2])
    call grid%get(space_host, access_write, values)
    call check(all(lbound(values) == 1), 'a new field begins at 1')
  end subroutine show_lower_bounds

  !> A model with blocks of NPROMA columns: blocks are seen one by one and move one by one.
  subroutine show_blocks()
    integer, parameter :: nproma = 8, levels = 3, blocks = 5
    type(field_storage_type) :: model
    real(real64), pointer, contiguous :: values(:, :, :), block(:, :)
    type(storage_statistics_type) :: done
    integer :: n

    call model%create(element_real64, [nproma, levels, blocks], name='model')
    call model%get(space_host, access_write, values)
    do n = 1, blocks
      call model%get_block(space_host, n, block)
      block = real(n, real64)
    end do
    call check(all(shape(block) == [nproma, levels]), 'a block has the other dimensions')
    call check(all(abs(values(:, :, 4) - 4.0_real64) < 0.1_real64), 'blocks are parts of the field')
    call check(same_place(values(:, :, 2), 2), 'and share its memory')
    if (device_has_memory) then
      call model%get_block(space_device, 1, block, status)
      call check_code(status, error_no_access, 'a block without values')
    end if

    call model%acquire_blocks(space_device, access_read_write, 2, 3)
    call model%get_block(space_device, 3, block)
    call check(all(abs(block - 3.0_real64) < 0.1_real64), 'blocks are brought')
    block = 30.0_real64
    call model%release(space_device)
    done = model%get_statistics()
    call expect(done%to_device_bytes, 2 * nproma * levels, 'and no others')
    call expect(done%to_host_bytes, 2 * nproma * levels, 'and go back')
    call check(all(abs(values(:, :, 3) - 30.0_real64) < 0.1_real64), 'with what was written')
    call check(all(abs(values(:, :, 2) - 2.0_real64) < 0.1_real64), 'beside what was not')
    call check(all(abs(values(:, :, 4) - 4.0_real64) < 0.1_real64), 'and what was not brought')

    call model%acquire_blocks(space_device, access_read, 4, 3)
    call model%release(space_device)
    done = model%get_statistics()
    call expect(done%to_device_bytes, 2 * nproma * levels, 'no blocks move nothing')
    call model%acquire_blocks(space_device, access_read, 0, 1, status)
    call check_code(status, error_window, 'a block before the first')
    call model%acquire_blocks(space_device, access_read, 5, 6, status)
    call check_code(status, error_window, 'a block after the last')
    call model%release(space_device, status)
    call check_code(status, error_no_access, 'blocks that are refused are not held')
  end subroutine show_blocks

  !> Return whether a block of the model begins where the window shows it.
  function same_place(values, number)
    real(real64), target, intent(in) :: values(:, :)
    integer, intent(in) :: number
    logical :: same_place

    same_place = size(values) > 0 .and. nint(values(1, 1)) == number
  end function same_place

  subroutine show_what_is_refused()
    type(field_storage_type) :: wrong, none
    real(real32), pointer, contiguous :: singles(:, :)
    real(real64), pointer, contiguous :: doubles(:), block(:)

    call wrong%create(element_real64, [2, 2], name='wrong')
    call wrong%get(space_host, access_write, singles, status)
    call check_code(status, error_window, 'another element type')
    call check(.not. associated(singles), 'gives no pointer')
    call check(wrong%get_version() == 0, 'and is not counted as a write')
    call wrong%get(space_host, access_write, doubles, status)
    call check_code(status, error_window, 'another number of dimensions')
    call wrong%get(7_c_int + last_space, access_read, doubles, status)
    call check_code(status, error_window, 'of dimensions, also in an unknown space')
    call wrong%get_block(99_c_int, 1, block, status)
    call check_code(status, error_unknown_word, 'a block in an unknown space')
    call check(.not. associated(block), 'gives no pointer, too')
    call wrong%wrap(reshape_of_wrong(), status=status)
    call wrong%get(space_host, 5_c_int, doubles, status)
    call check_code(status, error_unknown_word, 'an unknown access')
    call wrong%get(99_c_int, access_read, doubles, status)
    call check_code(status, error_unknown_word, 'an unknown space')
    call none%get(space_host, access_read, doubles, status)
    call check_code(status, error_memory, 'a field without memory')
    call none%get_block(space_host, 1, doubles, status)
    call check_code(status, error_memory, 'a block of a field without memory')
    call none%acquire_blocks(space_host, access_read, 1, 1, status)
    call check_code(status, error_memory, 'blocks of a field without memory')
    call none%create(element_real64, [0, 3])
    call none%get_block(space_host, 1, doubles, status)
    call check_code(status, error_no_access, 'a block of a field without values')
    call none%touch(space_host)
    call none%get_block(space_host, 3, doubles, status)
    call check_code(status, no_error, 'an empty block')
    call check(size(doubles) == 0, 'has no elements')
  end subroutine show_what_is_refused

  !> Return memory for a field of one dimension.
  function reshape_of_wrong() result(values)
    real(real64), pointer, contiguous :: values(:)

    real(real64), target, save :: memory(4)

    memory = 0.0_real64
    values => memory
  end function reshape_of_wrong

  subroutine expect(bytes, elements, what)
    integer(c_int64_t), intent(in) :: bytes
    integer, intent(in) :: elements
    character(*), intent(in) :: what

    integer(c_int64_t) :: expected

    expected = merge(elements, 0, device_has_memory) * 8
    call check(bytes == expected, what)
  end subroutine expect

end program get
