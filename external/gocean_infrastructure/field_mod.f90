!> Fields on a grid: one real number at each point of one type.
module field_mod

  use gocean_mod, only: gocean_stop
  use grid_mod, only: go_bc_periodic, go_offset_sw, grid_type
  use kind_params_mod, only: go_wp
  use region_mod, only: region_type

  implicit none
  private

  public :: copy_field, set_field, field_checksum, free_field

  !> The types of grid point that a field can be on.
  integer, public, parameter :: go_u_points = 0, go_v_points = 1, go_t_points = 2
  integer, public, parameter :: go_f_points = 3, go_all_points = 4

  !> How many points lie around the internal region.
  integer, parameter :: nboundary = 1

  !> What all fields have: a grid, the points that the rank owns, and those with a boundary or halo.
  type, public :: field_type
    integer :: defined_on = go_all_points
    type(grid_type), pointer :: grid => null()
    type(region_type) :: internal
    type(region_type) :: whole
    !> Whether a device has the latest values.
    logical :: data_on_device = .false.
  end type field_type

  !> A field on two dimensions, (x, y).
  type, public, extends(field_type) :: r2d_field
    integer :: ntiles = 0
    real(go_wp), allocatable :: data(:, :)
  contains
    procedure :: get_data
    procedure :: set_data
    procedure :: halo_exchange
    procedure :: gather_inner_data
  end type r2d_field

  interface r2d_field
    module procedure r2d_field_constructor
  end interface r2d_field

  !> Copy one field to another, or one region of a field to another region.
  interface copy_field
    module procedure copy_whole, copy_patch
  end interface copy_field

  !> Return the sum of absolute values, of a field's internal region or of part of an array.
  interface field_checksum
    module procedure checksum_of_field, checksum_of_array
  end interface field_checksum

contains

  !> Return a field of zeros on the points of one type.
  !>
  !> `init_global_data` are values for the internal region of the whole domain. Fields are never
  !> tiled here, whatever `do_tile` asks for.
  function r2d_field_constructor(grid, grid_points, do_tile, init_global_data) result(self)
    type(grid_type), target, intent(in) :: grid
    integer, intent(in) :: grid_points
    logical, optional, intent(in) :: do_tile
    real(go_wp), optional, intent(in) :: init_global_data(:, :)
    type(r2d_field), target :: self
    integer :: nx, ny

    self%grid => grid
    self%defined_on = grid_points
    call set_regions(self, grid_points)
    allocate (self%data(grid%nx, grid%ny), source=0.0_go_wp)
    if (present(init_global_data)) then
      associate (own => grid%subdomain%internal)
        nx = own%nx
        ny = own%ny
        self%data(own%xstart:own%xstop, own%ystart:own%ystop) = init_global_data(1:nx, 1:ny)
      end associate
    end if
  end function r2d_field_constructor

  !> Set the regions of a field.
  !>
  !> With the offset to the south-west, the first U point in x and the first V point in y lie on
  !> the boundary of a domain that is not periodic, and F points on both.
  subroutine set_regions(self, grid_points)
    type(r2d_field), intent(inout) :: self
    integer, intent(in) :: grid_points
    integer :: dx, dy

    if (grid_points < go_u_points .or. grid_points > go_all_points) then
      call gocean_stop('There is no such type of grid point.')
    end if
    dx = 0
    dy = 0
    if (self%grid%offset == go_offset_sw) then
      if (any(grid_points == [go_u_points, go_f_points])) dx = on_boundary(self%grid, 1)
      if (any(grid_points == [go_v_points, go_f_points])) dy = on_boundary(self%grid, 2)
    end if
    associate (own => self%grid%subdomain%internal)
      self%internal = region(own%xstart + dx, own%xstop, own%ystart + dy, own%ystop)
    end associate
    associate (own => self%internal)
      self%whole = region(own%xstart - nboundary, own%xstop + nboundary, &
          own%ystart - nboundary, own%ystop + nboundary)
    end associate
    if (grid_points == go_all_points) self%whole = region(1, self%grid%nx, 1, self%grid%ny)
  end subroutine set_regions

  !> Return 1 if the domain has a boundary in a dimension, 0 if it is periodic.
  function on_boundary(grid, dimension_number) result(points)
    type(grid_type), intent(in) :: grid
    integer, intent(in) :: dimension_number
    integer :: points

    points = merge(0, 1, grid%boundary_conditions(dimension_number) == go_bc_periodic)
  end function on_boundary

  !> Return the region between four indices, its extents included.
  function region(xstart, xstop, ystart, ystop)
    integer, intent(in) :: xstart, xstop, ystart, ystop
    type(region_type) :: region

    region = region_type(xstop - xstart + 1, ystop - ystart + 1, xstart, xstop, ystart, ystop)
  end function region

  !> Return all values of a field.
  function get_data(self) result(dptr)
    class(r2d_field), target, intent(in) :: self
    real(go_wp), pointer :: dptr(:, :)

    dptr => self%data
  end function get_data

  !> Replace all values of a field; the result is 0.
  function set_data(self, array) result(flag)
    class(r2d_field), intent(inout) :: self
    real(go_wp), intent(in) :: array(:, :)
    integer :: flag

    self%data = array
    flag = 0
  end function set_data

  !> Make `depth` points of the halo equal to what their owners hold. One rank has no such points.
  subroutine halo_exchange(self, depth)
    class(r2d_field), target, intent(inout) :: self
    integer, intent(in) :: depth

    if (depth < 1 .or. depth > self%internal%xstart - 1) then
      call gocean_stop('A halo of this depth does not exist.')
    end if
  end subroutine halo_exchange

  !> Return the values of the internal region of the whole domain.
  subroutine gather_inner_data(self, global_data)
    class(r2d_field), intent(in) :: self
    real(go_wp), allocatable, intent(out) :: global_data(:, :)

    associate (own => self%grid%subdomain%internal)
      global_data = self%data(own%xstart:own%xstop, own%ystart:own%ystop)
    end associate
  end subroutine gather_inner_data

  !> Give back the memory of a field.
  subroutine free_field(fld)
    type(r2d_field), intent(inout) :: fld

    if (allocated(fld%data)) deallocate (fld%data)
    nullify (fld%grid)
  end subroutine free_field

  !> Give all points of a field one value.
  subroutine set_field(fld, val)
    type(r2d_field), intent(inout) :: fld
    real(go_wp), intent(in) :: val

    fld%data = val
  end subroutine set_field

  !> Copy all values of a field.
  subroutine copy_whole(field_in, field_out)
    type(r2d_field), intent(in) :: field_in
    type(r2d_field), intent(inout) :: field_out

    field_out%data = field_in%data
  end subroutine copy_whole

  !> Copy the values of the region `src` to the region `dest` of the same size.
  subroutine copy_patch(field, src, dest)
    type(r2d_field), intent(inout) :: field
    type(region_type), intent(in) :: src, dest

    field%data(dest%xstart:dest%xstop, dest%ystart:dest%ystop) = &
        field%data(src%xstart:src%xstop, src%ystart:src%ystop)
  end subroutine copy_patch

  !> Return the sum of absolute values over the internal region.
  function checksum_of_field(field) result(val)
    type(r2d_field), intent(in) :: field
    real(go_wp) :: val

    associate (own => field%internal)
      val = sum(abs(field%data(own%xstart:own%xstop, own%ystart:own%ystop)))
    end associate
  end function checksum_of_field

  !> Return the sum of absolute values over part of an array; an absent limit is the array's own.
  function checksum_of_array(field, xstart, xstop, ystart, ystop) result(val)
    real(go_wp), intent(in) :: field(:, :)
    integer, optional, intent(in) :: xstart, xstop, ystart, ystop
    real(go_wp) :: val
    integer :: limits(4)

    limits = [1, size(field, 1), 1, size(field, 2)]
    if (present(xstart)) limits(1) = xstart
    if (present(xstop)) limits(2) = xstop
    if (present(ystart)) limits(3) = ystart
    if (present(ystop)) limits(4) = ystop
    val = sum(abs(field(limits(1):limits(2), limits(3):limits(4))))
  end function checksum_of_array

end module field_mod
