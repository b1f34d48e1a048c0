!> Checks that fields which a device has are fetched before they are looked at and sent after they
!> are changed. The device is an array here, whose values are the host's plus 100 where they are
!> newer.
program devices

  use, intrinsic :: iso_c_binding, only: c_ptr

  use field_mod, only: exchange_several, field_checksum, field_reference_type, go_t_points, &
      r2d_field
  use gocean_mod, only: gocean_finalise, gocean_initialise, gocean_stop
  use grid_mod, only: go_arakawa_c, go_bc_none, go_bc_periodic, go_offset_ne, grid_init, grid_type
  use kind_params_mod, only: go_wp
  use parallel_mod, only: get_num_ranks, on_master

  implicit none

  integer, parameter :: points = 12
  type(grid_type), target :: grid
  real(go_wp), allocatable :: device(:, :)
  logical :: waited
  integer :: moved(2) = 0  ! values from the device, and to it

  call gocean_initialise()
  grid = grid_type(go_arakawa_c, [go_bc_periodic, go_bc_periodic, go_bc_none], go_offset_ne)
  call grid%decompose(points, points)
  call grid_init(grid, 1.0_go_wp, 1.0_go_wp)
  call check_looks()
  call check_parts()
  call check_exchange(together=.false.)
  call check_exchange(together=.true.)
  if (on_master()) print '(a, i0)', 'devices are right on ranks: ', get_num_ranks()
  call gocean_finalise()

contains

  !> Return a field of ones that the device has, where all its values are 101.
  function field_on_device() result(field)
    type(r2d_field) :: field

    field = r2d_field(grid, go_t_points)
    field%data = 1.0_go_wp
    device = field%data + 100
    field%data_on_device = .true.
    field%read_from_device_f => fetch
    field%write_to_device_f => send
  end function field_on_device

  !> Check that who looks at a field sees what the device has, and that what is set goes there.
  subroutine check_looks()
    type(r2d_field), target :: field
    real(go_wp), pointer :: seen(:, :)
    real(go_wp), allocatable :: all_values(:, :)

    field = field_on_device()
    seen => field%get_data()
    call require(all(seen >= 101) .and. all(seen <= 101), 'what is got')
    call require(waited, 'whoever gets values waits for them')
    field = field_on_device()
    call require(abs(field_checksum(field) - 101 * points**2) < 0.5, 'what is summed')
    field = field_on_device()
    call field%gather_inner_data(all_values)
    if (on_master()) call require(abs(sum(all_values) - 101 * points**2) < 0.5, 'what is gathered')
    call require(field%set_data(spread(spread(7.0_go_wp, 1, size(device, 1)), 2, size(device, 2))) &
        == 0, 'setting works')
    call require(all(abs(device - 7) < 0.5), 'what is set')
  end subroutine check_looks

  !> Check that a part of a field is moved alone, and that a field that is not there stays as it is.
  subroutine check_parts()
    type(r2d_field), target :: field

    field = field_on_device()
    call field%read_from_device(2, 3, 1, 2, blocking=.false.)
    call require(.not. waited, 'whoever does not wait')
    call require(count(field%data > 50) == 2, 'a part is fetched')
    call require(all(field%data(2, 3:4) > 50), 'which part is fetched')
    field = field_on_device()
    field%data = 3
    call field%write_to_device(1, 2, 2, 1)
    call require(waited, 'whoever sends waits')
    call require(count(device < 50) == 2, 'a part is sent')
    call require(all(device(1:2, 2) < 50), 'which part is sent')
    field%data_on_device = .false.
    call field%read_from_device()
    call require(all(field%data < 50), 'what is not on the device is not fetched')
    call field%write_to_device()
    call require(count(device < 50) == 2, 'what is not on the device is not sent')
  end subroutine check_parts

  !> Check that an exchange takes what the device has, and that the device gets its halo; and that
  !> no more is moved than is sent and received, so that the host's own points stay as they are.
  subroutine check_exchange(together)
    logical, intent(in) :: together
    type(r2d_field), target :: field
    logical, allocatable :: is_halo(:, :)
    integer :: around

    field = field_on_device()
    allocate (is_halo(size(device, 1), size(device, 2)), source=.false.)
    moved = 0
    associate (own => field%internal)
      device = 0
      device(own%xstart:own%xstop, own%ystart:own%ystop) = 5
    end associate
    if (together) then
      call exchange_several([field_reference_type(field)], 1)
    else
      call field%halo_exchange(1)
    end if
    associate (all_of => field%whole)
      associate (i => all_of%xstart, ii => all_of%xstop, j => all_of%ystart, jj => all_of%ystop)
        call require(all(abs(device(i:ii, j:jj) - 5) < 0.5), 'the halo on the device')
        is_halo(i:ii, j:jj) = .true.
      end associate
    end associate
    associate (own => field%internal)
      is_halo(own%xstart:own%xstop, own%ystart:own%ystop) = .false.
      call require(all(abs(field%data - 5) < 0.5 .or. .not. is_halo), 'the halo on the host')
      call require(all(abs(field%data(own%xstart + 1:own%xstop - 1, own%ystart + 1:own%ystop - 1) &
          - 1) < 0.5), 'points of the host that nobody exchanges')
      around = (own%nx + 2) * (own%ny + 2) - own%nx * own%ny
    end associate
    call require(moved(2) == around, 'how much is sent to the device')
    call require(moved(1) == around, 'how much is fetched from the device')
  end subroutine check_exchange

  !> Copy part of what the device has.
  subroutine fetch(from, to, startx, starty, nx, ny, blocking)
    type(c_ptr), intent(in) :: from
    real(go_wp), target, intent(inout) :: to(:, :)
    integer, intent(in) :: startx, starty, nx, ny
    logical, intent(in) :: blocking

    waited = blocking
    moved(1) = moved(1) + nx * ny
    associate (x => startx + nx - 1, y => starty + ny - 1)
      to(startx:x, starty:y) = device(startx:x, starty:y)
    end associate
  end subroutine fetch

  !> Copy part of a field to the device.
  subroutine send(from, to, startx, starty, nx, ny, blocking)
    real(go_wp), target, intent(in) :: from(:, :)
    type(c_ptr), intent(in) :: to
    integer, intent(in) :: startx, starty, nx, ny
    logical, intent(in) :: blocking

    waited = blocking
    moved(2) = moved(2) + nx * ny
    associate (x => startx + nx - 1, y => starty + ny - 1)
      device(startx:x, starty:y) = from(startx:x, starty:y)
    end associate
  end subroutine send

  !> Stop unless something holds.
  subroutine require(holds, what)
    logical, intent(in) :: holds
    character(len=*), intent(in) :: what

    if (.not. holds) call gocean_stop('Wrong: ' // what)
  end subroutine require

end program devices
