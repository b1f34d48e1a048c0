!> Shows threads that use one field at a time: none is refused what it may have, no transfer is made
!> twice, no count is lost.
program threads

  use, intrinsic :: iso_c_binding, only: c_int
  use, intrinsic :: iso_fortran_env, only: real64
  use checks_mod, only: check, finish
  use field_storage_mod, only: field_storage_type
  use storage_statistics_mod, only: get_total_statistics, storage_statistics_type
  use storage_constants_mod

  implicit none

  integer, parameter :: rounds = 300, uses = 200
  type(field_storage_type) :: field
  type(storage_statistics_type) :: done
  real(real64), pointer, contiguous :: values(:)
  integer :: n, round, wrong
  integer(c_int) :: status

  call field%create(element_real64, [1000], halo_depth=1, name='field')
  wrong = 0
  do round = 1, rounds
    call field%acquire(space_host, access_write)
    call field%window(space_host, values)
    values = real(round, real64)
    call field%release(space_host)
    !$omp parallel do private(values, status) reduction(+:wrong) num_threads(8) schedule(static, 1)
    do n = 1, uses
      call field%acquire(1 + mod(n, 2), access_read, status)
      if (status /= no_error) wrong = wrong + 1
      call field%window(1 + mod(n, 2), values)
      if (abs(values(1 + n) - real(round, real64)) > 0.1_real64) wrong = wrong + 1
      call field%release(1 + mod(n, 2), status)
      if (status /= no_error) wrong = wrong + 1
    end do
    !$omp end parallel do
    call field%acquire(space_device, access_read_write, status)
    if (status /= no_error) wrong = wrong + 1
    call field%release(space_device)
  end do
  call check(wrong == 0, 'every thread reads what is current')
  done = field%get_statistics()
  call check(done%to_device == merge(rounds, 0, done%to_device > 0), 'one transfer for all threads')
  call check(field%get_version() == 2 * rounds, 'no write is lost')
  done = get_total_statistics()
  call check(done%to_device == merge(rounds, 0, done%to_device > 0), 'no transfer is lost')
  call finish()

end program threads
