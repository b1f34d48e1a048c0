!> Decomposition of a domain, and the ranks.
module parallel_mod

  use decomposition_mod, only: decomposition_type, subdomain_type
  use parallel_utils_mod, only: get_num_ranks, get_rank, parallel_abort, parallel_finalise, &
      parallel_init
  use region_mod, only: region_type

  implicit none
  private

  public :: parallel_init, parallel_finalise, parallel_abort
  public :: go_decompose, on_master, get_rank, get_num_ranks
  public :: decomposition_type

contains

  !> Divide a domain of `domainx` by `domainy` points into one rectangle for each rank.
  !>
  !> There are `ndomainx` rectangles in x and `ndomainy` in y if both are given; otherwise the
  !> numbers minimize the length of the borders. Ranks are numbered along x first. If points remain,
  !> the first rectangles of a row or column get one more. A halo of `halo_width` points surrounds
  !> each rectangle, by default one.
  function go_decompose(domainx, domainy, ndomains, ndomainx, ndomainy, halo_width) result(decomp)
    integer, intent(in) :: domainx, domainy
    integer, optional, intent(in) :: ndomains, ndomainx, ndomainy, halo_width
    type(decomposition_type) :: decomp
    integer :: parts(2), width, column, row

    width = 1
    if (present(halo_width)) width = halo_width
    if (width < 1) call parallel_abort('A halo has a width of at least one point.')
    if (present(ndomainx) .neqv. present(ndomainy)) then
      call parallel_abort('The subdomains in x and in y are given both or not at all.')
    end if
    if (present(ndomainx)) then
      parts = [ndomainx, ndomainy]
    else
      parts = parts_of(domainx, domainy, get_num_ranks())
    end if
    if (present(ndomains)) call check_number(ndomains)
    call check_number(product(parts))
    if (any(parts < 1) .or. any(parts > [domainx, domainy])) then
      call parallel_abort('The domain has too few points for this many subdomains.')
    end if

    decomp%global_nx = domainx
    decomp%global_ny = domainy
    decomp%nx = parts(1)
    decomp%ny = parts(2)
    decomp%ndomains = product(parts)
    allocate (decomp%subdomains(decomp%ndomains))
    do row = 1, parts(2)
      do column = 1, parts(1)
        decomp%subdomains(column + (row - 1) * parts(1)) = subdomain( &
            ends_of(domainx, parts(1), column), ends_of(domainy, parts(2), row), width)
      end do
    end do
    decomp%max_width = maxval(decomp%subdomains%global%nx)
    decomp%max_height = maxval(decomp%subdomains%global%ny)
  end function go_decompose

  !> Stop unless there is one subdomain for each rank.
  subroutine check_number(ndomains)
    integer, intent(in) :: ndomains

    if (ndomains /= get_num_ranks()) then
      call parallel_abort('There must be as many subdomains as there are ranks.')
    end if
  end subroutine check_number

  !> Return the numbers of parts in x and y for which the borders are shortest. If several are
  !> equal, borders across y are preferred: their messages are contiguous in memory.
  function parts_of(domainx, domainy, ranks) result(parts)
    integer, intent(in) :: domainx, domainy, ranks
    integer :: parts(2)
    integer :: cut, least_cut, parts_x, parts_y

    parts = 0
    least_cut = huge(least_cut)
    do parts_x = 1, min(ranks, domainx)
      parts_y = ranks / parts_x
      if (parts_x * parts_y /= ranks .or. parts_y > domainy) cycle
      cut = (parts_x - 1) * domainy + (parts_y - 1) * domainx
      if (cut >= least_cut) cycle
      least_cut = cut
      parts = [parts_x, parts_y]
    end do
    if (parts(1) == 0) call parallel_abort('The domain has too few points for this many ranks.')
  end function parts_of

  !> Return the first and the last point of one part of `points` points that are cut into `parts`.
  pure function ends_of(points, parts, part) result(ends)
    integer, intent(in) :: points, parts, part
    integer :: ends(2)

    ends = [(part - 1) * (points / parts) + min(part - 1, mod(points, parts)) + 1, &
        part * (points / parts) + min(part, mod(points, parts))]
  end function ends_of

  !> Return the rectangle between these points of the domain, with a halo around it.
  pure function subdomain(ends_x, ends_y, width)
    integer, intent(in) :: ends_x(2), ends_y(2), width
    type(subdomain_type) :: subdomain
    integer :: nx, ny

    nx = ends_x(2) - ends_x(1) + 1
    ny = ends_y(2) - ends_y(1) + 1
    subdomain%global = region_type(nx + 2 * width, ny + 2 * width, &
        ends_x(1), ends_x(2), ends_y(1), ends_y(2))
    subdomain%internal = region_type(nx, ny, width + 1, width + nx, width + 1, width + ny)
  end function subdomain

  !> Return whether this rank prints for all ranks.
  function on_master() result(is_master)
    logical :: is_master

    is_master = get_rank() == 1
  end function on_master

end module parallel_mod
