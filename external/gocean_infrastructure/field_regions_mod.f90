!> Positions of the points of a field in the arrays of a rank.
module field_regions_mod

  use gocean_mod, only: gocean_stop
  use grid_mod, only: go_bc_periodic, go_offset_sw, grid_type
  use region_mod, only: region_type

  implicit none
  private

  public :: set_regions

  !> The types of grid point that a field can be on.
  integer, public, parameter :: go_u_points = 0, go_v_points = 1, go_t_points = 2
  integer, public, parameter :: go_f_points = 3, go_all_points = 4

  !> Number of boundary points around the internal region.
  integer, public, parameter :: nboundary = 1

contains

  !> Set the regions of a field.
  !>
  !> With the offset to the south-west, the first U points of the domain in x and its first V points
  !> in y lie on the boundary if it is not periodic, and so do F points in both.
  subroutine set_regions(grid, grid_points, internal, whole)
    type(grid_type), intent(in) :: grid
    integer, intent(in) :: grid_points
    type(region_type), intent(out) :: internal, whole
    integer :: dx, dy

    if (grid_points < go_u_points .or. grid_points > go_all_points) then
      call gocean_stop('There is no such type of grid point.')
    end if
    dx = 0
    dy = 0
    if (grid%offset == go_offset_sw) then
      if (any(grid_points == [go_u_points, go_f_points])) dx = on_boundary(grid, 1)
      if (any(grid_points == [go_v_points, go_f_points])) dy = on_boundary(grid, 2)
    end if
    associate (own => grid%subdomain%internal)
      internal = region(own%xstart + dx, own%xstop, own%ystart + dy, own%ystop)
    end associate
    associate (own => internal)
      whole = region(own%xstart - nboundary, own%xstop + nboundary, &
          own%ystart - nboundary, own%ystop + nboundary)
    end associate
    if (grid_points == go_all_points) whole = region(1, grid%nx, 1, grid%ny)
  end subroutine set_regions

  !> Return 1 if this rank has the lower end of a dimension with a boundary, otherwise 0.
  function on_boundary(grid, dimension_number) result(points)
    type(grid_type), intent(in) :: grid
    integer, intent(in) :: dimension_number
    integer :: points, first(2)

    first = [grid%subdomain%global%xstart, grid%subdomain%global%ystart]
    points = merge(1, 0, first(dimension_number) == 1 .and. &
        grid%boundary_conditions(dimension_number) /= go_bc_periodic)
  end function on_boundary

  !> Return the region between four indices, its extents included.
  function region(xstart, xstop, ystart, ystop)
    integer, intent(in) :: xstart, xstop, ystart, ystop
    type(region_type) :: region

    region = region_type(xstop - xstart + 1, ystop - ystart + 1, xstart, xstop, ystart, ystop)
  end function region

end module field_regions_mod
