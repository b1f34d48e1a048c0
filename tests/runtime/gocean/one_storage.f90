!> Shows that a field has one storage, be it asked for by the field or by the address of its values:
!> without an argument, that nobody gets a wrong value; with one, what stops the program.
program one_storage

  use field_mod, only: free_field, go_t_points, r2d_field
  use gocean_mod, only: gocean_finalise, gocean_initialise, gocean_stop
  use grid_mod, only: go_arakawa_c, go_bc_none, go_offset_ne, grid_init, grid_type
  use field_storage_mod, only: field_storage_type
  use kind_params_mod, only: go_wp
  use storage_registry_mod, only: fetch_constant, new_stamp
  use storage_constants_mod, only: access_read, access_read_write, access_write, space_device, &
      space_host
  use wrapped_arrays_mod, only: bring_to_host, release_storage, set_program_tells, storage_of, &
      wrapped_array_type, wrote_on_host

  implicit none

  type(grid_type), target :: grid
  type(r2d_field), target :: field
  character(32) :: asked
  integer :: told

  asked = ''
  if (command_argument_count() > 0) call get_command_argument(1, asked)
  call gocean_initialise()
  grid = grid_type(go_arakawa_c, [go_bc_none, go_bc_none, go_bc_none], go_offset_ne)
  call grid%decompose(9, 7, halo_width=2)
  call grid_init(grid, 1.0_go_wp, 1.0_go_wp)
  field = r2d_field(grid, go_t_points)
  if (asked /= '') then
    call use_wrongly(trim(asked))
    stop
  end if
  call check_what_is_left()
  do told = 0, 1
    call set_program_tells(told == 1)
    call check_both_ways(r2d_field(grid, go_t_points), told == 1)
    call check_exchanges(r2d_field(grid, go_t_points))
    call check_what_is_overwritten(r2d_field(grid, go_t_points))
    call check_halos(r2d_field(grid, go_t_points))
    call check_readers()
    call check_another_field()
  end do
  print '(a)', 'a field has one storage'
  call gocean_finalise()

contains

  !> Stop unless something holds.
  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what

    if (.not. holds) call gocean_stop('Not so: ' // what)
  end subroutine check

  !> Say whether all values are so.
  pure function are(values, expected)
    real(go_wp), intent(in) :: values(:, :), expected
    logical :: are

    are = all(abs(values - expected) < 1.0e-9_go_wp)
  end function are

  !> Add to all values on the device, as a layer for fields with storages does.
  subroutine add_by_field(one, more)
    type(r2d_field), target, intent(in) :: one
    real(go_wp), intent(in) :: more
    real(go_wp), pointer, contiguous :: values(:, :)

    call one%acquire(space_device, access_read_write, values)
    values = values + more
    call one%release(space_device)
  end subroutine add_by_field

  !> Add to all values on the device, as a layer for a registry does.
  subroutine add_by_address(one, more)
    type(r2d_field), target, intent(in) :: one
    real(go_wp), intent(in) :: more
    type(wrapped_array_type), pointer :: storage
    real(go_wp), pointer, contiguous :: values(:, :)

    storage => storage_of(one%data)
    call storage%acquire(space_device, access_read_write, values)
    values = values + more
    call storage%release(space_device)
  end subroutine add_by_address

  !> Layers of both kinds use a field in turn, whichever is the first.
  subroutine check_both_ways(one, tells)
    type(r2d_field), target, intent(in) :: one
    logical, intent(in) :: tells
    type(r2d_field), target :: mine
    integer :: first

    do first = 1, 2
      mine = one
      call mine%halo_exchange(2)
      if (first == 1) call add_by_field(mine, 1.0_go_wp)
      call add_by_address(mine, 2.0_go_wp)
      call check(mine%is_dirty(1), 'who writes by the address says nothing of the halo')
      if (tells) call bring_to_host(storage_of(mine%data))
      call check(are(mine%data, merge(3.0_go_wp, 2.0_go_wp, first == 1)), 'what both have added')
      call add_by_field(mine, 4.0_go_wp)
      call check(mine%is_dirty(1), 'the halo is dirty')
      call mine%set_clean(2)
      call check(.not. mine%is_dirty(2), 'the halo is clean')
      call add_by_address(mine, 8.0_go_wp)
      call check(mine%is_dirty(1), 'who writes by the address makes the halo dirty')
      call mine%set_dirty()
      call check(are(mine%get_data(), merge(15.0_go_wp, 14.0_go_wp, first == 1)), &
          'a mark of the halo is no word about values of the host')
      call release_storage(storage_of(mine%data))
      call check(are(mine%get_data(), merge(15.0_go_wp, 14.0_go_wp, first == 1)), &
          'the storage of a field goes with the field')
      call free_field(mine)
    end do
  end subroutine check_both_ways

  !> A field exchanges its halo within an exchange that a layer for a registry has begun around it.
  subroutine check_exchanges(one)
    type(r2d_field), target, intent(in) :: one
    type(r2d_field), target :: mine
    type(wrapped_array_type), pointer :: storage
    real(go_wp), pointer, contiguous :: values(:, :)
    integer :: first, inner(4)

    do first = 1, 2
      mine = one
      if (first == 1) call add_by_field(mine, 1.0_go_wp)
      if (first == 2) call add_by_address(mine, 1.0_go_wp)
      associate (own => mine%grid%subdomain%internal)
        inner = [own%xstart, own%xstop, own%ystart, own%ystop]
      end associate
      storage => storage_of(mine%data)
      call storage%begin_exchange(inner, 2)
      call mine%halo_exchange(2)
      mine%data(1, 1) = 5.0_go_wp
      call storage%end_exchange()
      if (first == 1) call check(.not. mine%is_dirty(2), 'an exchange cleans the halo')
      storage => storage_of(mine%data)
      call storage%acquire(space_device, access_read, values)
      call check(abs(values(1, 1) - 5.0_go_wp) < 1.0e-9_go_wp, 'what was received')
      call check(are(values(2:, 2:), 1.0_go_wp), 'what was not')
      call storage%release(space_device)
      call mine%halo_exchange(2)
      values => mine%get_data()
      call check(abs(values(1, 1) - 5.0_go_wp) < 1.0e-9_go_wp, 'an exchange alone')
      call free_field(mine)
    end do
  end subroutine check_exchanges

  !> What the host has overwritten altogether is new, also if nobody says so.
  subroutine check_what_is_overwritten(one)
    type(r2d_field), target, intent(in) :: one
    type(r2d_field), target :: mine
    real(go_wp), pointer, contiguous :: values(:, :)

    mine = one
    call add_by_field(mine, 1.0_go_wp)
    mine%data = 7.0_go_wp
    call mine%acquire(space_device, access_read, values)
    call check(are(values, 7.0_go_wp), 'all values of the host are new')
    call mine%release(space_device)
    mine%data(2, 2) = 8.0_go_wp
    call mine%set_dirty()
    call mine%acquire(space_device, access_read, values)
    call check(abs(values(2, 2) - 8.0_go_wp) < 1.0e-9_go_wp, 'who says so may write one value')
    call mine%release(space_device)
    call free_field(mine)
  end subroutine check_what_is_overwritten

  !> Fields that end without a word leave their memory to others, of another shape or not.
  subroutine check_another_field()
    type(r2d_field), target :: mine
    real(go_wp), pointer, contiguous :: values(:, :)
    integer :: columns

    do columns = 7, 3, -2
      mine = r2d_field(grid, go_t_points)
      call add_by_field(mine, 1.0_go_wp)
      deallocate (mine%data)
      allocate (mine%data(grid%nx, columns), source=3.0_go_wp)
      call mine%acquire(space_device, access_read, values)
      call check(all(shape(values) == [grid%nx, columns]), 'another shape')
      call check(are(values, 3.0_go_wp), 'another field')
      call mine%release(space_device)
    end do
    call free_field(mine)
  end subroutine check_another_field

  !> The halo of what nobody has acquired is dirty behind who writes it by its address, whoever
  !> acquires it then, and until an exchange.
  subroutine check_halos(one)
    type(r2d_field), target, intent(in) :: one
    type(r2d_field), target :: mine
    type(wrapped_array_type), pointer :: storage
    real(go_wp), pointer, contiguous :: values(:, :)
    integer :: acquired

    do acquired = 0, 1
      mine = one
      call mine%halo_exchange(2)
      storage => storage_of(mine%data)
      call storage%acquire(space_device, access_read, values)
      call storage%release(space_device)
      call check(.not. mine%is_dirty(2), 'who reads by the address leaves the halo')
      call add_by_address(mine, 1.0_go_wp)
      if (acquired == 1) then
        call mine%acquire(space_device, access_read, values)
        call mine%release(space_device)
      end if
      call check(mine%is_dirty(1), 'who writes by the address does not')
      call mine%halo_exchange(1)
      call check(.not. mine%is_dirty(1), 'an exchange cleans the halo')
      call check(mine%is_dirty(2), 'to its depth')
      call mine%halo_exchange(2)
      call mine%acquire(space_device, access_read, values)
      call check(.not. mine%is_dirty(2), 'and so it is for who acquires it then')
      call mine%release(space_device)
      call free_field(mine)
    end do
  end subroutine check_halos

  !> Arrays that end without a word leave nothing to fields that are made in their memory.
  subroutine check_what_is_left()
    type(r2d_field), target :: mine(20)
    type(r2d_field), allocatable, target :: left(:)
    integer :: n

    allocate (left(40))
    do n = 1, size(left)
      allocate (left(n)%data(grid%nx, grid%ny), source=1.0_go_wp)
      call add_by_address(left(n), 1.0_go_wp)
    end do
    deallocate (left)
    do n = 1, size(mine)
      mine(n) = r2d_field(grid, go_t_points)
      call mine(n)%set_clean(2)
      call check(.not. mine(n)%is_dirty(2), 'a halo is that of the field')
      call check(are(mine(n)%get_data(), 0.0_go_wp), 'values are those of the field')
      call add_by_field(mine(n), 2.0_go_wp)
      call check(are(mine(n)%get_data(), 2.0_go_wp), 'values are those of the field, and more')
    end do
    do n = 1, size(mine)
      call free_field(mine(n))
    end do
  end subroutine check_what_is_left

  !> What a layer for fields with storages reads only may be changed behind it, and written.
  subroutine check_readers()
    type(r2d_field), target :: table
    type(field_storage_type), pointer :: read_only
    integer :: turn

    allocate (table%data(5, 5))
    do turn = 1, 2
      read_only => fetch_constant(table%data, new_stamp())
      call read_only%acquire(space_device, access_read)
      call read_only%release(space_device)
      table%data = 2.0_go_wp
      call add_by_address(table, 1.0_go_wp)
      call bring_to_host(storage_of(table%data))
      call check(are(table%data, 3.0_go_wp), 'what was read only is as the host has it')
    end do
    call release_storage(storage_of(table%data))
  end subroutine check_readers

  !> Do something that would give a wrong answer.
  subroutine use_wrongly(what)
    character(*), intent(in) :: what
    type(wrapped_array_type), pointer :: storage
    real(go_wp), pointer, contiguous :: values(:, :)

    if (index(what, 'first') > 0) then
      call set_program_tells(.true.)
      storage => storage_of(field%data(:, merge(2, 1, what == 'the middle first'):4))
      call storage%acquire(space_device, access_write, values)
      values = 5.0_go_wp
      call storage%release(space_device)
      if (what == 'a part first, and a look') values => field%get_data()
    end if
    call add_by_field(field, 1.0_go_wp)
    select case (what)
    case ('a part, said')
      field%data(2, 2) = 5.0_go_wp
      call field%set_dirty()
    case ('a part, unsaid')
      field%data(2, 2) = 5.0_go_wp
      call add_by_field(field, 1.0_go_wp)
    case ('a value of both sides, unsaid')
      call check(are(field%get_data(), 1.0_go_wp), 'a value')
      field%data(2, 2) = 5.0_go_wp
      call field%acquire(space_device, access_read, values)
    case ('freed while it is held')
      call field%acquire(space_host, access_read, values)
      call free_field(field)
    case ('a slice of what a device has')
      storage => storage_of(field%data(:, 2:4))
    case ('a slice')
      call check(are(field%get_data(), 1.0_go_wp), 'a value')
      storage => storage_of(field%data(:, 2:4))
    case ('a slice of what is held')
      call field%acquire(space_host, access_write, values)
      storage => storage_of(field%data(:, 2:4))
    end select
  end subroutine use_wrongly

end program one_storage
