!> The topology and geometry of a plane of rectangular cells, whole and over all ranks.
!>
!> Cells are numbered row by row from the south-west corner, and so are vertices and edges; the
!> edges across x come before the others. It refuses to be anything but a plane.
module plane_mod

  use constants_mod, only: i_def, l_def, r_def
  use surface_mod, only: opposite, sides, step_x, step_y, surface_type

  implicit none
  private

  !> A plane of cells of a width in metres, periodic or not in each direction.
  type, extends(surface_type), public :: plane_type
    real(r_def) :: width_x = 1.0_r_def
    real(r_def) :: width_y = 1.0_r_def
  contains
    procedure, public :: count_vertices
    procedure, public :: count_edges
    procedure, public :: find_next
    procedure, public :: vertex_at
    procedure, public :: edge_at
    procedure, public :: last_cell_at_vertex
    procedure, public :: last_cell_at_edge
    procedure, public :: vertex_coords
    procedure, public :: cell_coords
    procedure, public :: get_extent
    procedure, public :: is_spherical
    procedure, private :: corners_x
    procedure, private :: corners_y
  end type plane_type

contains

  !> Return the number of vertices.
  pure function count_vertices(self) result(number)
    class(plane_type), intent(in) :: self
    integer(i_def) :: number

    number = self%corners_x() * self%corners_y()
  end function count_vertices

  !> Return the number of edges.
  pure function count_edges(self) result(number)
    class(plane_type), intent(in) :: self
    integer(i_def) :: number

    number = self%corners_x() * self%cells_y + self%cells_x * self%corners_y()
  end function count_edges

  !> Set the cell beyond a side of a cell, and which of its sides that is; 0 beyond the border.
  pure subroutine find_next(self, side, cell, next, its_side)
    class(plane_type), intent(in) :: self
    integer(i_def), intent(in) :: side
    integer(i_def), intent(in) :: cell
    integer(i_def), intent(out) :: next
    integer(i_def), intent(out) :: its_side

    integer(i_def) :: panel, x, y

    call self%find_place(cell, x, y, panel)
    x = neighbour(x, step_x(side), self%cells_x, self%periodic_x)
    y = neighbour(y, step_y(side), self%cells_y, self%periodic_y)
    next = 0
    its_side = 0
    if (x == 0 .or. y == 0) return
    next = self%cell_at(x, y)
    its_side = opposite(side)
  end subroutine find_next

  !> Return the place `step` beyond `place` among 1..extent, 0 if it is over a border.
  pure function neighbour(place, step, extent, periodic) result(other)
    integer(i_def), intent(in) :: place, step, extent
    logical(l_def), intent(in) :: periodic
    integer(i_def) :: other

    other = place + step
    if (periodic) then
      other = modulo(other - 1, extent) + 1
    else if (other > extent) then
      other = 0
    end if
  end function neighbour

  !> Return the vertex at a corner of a cell.
  pure function vertex_at(self, corner, cell) result(vertex)
    class(plane_type), intent(in) :: self
    integer(i_def), intent(in) :: corner
    integer(i_def), intent(in) :: cell
    integer(i_def) :: vertex

    integer(i_def), parameter :: right(sides) = [0, 1, 1, 0]
    integer(i_def), parameter :: up(sides) = [0, 0, 1, 1]
    integer(i_def) :: panel, x, y

    call self%find_place(cell, x, y, panel)
    x = modulo(x - 1 + right(corner), self%corners_x())
    y = modulo(y - 1 + up(corner), self%corners_y())
    vertex = 1 + x + y * self%corners_x()
  end function vertex_at

  !> Return the edge at a side of a cell.
  pure function edge_at(self, side, cell) result(edge)
    class(plane_type), intent(in) :: self
    integer(i_def), intent(in) :: side
    integer(i_def), intent(in) :: cell
    integer(i_def) :: edge

    integer(i_def) :: panel, x, y

    call self%find_place(cell, x, y, panel)
    select case (side)
    case (1, 3)
      x = modulo(x - 1 + (side - 1) / 2, self%corners_x())
      edge = 1 + x + (y - 1) * self%corners_x()
    case default
      y = modulo(y - 1 + (side - 2) / 2, self%corners_y())
      edge = self%corners_x() * self%cells_y + x + y * self%cells_x
    end select
  end function edge_at

  !> Return the cell of the highest number around a vertex.
  pure function last_cell_at_vertex(self, vertex) result(cell)
    class(plane_type), intent(in) :: self
    integer(i_def), intent(in) :: vertex
    integer(i_def) :: cell

    cell = self%cell_at( &
      last_beside(modulo(vertex - 1, self%corners_x()), self%cells_x, self%periodic_x), &
      last_beside((vertex - 1) / self%corners_x(), self%cells_y, self%periodic_y))
  end function last_cell_at_vertex

  !> Return the highest number of the cells adjacent to an edge.
  pure function last_cell_at_edge(self, edge) result(cell)
    class(plane_type), intent(in) :: self
    integer(i_def), intent(in) :: edge
    integer(i_def) :: cell

    integer(i_def) :: place

    place = edge - 1
    if (place < self%corners_x() * self%cells_y) then
      cell = self%cell_at( &
        last_beside(modulo(place, self%corners_x()), self%cells_x, self%periodic_x), &
        place / self%corners_x() + 1)
    else
      place = place - self%corners_x() * self%cells_y
      cell = self%cell_at(modulo(place, self%cells_x) + 1, &
                          last_beside(place / self%cells_x, self%cells_y, self%periodic_y))
    end if
  end function last_cell_at_edge

  !> Return the higher position, from 1, of the two sides of a line, from 0.
  pure function last_beside(line, extent, periodic) result(place)
    integer(i_def), intent(in) :: line, extent
    logical(l_def), intent(in) :: periodic
    integer(i_def) :: place

    place = min(line + 1, extent)
    if (periodic .and. line == 0) place = extent
  end function last_beside

  !> Return the horizontal coordinates of a vertex, in metres from the south-west corner.
  pure function vertex_coords(self, vertex) result(coords)
    class(plane_type), intent(in) :: self
    integer(i_def), intent(in) :: vertex
    real(r_def) :: coords(2)

    coords(1) = self%width_x * modulo(vertex - 1, self%corners_x())
    coords(2) = self%width_y * ((vertex - 1) / self%corners_x())
  end function vertex_coords

  !> Return the horizontal coordinates of the corners of a cell, (xy, corner), unwrapped: the
  !> eastern corners lie east of the western ones on a periodic plane too.
  pure function cell_coords(self, cell) result(coords)
    class(plane_type), intent(in) :: self
    integer(i_def), intent(in) :: cell
    real(r_def) :: coords(2, sides)

    integer(i_def) :: panel, x, y

    call self%find_place(cell, x, y, panel)
    coords(1, :) = self%width_x * real([x - 1, x, x, x - 1], r_def)
    coords(2, :) = self%width_y * real([y - 1, y - 1, y, y], r_def)
  end function cell_coords

  !> Return the coordinates of the borders, (xy, bound).
  pure function get_extent(self) result(bounds)
    class(plane_type), intent(in) :: self
    real(r_def) :: bounds(2, 2)

    bounds(:, 1) = 0.0_r_def
    bounds(:, 2) = [self%width_x * self%cells_x, self%width_y * self%cells_y]
  end function get_extent

  !> Return whether it is a sphere.
  pure function is_spherical(self) result(answer)
    class(plane_type), intent(in) :: self
    logical(l_def) :: answer

    answer = .false.
  end function is_spherical

  !> Return the number of columns of vertices.
  pure function corners_x(self) result(corners)
    class(plane_type), intent(in) :: self
    integer(i_def) :: corners

    corners = self%cells_x + merge(0, 1, self%periodic_x)
  end function corners_x

  !> Return the number of rows of vertices.
  pure function corners_y(self) result(corners)
    class(plane_type), intent(in) :: self
    integer(i_def) :: corners

    corners = self%cells_y + merge(0, 1, self%periodic_y)
  end function corners_y

end module plane_mod
