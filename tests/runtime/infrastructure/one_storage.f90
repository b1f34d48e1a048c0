!> Shows that a field has one storage, be it asked for by the field or by the address of its values,
!> and that exchanges move what is exchanged: without an argument, that nobody gets a wrong value;
!> with one, what stops the program.
program one_storage

  use, intrinsic :: iso_c_binding, only: c_int64_t, c_size_t
  use checks_mod, only: check, deepest, finish_checks, new_mesh, space, start_checks
  use constants_mod, only: i_def, r_def
  use field_mod, only: field_proxy_type, field_type
  use fs_continuity_mod, only: W0, W2, W3
  use function_space_mod, only: function_space_type
  use halo_statistics_mod, only: get_halo_statistics, halo_statistics_type
  use joint_exchange_mod, only: exchange_fields, joint_exchange_type
  use mesh_mod, only: mesh_type
  use storage_device_mod, only: device_has_memory
  use storage_statistics_mod, only: get_total_statistics, storage_statistics_type
  use storage_constants_mod, only: access_read, access_read_write, access_write, space_device, &
                               space_host
  use wrapped_arrays_mod, only: bring_to_host, release_storage, set_program_tells, storage_of, &
                                wrapped_array_type

  implicit none

  !> What the C library counts of its memory.
  type, bind(c) :: memory_type
    integer(c_size_t) :: arena, free_blocks, fast_blocks, mapped_blocks, mapped, unused, in_fast, &
                         used, free, top
  end type memory_type

  interface
    !> Return the counts; `used` are the bytes that have been allocated and not freed.
    function count_memory() result(counts) bind(c, name='mallinfo2')
      import :: memory_type
      type(memory_type) :: counts
    end function count_memory
  end interface

  integer(i_def), parameter :: spaces(3) = [W0, W2, W3]
  type(mesh_type), pointer :: mesh
  character(32) :: asked
  integer(i_def) :: depth
  integer :: told, n

  asked = ''
  if (command_argument_count() > 0) call get_command_argument(1, asked)
  call start_checks()
  mesh => new_mesh('fine', .true., 12, 8)
  if (asked /= '') then
    call use_wrongly(trim(asked), space(mesh, W2), space(mesh, W0))
    stop
  end if
  call check_what_stands_for_fields(space(mesh, W2))
  do told = 0, 1
    call set_program_tells(told == 1)
    do n = 1, size(spaces)
      call check_both_ways(space(mesh, spaces(n)), told == 1)
      call check_lent(space(mesh, spaces(n)))
      call check_left_alone(space(mesh, spaces(n)))
    end do
  end do
  call check_memory(space(mesh, W2))
  do n = 1, size(spaces)
    do depth = 1, deepest
      call check_exchanges(space(mesh, spaces(n)), depth)
    end do
  end do
  call finish_checks()

contains

  !> Add to all values on the device, as a layer for fields with storages does.
  subroutine add_by_field(proxy, more)
    type(field_proxy_type), intent(inout) :: proxy
    real(r_def), intent(in) :: more

    real(r_def), pointer, contiguous :: values(:)

    call proxy%acquire(space_device, access_read_write, values)
    values = values + more
    call proxy%release(space_device)
    call proxy%set_halo_dirty()
  end subroutine add_by_field

  !> Add to all values on the device, as a layer for a registry does.
  subroutine add_by_address(proxy, more)
    type(field_proxy_type), intent(inout) :: proxy
    real(r_def), intent(in) :: more

    type(wrapped_array_type), pointer :: storage
    real(r_def), pointer, contiguous :: values(:)

    storage => storage_of(proxy%data)
    call storage%acquire(space_device, access_read_write, values)
    values = values + more
    call storage%release(space_device)
    call proxy%set_dirty()
  end subroutine add_by_address

  !> Layers of both kinds use a field in turn; an exchange happens within one that the layer for a
  !> registry begins around it.
  subroutine check_both_ways(fs, tells)
    type(function_space_type), pointer, intent(in) :: fs
    logical, intent(in) :: tells

    type(field_type) :: field
    type(field_proxy_type) :: proxy
    type(wrapped_array_type), pointer :: storage

    call field%initialise(fs, halo_depth=deepest)
    proxy = field%get_proxy()
    call add_by_field(proxy, 1.0_r_def)
    call add_by_address(proxy, 2.0_r_def)
    if (tells) call bring_to_host(storage_of(proxy%data))
    call check(are(proxy%data, 3.0_r_def), 'what both have added')
    call add_by_address(proxy, 4.0_r_def)
    call add_by_field(proxy, 8.0_r_def)
    storage => storage_of(proxy%data)
    call storage%begin_exchange()
    call proxy%halo_exchange(2)
    call storage%end_exchange()
    call check(.not. proxy%is_dirty(2), 'the halo is clean to the depth of the field''s exchange')
    call add_by_address(proxy, 16.0_r_def)
    call check(proxy%is_dirty(1), 'who writes marks the halo')
    call release_storage(storage_of(proxy%data))
    call proxy%bring_to_host()
    call check(are(proxy%data, 31.0_r_def), 'the storage of a field goes with the field')
    proxy%data(1) = 7.0_r_def
    call proxy%set_dirty()
    call add_by_field(proxy, 1.0_r_def)
    call proxy%bring_to_host()
    call check(nint(proxy%data(1)) == 8, 'who says so may write one value')
    call overwrite_twice(proxy)
  end subroutine check_both_ways

  !> Overwrite all values under two names, only the second of which says that there may be another.
  subroutine overwrite_twice(proxy)
    type(field_proxy_type), intent(inout) :: proxy

    real(r_def), pointer, contiguous :: values(:)

    call proxy%acquire(space_device, access_write, values)
    call proxy%acquire(space_device, access_write, values, may_share=.true.)
    values = 9.0_r_def
    call proxy%release(space_device)
    call proxy%release(space_device)
    call proxy%set_halo_dirty()
    call proxy%bring_to_host()
    call check(are(proxy%data, 9.0_r_def), 'what is overwritten under two names')
  end subroutine overwrite_twice

  !> Say whether all values are so.
  pure function are(values, expected)
    real(r_def), intent(in) :: values(:), expected
    logical :: are

    are = all(nint(values) == nint(expected))
  end function are

  !> Exchanges of what a device has move no more than what is sent and received.
  subroutine check_exchanges(fs, to_depth)
    type(function_space_type), pointer, intent(in) :: fs
    integer(i_def), intent(in) :: to_depth

    type(field_type) :: fields(2)
    type(field_proxy_type) :: proxies(2)
    integer :: way, n

    do n = 1, 2
      call fields(n)%initialise(fs, halo_depth=deepest)
      proxies(n) = fields(n)%get_proxy()
    end do
    do way = 1, 7
      do n = 1, 2
        call add_by_field(proxies(n), 1.0_r_def)
      end do
      call count_moved(proxies, to_depth, way)
      do n = 1, merge(2, 1, any(way == [2, 7]))
        if (way < 6) call proxies(n)%bring_to_host()
        call check(are(proxies(n)%data, real(way, r_def)), 'what was exchanged')
        call check(.not. proxies(n)%is_dirty(to_depth), 'the halo is clean')
      end do
    end do
  end subroutine check_exchanges

  !> Exchange one field, several, or one in two steps, and count what is moved unless the host looks
  !> at all of it between these: after an access or a prefetch, or without a word.
  subroutine count_moved(proxies, to_depth, way)
    type(field_proxy_type), intent(inout) :: proxies(2)
    integer(i_def), intent(in) :: to_depth
    integer, intent(in) :: way

    type(storage_statistics_type) :: before, after
    type(halo_statistics_type) :: sent_before, sent
    type(joint_exchange_type) :: exchange
    integer(c_int64_t) :: halo
    real(r_def), pointer, contiguous :: values(:)

    before = get_total_statistics()
    sent_before = get_halo_statistics()
    halo = proxies(1)%vspace%get_last_dof_halo(to_depth) - proxies(1)%vspace%get_last_dof_owned()
    select case (way)
    case (1)
      call proxies(1)%halo_exchange(to_depth)
    case (2)
      call exchange_fields(proxies, to_depth)
      halo = 2 * halo
    case (3)
      call proxies(1)%halo_exchange_start(to_depth, by_parts=.true.)
      call proxies(1)%halo_exchange_finish(to_depth)
    case (4, 5)
      call proxies(1)%halo_exchange_start(to_depth, by_parts=.true.)
      if (way == 5) call proxies(1)%prefetch(space_host)
      call proxies(1)%acquire(space_host, access_read, values)
      call check(are(values(:proxies(1)%vspace%get_last_dof_owned()), real(way, r_def)), &
                 'the host finds what its rank owns while messages are under way')
      call proxies(1)%release(space_host)
      call proxies(1)%halo_exchange_finish(to_depth)
    case (6)
      call proxies(1)%halo_exchange_start(to_depth)
      call check(are(proxies(1)%data, 6.0_r_def), 'data are there while messages are under way')
      call proxies(1)%prefetch(space_host)
      call proxies(1)%acquire(space_host, access_read, values)
      call check(are(values, 6.0_r_def), 'annexed and clean values are there, too')
      call proxies(1)%release(space_host)
      call proxies(1)%halo_exchange_finish(to_depth)
    case (7)
      call exchange%start(proxies, [to_depth, to_depth])
      call check(are(proxies(2)%data, 7.0_r_def), 'data are there while several are exchanged')
      call exchange%finish()
    end select
    call proxies(1)%acquire(space_device, access_read, values)
    call check(are(values, real(way, r_def)), 'the device has what was exchanged')
    call proxies(1)%release(space_device)
    after = get_total_statistics()
    sent = get_halo_statistics()
    if (.not. device_has_memory .or. way > 3) return
    call check(after%to_host_bytes - before%to_host_bytes == sent%bytes - sent_before%bytes, &
               'what is sent comes from the device, and nothing else')
    call check(after%to_device_bytes - before%to_device_bytes == 8 * halo, &
               'what is received goes to the device, and nothing else')
  end subroutine count_moved

  !> One array of one value stands for fields that layers get and nobody uses.
  subroutine check_what_stands_for_fields(fs)
    type(function_space_type), pointer, intent(in) :: fs

    type(field_type) :: fields(2)
    type(field_proxy_type) :: proxies(2)
    real(r_def), target :: nothing(1)
    real(r_def), pointer, contiguous :: values(:), others(:)

    nothing = 1.0_r_def
    call fields(1)%initialise(fs, override_data=nothing)
    call fields(2)%initialise(fs, override_data=nothing)
    proxies = [fields(1)%get_proxy(), fields(2)%get_proxy()]
    call proxies(1)%acquire(space_device, access_read_write, values)
    call proxies(2)%acquire(space_device, access_read_write, others)
    call proxies(2)%release(space_device)
    call proxies(1)%release(space_device)
    call proxies(1)%set_dirty()
    call proxies(2)%acquire(space_host, access_read, values)
    call proxies(2)%release(space_host)
    call check(size(values) == 1 .and. size(others) == 1, 'there is one value')
    call fields(1)%field_final()
    call fields(2)%field_final()
  end subroutine check_what_stands_for_fields

  !> Fields with one memory are one: what one of them has written on a device the others read
  !> there, an exchange of one is an exchange of all, and it does not matter which ends first.
  subroutine check_lent(fs)
    type(function_space_type), pointer, intent(in) :: fs

    type(field_type), target :: fields(3)
    type(field_proxy_type) :: proxies(3)
    type(storage_statistics_type) :: before, after
    real(r_def), allocatable, target :: memory(:)
    integer :: n

    allocate (memory(fs%get_undf()), source=1.0_r_def)
    do n = 1, 3
      call fields(n)%initialise(fs, override_data=memory, halo_depth=deepest)
      proxies(n) = fields(n)%get_proxy()
    end do
    call add_by_field(proxies(2), 1.0_r_def)
    before = get_total_statistics()
    call add_by_field(proxies(1), 2.0_r_def)
    call add_by_field(proxies(3), 4.0_r_def)
    after = get_total_statistics()
    call check(after%to_device == before%to_device .and. after%to_host == before%to_host, &
               'what has one memory moves once')
    call proxies(2)%bring_to_host()
    call check(are(memory, 8.0_r_def), 'what all have written')
    call proxies(1)%halo_exchange(deepest)
    call check(.not. proxies(3)%is_dirty(deepest), 'one exchange is for all')
    call add_by_address(proxies(2), 8.0_r_def)
    call check(proxies(3)%is_dirty(1), 'who writes marks the halo of all')
    call proxies(3)%bring_to_host()
    memory(1) = 20.0_r_def
    call proxies(3)%set_dirty()
    call fields(1)%field_final()
    call check(are(memory(2:), 16.0_r_def), 'the first has left its values')
    call check(proxies(2)%is_dirty(1), 'those after it know nothing of the halo')
    call add_by_field(proxies(3), 1.0_r_def)
    call add_by_field(proxies(2), 1.0_r_def)
    call fields(2)%field_final()
    call fields(3)%field_final()
    call check(are(memory(2:), 18.0_r_def) .and. nint(memory(1)) == 22, 'all have left theirs')
  end subroutine check_lent

  !> When the first of the fields with one memory has ended, another one of them is what is found
  !> by the address, at once; one that has ended before is not.
  subroutine check_left_alone(fs)
    type(function_space_type), pointer, intent(in) :: fs

    type(field_type), target :: fields(4)
    type(field_proxy_type) :: proxies(4)
    type(wrapped_array_type), pointer :: storage
    real(r_def), allocatable, target :: memory(:)
    integer :: n

    allocate (memory(fs%get_undf()), source=1.0_r_def)
    do n = 1, 4
      call fields(n)%initialise(fs, override_data=memory, halo_depth=deepest)
      proxies(n) = fields(n)%get_proxy()
    end do
    call add_by_field(proxies(1), 1.0_r_def)
    call fields(3)%field_final()
    call fields(1)%field_final()
    storage => storage_of(proxies(2)%data)
    call storage%begin_exchange()
    call proxies(2)%halo_exchange(1)
    call storage%end_exchange()
    call check(.not. proxies(4)%is_dirty(1), 'an exchange within another one of the heir')
    call fields(2)%field_final()
    call add_by_address(proxies(4), 2.0_r_def)
    call proxies(4)%bring_to_host()
    call check(are(memory, 4.0_r_def), 'what is written by the address of the last')
    call fields(1)%initialise(fs, override_data=memory, halo_depth=deepest)
    proxies(1) = fields(1)%get_proxy()
    call add_by_field(proxies(4), 4.0_r_def)
    call fields(4)%field_final()
    call add_by_address(proxies(1), 8.0_r_def)
    call fields(1)%field_final()
    call check(are(memory, 16.0_r_def), 'who ended may come back, and be the last')
    do n = 1, 2
      call fields(n)%initialise(fs, halo_depth=deepest)
      proxies(n) = fields(n)%get_proxy()
    end do
    call fields(3)%initialise(fs, override_data=proxies(1)%data, halo_depth=deepest)
    call fields(1)%field_final()
    call fields(3)%field_final()
    call add_by_field(proxies(2), 1.0_r_def)
    call proxies(2)%bring_to_host()
    call check(are(proxies(2)%data, 1.0_r_def), 'who lends its own memory may end first')
  end subroutine check_left_alone

  !> Fields that end, and storages that are released, give all memory back.
  subroutine check_memory(fs)
    type(function_space_type), pointer, intent(in) :: fs

    type(memory_type) :: before, after
    type(field_type), target :: fields(3)
    type(field_proxy_type) :: proxy
    type(wrapped_array_type), pointer :: storage
    real(r_def), allocatable, target :: memory(:), alone(:)
    real(r_def), pointer, contiguous :: values(:)
    integer :: round, n

    allocate (memory(fs%get_undf()), alone(7), source=0.0_r_def)
    ! The C library keeps a few blocks of each size that have been freed, and counts them as used.
    do round = 1, 40
      if (round == 20) before = count_memory()
      do n = 1, 2
        call fields(n)%initialise(fs, 'lent', memory, halo_depth=deepest)
      end do
      call fields(3)%initialise(fs, 'own', halo_depth=deepest)
      do n = 1, 3
        proxy = fields(n)%get_proxy()
        call add_by_field(proxy, 1.0_r_def)
        call fields(n)%field_final()
      end do
      storage => storage_of(alone)
      call storage%acquire(space_device, access_read, values)
      call storage%release(space_device)
      call release_storage(storage)
    end do
    after = count_memory()
    call check(after%used == before%used, 'all memory is given back')
    call check(are(memory, 80.0_r_def), 'what many fields have written')
  end subroutine check_memory

  !> Do something that would give a wrong answer.
  subroutine use_wrongly(what, fs, other_fs)
    character(*), intent(in) :: what
    type(function_space_type), pointer, intent(in) :: fs, other_fs

    type(field_type), target :: field, other, another
    type(field_proxy_type) :: proxy, other_proxy
    real(r_def), allocatable, target :: memory(:)
    real(r_def), pointer, contiguous :: values(:)

    call field%initialise(fs)
    proxy = field%get_proxy()
    call add_by_field(proxy, 1.0_r_def)
    select case (what)
    case ('a part, unsaid')
      proxy%data(2) = 5.0_r_def
      call add_by_field(proxy, 1.0_r_def)
    case ('a value of both sides, unsaid')
      call proxy%bring_to_host()
      proxy%data(2) = 5.0_r_def
      call proxy%acquire(space_device, access_read, values)
    case ('read while it is overwritten')
      call proxy%acquire(space_device, access_write, values)
      call proxy%acquire(space_device, access_read_write, values, may_share=.true.)
    case ('freed while it is held')
      call proxy%acquire(space_host, access_write, values)
      call field%field_final()
    case ('lent elsewhere by a device')
      call other%initialise(other_fs, override_data=proxy%data)
    case ('lent to another space')
      call proxy%bring_to_host()
      call other%initialise(other_fs, override_data=proxy%data)
    case ('lent with another halo')
      call proxy%bring_to_host()
      call other%initialise(fs, override_data=proxy%data, halo_depth=2)
    case ('lent a longer part')
      allocate (memory(fs%get_undf() + 100))
      call other%initialise(fs, override_data=memory(:fs%get_undf()))
      call another%initialise(fs, 'longer', memory)
    case ('lent elsewhere behind the first')
      allocate (memory(fs%get_undf()))
      call field%initialise(fs, override_data=memory)
      call other%initialise(fs, override_data=memory)
      call field%field_final()
      call another%initialise(other_fs, 'another', memory)
    case ('lent and written by both')
      call other%initialise(fs, override_data=proxy%data)
      other_proxy = other%get_proxy()
      call proxy%acquire(space_device, access_write, values)
      call other_proxy%acquire(space_host, access_read, values)
    case ('lent and freed while it is held')
      call other%initialise(fs, override_data=proxy%data)
      other_proxy = other%get_proxy()
      call other_proxy%acquire(space_device, access_write, values)
      call field%field_final()
    case default
      print '(2a)', 'nobody knows: ', what
    end select
  end subroutine use_wrongly

end program one_storage
