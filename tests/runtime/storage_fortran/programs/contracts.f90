!> Shows what happens where directives and a storage meet at one array, on a device that has memory
!> of its own: `enter` and `leave` do what `enter data` and `exit data` do. Without a word nothing is
!> wrong; a word says what goes wrong.
program contracts

  use, intrinsic :: iso_c_binding, only: c_int64_t, c_loc, c_ptr, c_size_t
  use, intrinsic :: iso_fortran_env, only: int32, real64
  use checks_mod, only: check, finish
  use openacc_double_mod, only: create, delete
  use storage_tables_mod, only: acquire_table, forget_table, release_table
  use storage_constants_mod
  use wrapped_arrays_mod, only: bring_to_host, release_storage, set_program_tells, storage_of, &
                                wrapped_array_type, wrote_on_host

  implicit none

  integer(c_size_t), parameter :: bytes = 160
  real(real64), target, save :: values(20) = 1.0_real64
  integer(int32), target, save :: map(4, 10) = 7
  real(real64), pointer, contiguous :: window(:)
  type(wrapped_array_type), pointer :: array
  character(20) :: what

  call set_program_tells(.true.)
  call get_command_argument(1, what)
  array => storage_of(values)
  select case (what)
  case ('acquired there')
    call enter()
    call array%acquire(space_device, access_read, window)
  case ('acquired here')
    call enter()
    call array%acquire(space_host, access_read, window)
  case ('acquired before')
    call set_there(2.0_real64)
    call enter()
    call array%acquire(space_host, access_read, window)
  case ('written before')
    call set_there(2.0_real64)
    call enter()
    call array%acquire(space_device, access_read_write, window)
  case ('looked at')
    call set_there(2.0_real64)
    call enter()
    call bring_to_host(storage_of(values))
  case ('told')
    call set_there(2.0_real64)
    call bring_to_host(storage_of(values))
    call enter()
    values = 3.0_real64
    call wrote_on_host(storage_of(values))
  case ('exchanged')
    call set_there(2.0_real64)
    call enter()
    call array%begin_exchange()
  case ('brought')
    call set_there(2.0_real64)
    call bring_to_host(storage_of(values))
    call enter()
    call array%prefetch(space_device)
  case default
    call use_directives_alone()
    call take_turns()
    call read_tables()
    call finish()
  end select

contains

  !> Let the device have the values, by a directive.
  subroutine enter()
    type(c_ptr) :: there

    there = create(c_loc(values), bytes)
  end subroutine enter

  !> Let the device have them no more.
  subroutine leave()
    call delete(c_loc(values), bytes)
  end subroutine leave

  !> Let the device alone have values.
  subroutine set_there(value)
    real(real64), intent(in) :: value

    call array%acquire(space_device, access_write, window)
    window = value
    call array%release(space_device)
  end subroutine set_there

  !> What a program with directives alone does with an array that might have a storage.
  subroutine use_directives_alone()
    call enter()
    call bring_to_host(storage_of(values))
    call array%begin_exchange()
    call array%end_exchange(1_c_int64_t, 8_c_int64_t)
    call wrote_on_host(storage_of(values))
    call leave()
  end subroutine use_directives_alone

  !> Nobody is in the way of somebody who has left, and what a storage has alone is not lost.
  subroutine take_turns()
    type(wrapped_array_type), pointer :: other

    values = 4.0_real64
    call wrote_on_host(storage_of(values))
    call array%acquire(space_device, access_read_write, window)
    call array%release(space_device)
    call enter()
    call leave()
    call bring_to_host(storage_of(values))
    call check(all(abs(values - 4.0_real64) < 0.1_real64), 'what the storage had is there')
    values = 5.0_real64
    call wrote_on_host(storage_of(values))
    call array%prefetch(space_device)
    call enter()
    call leave()
    call array%acquire(space_device, access_read_write, window)
    call array%release(space_device)
    call array%acquire(space_host, access_read, window)
    call check(all(abs(window - 5.0_real64) < 0.1_real64), 'what was brought early is there')
    call array%release(space_host)
    call array%begin_exchange()
    call array%end_exchange(1_c_int64_t, 8_c_int64_t)
    call release_storage(storage_of(values))
    call enter()
    call leave()
    other => storage_of(values)
    call other%acquire(space_device, access_read, window)
    call other%release(space_device)
    call release_storage(storage_of(values))
  end subroutine take_turns

  !> A table is read by both, whoever comes first.
  subroutine read_tables()
    integer(int32), pointer, contiguous :: there(:, :)
    type(c_ptr) :: entered

    entered = create(c_loc(map), bytes)
    call acquire_table(map, space_device, there)
    call release_table(map, space_device)
    call forget_table(map)
    call delete(c_loc(map), bytes)
    call acquire_table(map, space_device, there)
    call release_table(map, space_device)
    entered = create(c_loc(map), bytes)
    call acquire_table(map, space_device, there)
    call release_table(map, space_device)
  end subroutine read_tables

end program contracts
