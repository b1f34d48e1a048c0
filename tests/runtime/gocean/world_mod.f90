!> Owns what the runs of the GOcean algorithms have in common: grids, fields, answers.
!>
!> Fields start with numbers that follow from the place of a point in the domain, so that they are
!> the same however it is cut; points that a rank does not own are NaN until they are exchanged. The
!> points beyond a boundary belong to the rank that they are next to. Answers go to a file of each
!> rank: one line for each point that it owns. Where only a difference is looked for, all answers of
!> an algorithm make one number.
module world_mod

  use, intrinsic :: ieee_arithmetic, only: ieee_quiet_nan, ieee_value
  use, intrinsic :: iso_fortran_env, only: int64
  use field_mod, only: r2d_field
  use grid_mod, only: go_arakawa_c, go_bc_external, go_bc_none, go_bc_periodic, go_offset_ne, &
      go_offset_sw, grid_init, grid_type
  use kind_params_mod, only: go_wp
  use parallel_mod, only: get_num_ranks, get_rank
  use parallel_utils_mod, only: global_sum

  implicit none
  private

  public :: open_answers, close_answers
  public :: make_grids, north_east, south_west
  public :: begin_with_clean_halos, new_field, report_field
  public :: report_digests, report_mutation

  integer, parameter :: width = 3
  integer, parameter :: answers = 20

  ! Both are cut alike.
  type(grid_type), target, save :: north_east, south_west

  logical, save :: digests_only = .false.
  logical, save :: flags_count = .false.
  integer, save :: first_clean = huge(1)
  real(go_wp), save :: digest = 0.0_go_wp
  integer, save :: number_reported = 0
  character(64), save :: prefix = ''

contains

  !> Open the file of answers of this rank.
  subroutine open_answers()
    character(32) :: file_name

    write (file_name, '(a, i0)') 'answers.', get_rank() - 1
    open (answers, file=file_name, action='write', status='replace')
  end subroutine open_answers

  !> Close the file of answers.
  subroutine close_answers()
    close (answers)
  end subroutine close_answers

  !> Make the grids of a domain, cut across x, across y, or as is best; `name` starts the names of
  !> all answers on it.
  subroutine make_grids(name, cut, periodic)
    character(*), intent(in) :: name, cut
    logical, intent(in) :: periodic

    prefix = name
    north_east = new_grid(cut, periodic, go_offset_ne)
    south_west = new_grid(cut, periodic, go_offset_sw)
  end subroutine make_grids

  !> Return a grid with sea in the middle, land to the south and open boundaries to the north.
  function new_grid(cut, periodic, offset) result(grid)
    character(*), intent(in) :: cut
    logical, intent(in) :: periodic
    integer, intent(in) :: offset
    type(grid_type) :: grid
    integer, parameter :: points_x = 13, points_y = 11
    integer, allocatable :: mask(:, :)
    integer :: ends, j, y

    ends = merge(go_bc_periodic, go_bc_external, periodic)
    grid = grid_type(go_arakawa_c, [ends, ends, go_bc_none], offset)
    select case (cut)
    case ('x')
      call grid%decompose(points_x, points_y, ndomainx=get_num_ranks(), ndomainy=1, &
          halo_width=width)
    case ('y')
      call grid%decompose(points_x, points_y, ndomainx=1, ndomainy=get_num_ranks(), &
          halo_width=width)
    case default
      call grid%decompose(points_x, points_y, halo_width=width)
    end select
    associate (part => grid%subdomain)
      allocate (mask(part%global%nx, part%global%ny), source=1)
      do j = 1, size(mask, 2)
        y = modulo(part%global%ystart + j - part%internal%ystart - 1, points_y) + 1
        if (y == 3) mask(:, j) = 0
        if (y == points_y - 1) mask(:, j) = -1
      end do
    end associate
    call grid_init(grid, 0.5_go_wp, 0.25_go_wp, mask)
  end function new_grid

  !> Return a field with values from `seed`; points that the rank does not own are NaN.
  function new_field(grid, points, seed) result(field)
    type(grid_type), target, intent(in) :: grid
    integer, intent(in) :: points, seed
    type(r2d_field) :: field
    integer :: i, j, x, y

    field = r2d_field(grid, points)
    field%data = ieee_value(0.0_go_wp, ieee_quiet_nan)
    do j = 1, size(field%data, 2)
      do i = 1, size(field%data, 1)
        call place(grid, i, j, x, y)
        if (owns(grid, x, y)) field%data(i, j) = value_of(x, y, seed)
      end do
    end do
    if (seed >= first_clean) call field%halo_exchange(width)
  end function new_field

  !> Find the place in the domain of a point of this rank.
  subroutine place(grid, i, j, x, y)
    type(grid_type), intent(in) :: grid
    integer, intent(in) :: i, j
    integer, intent(out) :: x, y

    x = i + grid%subdomain%global%xstart - grid%subdomain%internal%xstart
    y = j + grid%subdomain%global%ystart - grid%subdomain%internal%ystart
  end subroutine place

  !> Return whether a place in the domain, or beyond its boundary, is this rank's own.
  function owns(grid, x, y)
    type(grid_type), intent(in) :: grid
    integer, intent(in) :: x, y
    logical :: owns

    associate (own => grid%subdomain%global)
      owns = x >= beyond(grid, own%xstart, 1, -1) .and. &
          x <= beyond(grid, own%xstop, grid%global_nx, 1) .and. &
          y >= beyond(grid, own%ystart, 1, -1) .and. y <= beyond(grid, own%ystop, grid%global_ny, 1)
    end associate
  end function owns

  !> Return the end of a rank's points, moved beyond the boundary if they end there.
  function beyond(grid, own_end, domain_end, direction)
    type(grid_type), intent(in) :: grid
    integer, intent(in) :: own_end, domain_end, direction
    integer :: beyond

    beyond = own_end
    if (own_end == domain_end .and. grid%boundary_conditions(1) /= go_bc_periodic) then
      beyond = own_end + direction * width
    end if
  end function beyond

  !> Return a number between 1 and 2.
  pure function value_of(x, y, seed) result(value)
    integer, intent(in) :: x, y, seed
    real(go_wp) :: value

    value = 1.0_go_wp + real(modulo(37 * x + 101 * y + 29 * x * y + 11 * seed, 997), go_wp) / 997
  end function value_of

  !> Write the number of points over all ranks of a field, and those that this rank owns.
  subroutine report_field(name, field)
    character(*), intent(in) :: name
    type(r2d_field), target, intent(inout) :: field
    real(go_wp), pointer :: values(:, :)
    integer :: i, j, points(2), x, y

    number_reported = number_reported + 1
    if (flags_count) digest = digest + number_stale(field)
    associate (grid => field%grid)
      points = [grid%global_nx, grid%global_ny]
      if (grid%boundary_conditions(1) /= go_bc_periodic) points = points + 2 * width
      if (.not. digests_only) then
        write (answers, '(4a, i0)') trim(prefix), '/', name, ' dofs ', product(points)
      end if
      values => field%get_data()
      do j = 1, size(values, 2)
        do i = 1, size(values, 1)
          call place(grid, i, j, x, y)
          if (.not. owns(grid, x, y)) cycle
          if (digests_only) then
            digest = digest + digest_of(values(i, j), x, y)
          else
            write (answers, '(4a, i0, a, i0, 1x, es24.16e3)') trim(prefix), '/', name, ' ', x, &
                ',', y, values(i, j)
          end if
        end do
      end do
    end associate
  end subroutine report_field

  !> Return how many points of a halo are not what their owners have, though the field says so.
  function number_stale(field) result(number)
    type(r2d_field), target, intent(inout) :: field
    real(go_wp) :: number
    real(go_wp), pointer :: values(:, :)
    real(go_wp), allocatable :: kept(:, :)
    integer :: clean, depth

    number = 0.0_go_wp
    clean = count(.not. [(field%is_dirty(depth), depth=1, width)])
    if (clean == 0) return
    values => field%get_data()
    kept = values
    call field%halo_exchange(clean)
    values => field%get_data()
    number = real(count(kept /= values .and. .not. (kept /= kept .and. values /= values)), go_wp)
  end function number_stale

  !> Return an integer that is unlikely to be that of another value or place. Sums of it are
  !> exact.
  function digest_of(value, x, y) result(number)
    real(go_wp), intent(in) :: value
    integer, intent(in) :: x, y
    real(go_wp) :: number
    integer(int64), parameter :: prime = 1000003_int64
    integer(int64) :: at

    at = modulo(int(number_reported + 31 * x + 101 * y, int64), 1009_int64) + 1
    number = real(modulo(modulo(transfer(value, 1_int64), prime) * at, prime), go_wp)
  end function digest_of

  !> Let the halos of new fields of this seed and those after it be clean until another run begins.
  subroutine begin_with_clean_halos(first_seed)
    integer, intent(in) :: first_seed

    first_clean = first_seed
  end subroutine begin_with_clean_halos

  !> From now on make one number of all answers until a mutation is reported; say whether what is
  !> said of halos is a part of them.
  subroutine report_digests(with_flags)
    logical, intent(in) :: with_flags

    digests_only = .true.
    flags_count = with_flags
    first_clean = huge(1)
    digest = 0.0_go_wp
    number_reported = 0
  end subroutine report_digests

  !> Write the number that the answers with a mutation have made, over all ranks, and whether the
  !> mutation came to anything.
  subroutine report_mutation(number, change, algorithm, was_mutated, errors)
    integer, intent(in) :: number
    character(*), intent(in) :: change
    character(*), intent(in) :: algorithm
    logical, intent(in) :: was_mutated
    integer, intent(in) :: errors
    real(go_wp) :: all_errors

    all_errors = real(errors, go_wp)
    call global_sum(all_errors)
    call global_sum(digest)
    write (answers, '(a, 1x, i0, 2(1x, a), 1x, l1, 1x, f0.0, 1x, i0)') trim(prefix), number, &
        trim(change), trim(algorithm), was_mutated, digest, nint(all_errors)
  end subroutine report_mutation

end module world_mod
