!> The division of a domain among ranks, and the ranks themselves.
module parallel_mod

  use decomposition_mod, only: decomposition_type
  use parallel_utils_mod, only: get_num_ranks, get_rank, parallel_abort, parallel_finalise, &
      parallel_init
  use region_mod, only: region_type

  implicit none
  private

  public :: parallel_init, parallel_finalise, parallel_abort
  public :: go_decompose, on_master, get_rank, get_num_ranks
  public :: decomposition_type

contains

  !> Divide a domain of `domainx` by `domainy` points.
  !>
  !> Each part is surrounded by `halo_width` points, one if that is absent. Only a single part can
  !> be asked for.
  function go_decompose(domainx, domainy, ndomains, ndomainx, ndomainy, halo_width) result(decomp)
    integer, intent(in) :: domainx, domainy
    integer, optional, intent(in) :: ndomains, ndomainx, ndomainy, halo_width
    type(decomposition_type) :: decomp
    integer :: width

    width = 1
    if (present(halo_width)) width = halo_width
    call check_single(ndomains)
    call check_single(ndomainx)
    call check_single(ndomainy)
    decomp%global_nx = domainx
    decomp%global_ny = domainy
    decomp%nx = 1
    decomp%ny = 1
    decomp%ndomains = 1
    decomp%max_width = domainx + 2 * width
    decomp%max_height = domainy + 2 * width
    allocate (decomp%subdomains(1))
    decomp%subdomains(1)%global = &
        region_type(decomp%max_width, decomp%max_height, 1, domainx, 1, domainy)
    decomp%subdomains(1)%internal = &
        region_type(domainx, domainy, width + 1, width + domainx, width + 1, width + domainy)
  end function go_decompose

  !> Stop unless `number`, where it is given, asks for one part.
  subroutine check_single(number)
    integer, optional, intent(in) :: number

    if (.not. present(number)) return
    if (number /= 1) call parallel_abort('This infrastructure has one rank and one subdomain.')
  end subroutine check_single

  !> Return whether this is the rank that speaks for all.
  function on_master() result(is_master)
    logical :: is_master

    is_master = get_rank() == 1
  end function on_master

end module parallel_mod
