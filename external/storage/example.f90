!> Example: heat diffusion on a ring of points, computed on the device and inspected on the host.
module ring_mod

  use, intrinsic :: iso_c_binding, only: c_int64_t
  use, intrinsic :: iso_fortran_env, only: real64
  use field_storage_mod, only: field_storage_type
  use storage_constants_mod, only: access_read, access_read_write, access_write, element_real64, &
                               space_device, space_host

  implicit none
  private

  public :: make_heat, spread_heat, total_heat

contains

  !> Create a field of `points` points with a halo of one point at both ends and one hot point, the
  !> first.
  subroutine make_heat(heat, points, name)
    type(field_storage_type), intent(inout) :: heat
    integer, intent(in) :: points
    character(*), intent(in) :: name

    real(real64), pointer, contiguous :: values(:)

    call heat%create(element_real64, [points + 2], halo_depth=1, name=name)
    call heat%acquire(space_host, access_write)
    call heat%window(space_host, values)
    values = 0.0_real64
    values(2) = 100.0_real64
    call heat%release(space_host)
  end subroutine make_heat

  !> Compute `next` from `last` on the device.
  subroutine spread_heat(last, next)
    type(field_storage_type), intent(inout) :: last
    type(field_storage_type), intent(inout) :: next

    real(real64), pointer, contiguous :: from(:), to(:)
    integer :: i

    if (last%is_dirty(1)) call exchange_ends(last)
    call last%acquire(space_device, access_read)
    call next%acquire(space_device, access_read_write)
    call last%window(space_device, from)
    call next%window(space_device, to)
    !$acc parallel loop present(from, to)
    do i = 2, size(from) - 1
      to(i) = from(i) + 0.25_real64 * (from(i - 1) - 2.0_real64 * from(i) + from(i + 1))
    end do
    !$acc end parallel loop
    call next%release(space_device)
    call last%release(space_device)
  end subroutine spread_heat

  !> Exchange the halo; on one rank, the neighbour of each end is the other end.
  subroutine exchange_ends(heat)
    type(field_storage_type), intent(inout) :: heat

    real(real64), pointer, contiguous :: values(:)
    integer :: n

    call heat%begin_exchange(space_device, 1)
    call heat%window(space_device, values)
    n = size(values)
    !$acc serial present(values)
    values(1) = values(n - 1)
    values(n) = values(2)
    !$acc end serial
    call heat%end_exchange(messages=2_c_int64_t, bytes=16_c_int64_t)
  end subroutine exchange_ends

  !> Return the sum over all points, computed on the host.
  function total_heat(heat)
    type(field_storage_type), intent(inout) :: heat
    real(real64) :: total_heat

    real(real64), pointer, contiguous :: values(:)

    call heat%acquire(space_host, access_read)
    call heat%window(space_host, values)
    total_heat = sum(values(2:size(values) - 1))
    call heat%release(space_host)
  end function total_heat

end module ring_mod

!> Compute some steps and print their costs.
program example

  use field_storage_mod, only: field_storage_type
  use ring_mod, only: make_heat, spread_heat, total_heat
  use storage_statistics_mod, only: print_statistics

  implicit none

  type(field_storage_type) :: even, odd
  integer :: step

  call make_heat(even, 1000, 'even')
  call make_heat(odd, 1000, 'odd')
  do step = 1, 10
    call spread_heat(even, odd)
    call spread_heat(odd, even)
  end do
  print '(a, f0.6)', 'total heat: ', total_heat(even)
  call even%print_statistics()
  call print_statistics('all fields')

end program example
