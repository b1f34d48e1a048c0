!> The grid of fields: its extents, its regions and its properties at each point.
module grid_mod

  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t
  use, intrinsic :: iso_fortran_env, only: int32

  use decomposition_mod, only: decomposition_type, subdomain_type
  use gocean_mod, only: gocean_stop
  use field_storage_mod, only: field_storage_type
  use halo_plan_mod, only: halo_plan_type
  use kind_params_mod, only: go_wp
  use parallel_mod, only: get_rank, go_decompose
  use storage_registry_mod, only: fetch_constant, new_stamp
  use storage_constants_mod, only: access_read

  implicit none
  private

  public :: grid_init

  !> Arrangements of the variables on a grid.
  integer, public, parameter :: go_arakawa_c = 0, go_arakawa_b = 1

  !> The points around a T point that have its index: those to the south and west of it, and so on.
  !> `go_offset_any` is for kernels that work with each offset.
  integer, public, parameter :: go_offset_sw = 0, go_offset_se = 1
  integer, public, parameter :: go_offset_nw = 2, go_offset_ne = 3, go_offset_any = 4

  !> Condition at an end of the domain: periodic, a boundary outside of the domain, or one inside.
  integer, public, parameter :: go_bc_periodic = 0, go_bc_external = 1, go_bc_none = 2

  !> A grid. Arrays are (nx, ny) and contain the internal region, the points around it, and padding.
  type, public :: grid_type
    integer :: name = go_arakawa_c
    integer :: offset = go_offset_ne
    integer :: global_nx = 0, global_ny = 0
    integer :: nx = 0, ny = 0
    !> Distances between points of a regular grid.
    real(go_wp) :: dx = 0.0_go_wp, dy = 0.0_go_wp
    !> 1 at sea, 0 on land, -1 outside of an open boundary.
    integer, allocatable :: tmask(:, :)
    !> Boundary conditions in x, in y and in the vertical.
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
    !> Halo plan for each available depth.
    type(halo_plan_type), allocatable :: halo_plans(:)
    integer(c_int64_t), private :: stamp = 0
  contains
    procedure :: decompose
    procedure :: get_tmask
    procedure, private :: acquire_real, acquire_integer
    procedure, private :: release_real, release_integer
    generic :: acquire => acquire_real, acquire_integer
    generic :: release => release_real, release_integer
  end type grid_type

  interface grid_type
    module procedure grid_constructor
  end interface grid_type

contains

  !> Return a grid without a decomposition and without extents.
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

  !> Set the extents, equal distances between points and the mask of a decomposed grid.
  !>
  !> Without `tmask` all points are sea. With it (the mask of this rank's points and those around
  !> them), points that it does not cover get the value of their nearest neighbour.
  subroutine grid_init(grid, dxarg, dyarg, tmask)
    type(grid_type), intent(inout) :: grid
    real(go_wp), intent(in) :: dxarg, dyarg
    integer, allocatable, optional, intent(in) :: tmask(:, :)
    integer :: i, j

    if (.not. allocated(grid%decomp%subdomains)) then
      call gocean_stop('A grid is decomposed before it is initialised.')
    end if
    grid%nx = grid%subdomain%global%nx + 1
    grid%ny = grid%subdomain%global%ny + 1
    grid%dx = dxarg
    grid%dy = dyarg
    allocate (grid%tmask(grid%nx, grid%ny), source=1)
    if (present(tmask)) then
      do j = 1, grid%ny
        do i = 1, grid%nx
          grid%tmask(i, j) = tmask(max(min(i, ubound(tmask, 1)), lbound(tmask, 1)), &
              max(min(j, ubound(tmask, 2)), lbound(tmask, 2)))
        end do
      end do
    end if
    call set_distances(grid)
    call set_positions(grid)
    call set_halo_plans(grid)
  end subroutine grid_init

  !> Compute the halo plan for each depth.
  subroutine set_halo_plans(grid)
    type(grid_type), intent(inout) :: grid
    logical :: periodic(2)
    integer :: depth, width

    width = grid%subdomain%internal%xstart - 1
    periodic = grid%boundary_conditions(:2) == go_bc_periodic
    if (any(periodic .and. [grid%global_nx, grid%global_ny] < width)) then
      call gocean_stop('The halo is wider than the periodic domain.')
    end if
    grid%stamp = new_stamp()
    allocate (grid%halo_plans(width))
    do depth = 1, width
      grid%halo_plans(depth) = halo_plan_type(grid%decomp, periodic, get_rank(), depth, grid%nx)
    end do
  end subroutine set_halo_plans

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

  !> Set the positions of T points, the first of the domain at (dx, dy), and latitudes of 50
  !> degrees.
  subroutine set_positions(grid)
    type(grid_type), intent(inout) :: grid
    integer :: i, j

    allocate (grid%gphiu(grid%nx, grid%ny), source=50.0_go_wp)
    allocate (grid%gphiv, grid%gphif, source=grid%gphiu)
    allocate (grid%xt(grid%nx, grid%ny), grid%yt(grid%nx, grid%ny))
    associate (domain => grid%subdomain%global, own => grid%subdomain%internal)
      do j = 1, grid%ny
        do i = 1, grid%nx
          grid%xt(i, j) = real(domain%xstart + i - own%xstart, go_wp) * grid%dx
          grid%yt(i, j) = real(domain%ystart + j - own%ystart, go_wp) * grid%dy
        end do
      end do
    end associate
  end subroutine set_positions

  !> Begin to read `array`, one of the grid's arrays, in a space; `values` are its values there.
  subroutine acquire_real(self, array, space, values)
    class(grid_type), intent(in) :: self
    real(go_wp), target, contiguous, intent(inout) :: array(:, :)
    integer(c_int), intent(in) :: space
    real(go_wp), pointer, contiguous, intent(out) :: values(:, :)
    type(field_storage_type), pointer :: storage

    storage => fetch_constant(array, self%stamp)
    call storage%acquire(space, access_read)
    call storage%window(space, values)
  end subroutine acquire_real

  !> Begin to read `array`, one of the grid's arrays, in a space; `values` are its values there.
  subroutine acquire_integer(self, array, space, values)
    class(grid_type), intent(in) :: self
    integer(int32), target, contiguous, intent(inout) :: array(:, :)
    integer(c_int), intent(in) :: space
    integer(int32), pointer, contiguous, intent(out) :: values(:, :)
    type(field_storage_type), pointer :: storage

    storage => fetch_constant(array, self%stamp)
    call storage%acquire(space, access_read)
    call storage%window(space, values)
  end subroutine acquire_integer

  !> End the read access of one of the grid's arrays.
  subroutine release_real(self, array, space)
    class(grid_type), intent(in) :: self
    real(go_wp), target, contiguous, intent(inout) :: array(:, :)
    integer(c_int), intent(in) :: space
    type(field_storage_type), pointer :: storage

    storage => fetch_constant(array, self%stamp)
    call storage%release(space)
  end subroutine release_real

  !> End the read access of one of the grid's arrays.
  subroutine release_integer(self, array, space)
    class(grid_type), intent(in) :: self
    integer(int32), target, contiguous, intent(inout) :: array(:, :)
    integer(c_int), intent(in) :: space
    type(field_storage_type), pointer :: storage

    storage => fetch_constant(array, self%stamp)
    call storage%release(space)
  end subroutine release_integer

end module grid_mod
