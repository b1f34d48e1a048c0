!> Asks for more memory than any machine has: what finds none changes nothing.
!>
!> On the device it is asked for by a storage whose memory on the host belongs to somebody else,
!> and is said to be larger than it is: nothing on the host is ever taken or touched.
program exhausted

  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_loc
  use, intrinsic :: iso_fortran_env, only: real64
  use checks_mod, only: check, check_code, finish
  use coherent_storage_mod, only: storage_options_type
  use field_storage_mod, only: field_storage_type
  use storage_errors_mod, only: last_error
  use storage_constants_mod

  implicit none

  integer(c_int64_t), parameter :: too_many = 2_c_int64_t**58
  type(field_storage_type) :: field
  type(storage_options_type) :: options
  real(real64), target :: one(1)
  integer(c_int) :: status

  call field%describe(element_real64, [too_many], options, status)
  call check_refused('the host')

  one = 1.0_real64
  options%name = 'field'
  options%host = c_loc(one)
  options%has_values = .true.
  options%halo_depth = 1
  call field%describe(element_real64, [too_many], options, status)
  call check_code(status, no_error, 'memory of somebody else')
  call field%acquire(space_device, access_read, status)
  call check_refused('the device')
  call field%acquire(space_device, access_write, status)
  call check_refused('the device')
  call field%touch(space_device, status)
  call check_refused('the device')
  call field%begin_exchange(space_device, 1_c_int, status)
  call check_refused('the device')
  call field%assume_valid([space_device], status)
  call check_refused('the device')
  call check(.not. field%has_device_memory(), 'there is no memory on the device')
  call check(field%is_valid(space_host), 'the host keeps its values')
  call field%release(space_device, status)
  call check_code(status, error_no_access, 'no access has begun')
  call field%acquire(space_host, access_read_write, status)
  call check_code(status, no_error, 'the host can be used')
  call field%release(space_host)
  call finish()

contains

  !> Check that the last call found no memory in a space.
  subroutine check_refused(space)
    character(*), intent(in) :: space

    call check_code(status, error_memory, 'more memory than there is at ' // space)
    call check(index(last_error(), 'cannot be allocated on ' // space) > 0, last_error())
  end subroutine check_refused

end program exhausted
