!> The grid that fields are on: its extents, its regions and what is known at each of its points.
module grid_mod

  use decomposition_mod, only: decomposition_type, subdomain_type
  use gocean_mod, only: gocean_stop
  use kind_params_mod, only: go_wp
  use parallel_mod, only: get_rank, go_decompose

  implicit none
  private

  public :: grid_init

  !> Arrangements of the variables on a grid.
  integer, public, parameter :: go_arakawa_c = 0, go_arakawa_b = 1

  !> Which of the points around a T point have its index: those to the south and west of it, and
  !> so on. A kernel for any offset does not care.
  integer, public, parameter :: go_offset_sw = 0, go_offset_se = 1
  integer, public, parameter :: go_offset_nw = 2, go_offset_ne = 3, go_offset_any = 4

  !> What is at an end of the domain: the other end, a boundary inside of it, or one outside.
  integer, public, parameter :: go_bc_periodic = 0, go_bc_external = 1, go_bc_none = 2

  !> A grid. Arrays are (nx, ny) and hold the internal region, what surrounds it, and padding.
  type, public :: grid_type
    integer :: name = go_arakawa_c
    integer :: offset = go_offset_ne
    integer :: global_nx = 0, global_ny = 0
    integer :: nx = 0, ny = 0
    !> Distances between points, if they are the same everywhere.
    real(go_wp) :: dx = 0.0_go_wp, dy = 0.0_go_wp
    !> 1 at sea, 0 on land, -1 outside of an open boundary.
    integer, allocatable :: tmask(:, :)
    !> In x, in y and in the vertical.
    integer :: boundary_conditions(3) = go_bc_none
    type(subdomain_type) :: subdomain
    type(decomposition_type) :: decomp
    real(go_wp), allocatable :: dx_t(:, :), dy_t(:, :), dx_u(:, :), dy_u(:, :)
    real(go_wp), allocatable :: dx_v(:, :), dy_v(:, :), dx_f(:, :), dy_f(:, :)
    real(go_wp), allocatable :: area_t(:, :), area_u(:, :), area_v(:, :)
    !> Latitudes at U, V and F points.
    real(go_wp), allocatable :: gphiu(:, :), gphiv(:, :), gphif(:, :)
    !> Positions of T points.
    real(go_wp), allocatable :: xt(:, :), yt(:, :)
  contains
    procedure :: decompose
    procedure :: get_tmask
  end type grid_type

  interface grid_type
    module procedure grid_constructor
  end interface grid_type

contains

  !> Return a grid that is not divided yet and has no extents.
  function grid_constructor(grid_name, boundary_conditions, grid_offsets) result(self)
    integer, intent(in) :: grid_name
    integer, intent(in) :: boundary_conditions(3)
    integer, optional, intent(in) :: grid_offsets
    type(grid_type), target :: self

    if (.not. present(grid_offsets)) call gocean_stop('A grid needs an offset.')
    if (all(grid_name /= [go_arakawa_c, go_arakawa_b])) call gocean_stop('No such grid.')
    self%name = grid_name
    self%offset = grid_offsets
    self%boundary_conditions = boundary_conditions
  end function grid_constructor

  !> Divide the domain of `domainx` by `domainy` points among the ranks.
  subroutine decompose(self, domainx, domainy, ndomains, ndomainx, ndomainy, halo_width)
    class(grid_type), target, intent(inout) :: self
    integer, intent(in) :: domainx, domainy
    integer, optional, intent(in) :: ndomains, ndomainx, ndomainy, halo_width

    self%decomp = go_decompose(domainx, domainy, ndomains, ndomainx, ndomainy, halo_width)
    self%subdomain = self%decomp%subdomains(get_rank())
    self%global_nx = self%decomp%global_nx
    self%global_ny = self%decomp%global_ny
  end subroutine decompose

  !> Return the mask at T points.
  function get_tmask(self) result(tmask)
    class(grid_type), target, intent(in) :: self
    integer, pointer :: tmask(:, :)

    tmask => self%tmask
  end function get_tmask

  !> Give a divided grid its extents, equal distances between points and a mask.
  !>
  !> Without `tmask` all points are sea. With it, points that it does not cover are as their nearest
  !> neighbour.
  subroutine grid_init(grid, dxarg, dyarg, tmask)
    type(grid_type), intent(inout) :: grid
    real(go_wp), intent(in) :: dxarg, dyarg
    integer, allocatable, optional, intent(in) :: tmask(:, :)
    integer :: i, j

    grid%nx = grid%subdomain%global%nx + 1
    grid%ny = grid%subdomain%global%ny + 1
    grid%dx = dxarg
    grid%dy = dyarg
    allocate (grid%tmask(grid%nx, grid%ny), source=1)
    if (present(tmask)) then
      do j = 1, grid%ny
        do i = 1, grid%nx
          grid%tmask(i, j) = tmask(min(i, size(tmask, 1)), min(j, size(tmask, 2)))
        end do
      end do
    end if
    call set_distances(grid)
    call set_positions(grid)
  end subroutine grid_init

  !> Set the distances between points and the areas of cells.
  subroutine set_distances(grid)
    type(grid_type), intent(inout) :: grid
    real(go_wp) :: distance(grid%nx, grid%ny)

    distance = grid%dx
    allocate (grid%dx_t, grid%dx_u, grid%dx_v, grid%dx_f, source=distance)
    distance = grid%dy
    allocate (grid%dy_t, grid%dy_u, grid%dy_v, grid%dy_f, source=distance)
    distance = grid%dx * grid%dy
    allocate (grid%area_t, grid%area_u, grid%area_v, source=distance)
  end subroutine set_distances

  !> Set the positions of T points, the first internal one at (dx/2, dy/2), and latitudes of 50
  !> degrees.
  subroutine set_positions(grid)
    type(grid_type), intent(inout) :: grid
    integer :: i, j

    allocate (grid%gphiu(grid%nx, grid%ny), source=50.0_go_wp)
    allocate (grid%gphiv, grid%gphif, source=grid%gphiu)
    allocate (grid%xt(grid%nx, grid%ny), grid%yt(grid%nx, grid%ny))
    do j = 1, grid%ny
      do i = 1, grid%nx
        grid%xt(i, j) = (real(i - grid%subdomain%internal%xstart, go_wp) + 0.5_go_wp) * grid%dx
        grid%yt(i, j) = (real(j - grid%subdomain%internal%ystart, go_wp) + 0.5_go_wp) * grid%dy
      end do
    end do
  end subroutine set_positions

end module grid_mod
