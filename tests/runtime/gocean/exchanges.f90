!> Checks the halo exchanges of the infrastructure on grids of every kind; stops where one is wrong.
!>
!> A field holds a number of its own at every point that a rank owns, and another everywhere else.
!> After an exchange each point is compared with what follows from its place in the domain.
program exchanges

  use field_mod, only: copy_field, exchange_several, field_checksum, field_reference_type, &
      go_f_points, go_t_points, go_u_points, r2d_field
  use gocean_mod, only: gocean_finalise, gocean_initialise, gocean_stop
  use grid_mod, only: go_arakawa_c, go_bc_none, go_bc_periodic, go_offset_ne, go_offset_sw, &
      grid_init, grid_type
  use halo_statistics_mod, only: get_halo_statistics, halo_statistics_type, reset_halo_statistics
  use kind_params_mod, only: go_wp
  use parallel_mod, only: get_num_ranks, get_rank, on_master
  use parallel_utils_mod, only: global_max, global_min, global_sum

  implicit none

  integer, parameter :: points_x = 13, points_y = 11
  real(go_wp), parameter :: unknown = -1.0_go_wp
  logical, parameter :: both(2) = [.false., .true.]
  integer :: m, n, ranks, width

  call gocean_initialise()
  ranks = get_num_ranks()
  do width = 1, 3
    do m = 1, 2
      do n = 1, 2
        call check_grid([points_x, points_y], [both(m), both(n)], width)
        ! Parts of a single point, and none that is wider unless a periodic domain has to be.
        call check_grid([max(ranks, width), points_y], [both(m), both(n)], width, [ranks, 1])
        call check_grid([points_x, max(ranks, width)], [both(m), both(n)], width, [1, ranks])
      end do
    end do
  end do
  call check_two_grids()
  call check_staggering()
  call check_the_rest()
  if (on_master()) print '(a, i0)', 'exchanges are right on ranks: ', ranks
  call gocean_finalise()

contains

  !> Return a grid that is periodic in x, in y, or not, cut into so many parts if that is given.
  function new_grid(nx, ny, periodic, halo_width, offset, parts) result(grid)
    integer, intent(in) :: nx, ny, halo_width, offset
    logical, intent(in) :: periodic(2)
    integer, optional, intent(in) :: parts(2)
    type(grid_type) :: grid
    integer :: ends(2)

    ends = merge(go_bc_periodic, go_bc_none, periodic)
    grid = grid_type(go_arakawa_c, [ends, go_bc_none], offset)
    if (present(parts)) then
      call grid%decompose(nx, ny, ndomainx=parts(1), ndomainy=parts(2), halo_width=halo_width)
    else
      call grid%decompose(nx, ny, halo_width=halo_width)
    end if
    call grid_init(grid, 1.0_go_wp, 1.0_go_wp)
  end function new_grid

  !> Check exchanges of every depth on one grid: at once, in two calls, of two fields together, and
  !> of a field that has been exchanged with fewer neighbours before.
  subroutine check_grid(points, periodic, halo_width, parts)
    integer, intent(in) :: points(2)
    logical, intent(in) :: periodic(2)
    integer, intent(in) :: halo_width
    integer, optional, intent(in) :: parts(2)
    type(grid_type), target :: grid
    type(r2d_field), target :: kept, one, other
    integer :: depth

    grid = new_grid(points(1), points(2), periodic, halo_width, go_offset_ne, parts)
    kept = new_field(grid, 7)
    do depth = 1, halo_width
      call fill(kept%data, grid, 7, 0)
      call kept%halo_exchange(depth)
      call check(kept, 7, depth)
      one = new_field(grid, 1)
      call one%halo_exchange(depth)
      call check(one, 1, depth)
      one = new_field(grid, 2)
      call one%halo_exchange_start(depth)
      call one%halo_exchange_finish(depth)
      call check(one, 2, depth)
      one = new_field(grid, 3)
      other = new_field(grid, 4)
      call exchange_several([field_reference_type(one), field_reference_type(other)], depth)
      call check(one, 3, depth)
      call check(other, 4, depth)
    end do
    one = new_field(grid, 5)
    other = new_field(grid, 6)
    call exchange_several([field_reference_type(one), field_reference_type(other)], [1, halo_width])
    call check(one, 5, 1)
    call check(other, 6, halo_width)
  end subroutine check_grid

  !> Check that the exchange on a grid is not that on another.
  subroutine check_two_grids()
    type(grid_type), target :: fine, coarse
    type(r2d_field) :: on_fine, on_coarse

    fine = new_grid(2 * points_x, 2 * points_y, [.false., .true.], 2, go_offset_ne)
    coarse = new_grid(points_x, points_y, [.true., .false.], 1, go_offset_sw)
    on_fine = new_field(fine, 1)
    on_coarse = new_field(coarse, 2)
    call on_fine%halo_exchange_start(2)
    call on_coarse%halo_exchange(1)
    call on_fine%halo_exchange_finish(2)
    call check(on_fine, 1, 2)
    call check(on_coarse, 2, 1)
  end subroutine check_two_grids

  !> Check that points on a boundary are no internal points where the domain begins, and only there.
  subroutine check_staggering()
    type(grid_type), target :: bounded, periodic
    type(r2d_field) :: field
    real(go_wp) :: number

    bounded = new_grid(points_x, points_y, [.false., .false.], 1, go_offset_sw)
    periodic = new_grid(points_x, points_y, [.true., .true.], 1, go_offset_sw)
    field = r2d_field(bounded, go_u_points)
    number = real(field%internal%nx * field%internal%ny, go_wp)
    call global_sum(number)
    call require(nint(number) == (points_x - 1) * points_y, 'U points')
    field = r2d_field(bounded, go_f_points)
    number = real(field%internal%nx * field%internal%ny, go_wp)
    call global_sum(number)
    call require(nint(number) == (points_x - 1) * (points_y - 1), 'F points')
    field = r2d_field(periodic, go_f_points)
    number = real(field%internal%nx * field%internal%ny, go_wp)
    call global_sum(number)
    call require(nint(number) == points_x * points_y, 'F points of a periodic domain')
  end subroutine check_staggering

  !> Check sums, extremes, gathering, values for the whole domain, flags and statistics.
  subroutine check_the_rest()
    type(grid_type), target :: grid
    type(r2d_field), target :: field, another
    type(halo_statistics_type) :: alone, together
    real(go_wp), allocatable :: domain(:, :), gathered(:, :)
    real(go_wp) :: least, greatest
    integer :: i, j

    grid = new_grid(points_x, points_y, [.false., .false.], 2, go_offset_ne)
    allocate (domain(points_x, points_y))
    do j = 1, points_y
      do i = 1, points_x
        domain(i, j) = value_of(grid, i, j, 5)
      end do
    end do
    field = r2d_field(grid, go_t_points, init_global_data=domain)
    call field%gather_inner_data(gathered)
    if (on_master()) call require(all(abs(gathered - domain) < 0.5_go_wp), 'gathering')
    call require(nint(field_checksum(field) - sum(domain)) == 0, 'checksum')
    least = real(get_rank(), go_wp)
    greatest = least
    call global_min(least)
    call global_max(greatest)
    call require(nint(least) == 1 .and. nint(greatest) == get_num_ranks(), 'extremes')

    call require(field%is_dirty(1), 'a new field')
    call field%halo_exchange(1)
    call require(.not. field%is_dirty(1) .and. field%is_dirty(2), 'an exchange of depth 1')
    call field%halo_exchange(2)
    call require(.not. field%is_dirty(2), 'an exchange of depth 2')
    call field%set_dirty()
    call require(field%is_dirty(1), 'a dirty field')
    call field%set_clean(2)
    call require(.not. field%is_dirty(2), 'a clean field')
    call field%set_clean(1)
    call require(.not. field%is_dirty(2), 'what is clean deeper stays so')

    another = r2d_field(grid, go_t_points)
    call copy_field(field, another)
    call reset_halo_statistics()
    call field%halo_exchange(2)
    alone = get_halo_statistics()
    call reset_halo_statistics()
    call exchange_several([field_reference_type(field), field_reference_type(another)], 2)
    together = get_halo_statistics()
    call require(alone%exchanges == 1 .and. together%exchanges == 2, 'number of exchanges')
    call require(together%messages == alone%messages, 'one message for each neighbour')
    call require(together%bytes == 2 * alone%bytes, 'bytes')
    call require((alone%messages > 0) .eqv. (get_num_ranks() > 1), 'messages')

    call another%set_dirty()
    call reset_halo_statistics()
    call exchange_several([field_reference_type(field), field_reference_type(another)], [2, 2], &
        only_dirty=.true.)
    together = get_halo_statistics()
    call require(together%exchanges == 1 .and. together%bytes == alone%bytes, 'only what is dirty')
    call require(.not. another%is_dirty(2), 'a field that has been cleaned with others')
    call reset_halo_statistics()
    call exchange_several([field_reference_type(field), field_reference_type(another)], 2, &
        only_dirty=.false.)
    together = get_halo_statistics()
    call require(together%exchanges == 2, 'what is clean, too')
  end subroutine check_the_rest

  !> Return a field with values from `seed` at the points of this rank.
  function new_field(grid, seed) result(field)
    type(grid_type), target, intent(in) :: grid
    integer, intent(in) :: seed
    type(r2d_field) :: field

    field = r2d_field(grid, go_t_points)
    call fill(field%data, grid, seed, 0)
  end function new_field

  !> Stop unless a field has the values from `seed` up to a depth, and none beyond.
  subroutine check(field, seed, depth)
    type(r2d_field), intent(in) :: field
    integer, intent(in) :: seed, depth
    real(go_wp) :: expected(size(field%data, 1), size(field%data, 2))

    call fill(expected, field%grid, seed, depth)
    call require(all(abs(field%data - expected) < 0.5_go_wp), 'an exchange')
  end subroutine check

  !> Give an array the values from `seed` at the points of this rank and up to a depth around them.
  subroutine fill(data, grid, seed, depth)
    real(go_wp), intent(out) :: data(:, :)
    type(grid_type), intent(in) :: grid
    integer, intent(in) :: seed, depth
    integer :: ends_x(2), ends_y(2), i, j, x, y

    ends_x = ends_of(grid, 1, depth)
    ends_y = ends_of(grid, 2, depth)
    data = unknown
    associate (domain => grid%subdomain%global, own => grid%subdomain%internal)
      do j = 1, domain%ny
        do i = 1, domain%nx
          x = i + domain%xstart - own%xstart
          y = j + domain%ystart - own%ystart
          if (x < ends_x(1) .or. x > ends_x(2) .or. y < ends_y(1) .or. y > ends_y(2)) cycle
          data(i, j) = value_of(grid, x, y, seed)
        end do
      end do
    end associate
  end subroutine fill

  !> Return where in the domain the points of this rank end in x (1) or in y (2), with a depth
  !> around them. Beyond a boundary they have all points that there are.
  function ends_of(grid, axis, depth) result(ends)
    type(grid_type), intent(in) :: grid
    integer, intent(in) :: axis, depth
    integer :: ends(2)
    logical :: beyond(2)

    associate (domain => grid%subdomain%global)
      ends = merge([domain%xstart, domain%xstop], [domain%ystart, domain%ystop], axis == 1)
    end associate
    beyond = ends == [1, merge(grid%global_nx, grid%global_ny, axis == 1)]
    beyond = beyond .and. grid%boundary_conditions(axis) /= go_bc_periodic
    ends = ends + [-1, 1] * merge(size(grid%halo_plans), depth, beyond)
  end function ends_of

  !> Return an integer that belongs to a place in the domain, which may be periodic.
  function value_of(grid, x, y, seed) result(value)
    type(grid_type), intent(in) :: grid
    integer, intent(in) :: x, y, seed
    real(go_wp) :: value
    integer :: at(2)

    at = [x, y]
    where (grid%boundary_conditions(:2) == go_bc_periodic)
      at = modulo(at - 1, [grid%global_nx, grid%global_ny]) + 1
    end where
    value = real(10000 * seed + 100 * (at(1) + 10) + at(2) + 10, go_wp)
  end function value_of

  !> Stop unless something holds.
  subroutine require(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what

    if (.not. holds) call gocean_stop('wrong: ' // what)
  end subroutine require

end program exchanges
