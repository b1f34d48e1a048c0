!> Common part of whole horizontal meshes: panels that are equal rectangles of cells.
!>
!> Cells are numbered panel by panel, row by row in each from its south-west corner. Extending types
!> define neighbours and geometry.
module surface_mod

  use constants_mod, only: i_def, l_def, r_def

  implicit none
  private

  !> The number of sides, in (W, S, E, N) order, and of corners, in (SW, SE, NE, NW) order.
  integer(i_def), parameter, public :: sides = 4

  !> The most cells around one.
  integer(i_def), parameter, public :: most_around = 2 * sides

  !> The steps over a side in x and in y, and which side is opposite.
  integer(i_def), parameter, public :: step_x(sides) = [-1, 0, 1, 0]
  integer(i_def), parameter, public :: step_y(sides) = [0, -1, 0, 1]
  integer(i_def), parameter, public :: opposite(sides) = [3, 4, 1, 2]

  !> Panels with a number of cells in x and in y, and whether each direction is periodic.
  type, abstract, public :: surface_type
    integer(i_def) :: cells_x = 0
    integer(i_def) :: cells_y = 0
    integer(i_def) :: panels = 1
    logical(l_def) :: periodic_x = .true.
    logical(l_def) :: periodic_y = .true.
  contains
    procedure, non_overridable, public :: count_cells
    procedure, non_overridable, public :: cell_at
    procedure, non_overridable, public :: find_place
    procedure, non_overridable, public :: next_cell
    procedure, non_overridable, public :: cells_around
    procedure(count_all), deferred, public :: count_vertices
    procedure(count_all), deferred, public :: count_edges
    procedure(find_neighbour), deferred, public :: find_next
    procedure(at_corner), deferred, public :: vertex_at
    procedure(at_side), deferred, public :: edge_at
    procedure(last_around_vertex), deferred, public :: last_cell_at_vertex
    procedure(last_beside_edge), deferred, public :: last_cell_at_edge
    procedure(coordinates), deferred, public :: vertex_coords
    procedure(coordinates_of_corners), deferred, public :: cell_coords
    procedure(extent), deferred, public :: get_extent
    procedure(question), deferred, public :: is_spherical
  end type surface_type

  abstract interface

    !> Return a number of vertices or edges.
    pure function count_all(self) result(number)
      import :: i_def, surface_type
      class(surface_type), intent(in) :: self
      integer(i_def) :: number
    end function count_all

    !> Set the cell beyond a side of a cell, and which of its sides that is; both are 0 beyond a
    !> border.
    pure subroutine find_neighbour(self, side, cell, next, its_side)
      import :: i_def, surface_type
      class(surface_type), intent(in) :: self
      integer(i_def), intent(in) :: side
      integer(i_def), intent(in) :: cell
      integer(i_def), intent(out) :: next
      integer(i_def), intent(out) :: its_side
    end subroutine find_neighbour

    !> Return the vertex at a corner of a cell.
    pure function at_corner(self, corner, cell) result(vertex)
      import :: i_def, surface_type
      class(surface_type), intent(in) :: self
      integer(i_def), intent(in) :: corner
      integer(i_def), intent(in) :: cell
      integer(i_def) :: vertex
    end function at_corner

    !> Return the edge at a side of a cell.
    pure function at_side(self, side, cell) result(edge)
      import :: i_def, surface_type
      class(surface_type), intent(in) :: self
      integer(i_def), intent(in) :: side
      integer(i_def), intent(in) :: cell
      integer(i_def) :: edge
    end function at_side

    !> Return the cell of the highest number around a vertex.
    pure function last_around_vertex(self, vertex) result(cell)
      import :: i_def, surface_type
      class(surface_type), intent(in) :: self
      integer(i_def), intent(in) :: vertex
      integer(i_def) :: cell
    end function last_around_vertex

    !> Return the highest number of the cells adjacent to an edge.
    pure function last_beside_edge(self, edge) result(cell)
      import :: i_def, surface_type
      class(surface_type), intent(in) :: self
      integer(i_def), intent(in) :: edge
      integer(i_def) :: cell
    end function last_beside_edge

    !> Return the coordinates of a vertex: metres in x and y, or radians of longitude and latitude.
    pure function coordinates(self, vertex) result(coords)
      import :: i_def, r_def, surface_type
      class(surface_type), intent(in) :: self
      integer(i_def), intent(in) :: vertex
      real(r_def) :: coords(2)
    end function coordinates

    !> Return the coordinates of the corners of a cell, (axis, corner).
    pure function coordinates_of_corners(self, cell) result(coords)
      import :: i_def, r_def, sides, surface_type
      class(surface_type), intent(in) :: self
      integer(i_def), intent(in) :: cell
      real(r_def) :: coords(2, sides)
    end function coordinates_of_corners

    !> Return the least and the greatest coordinates, (axis, bound).
    pure function extent(self) result(bounds)
      import :: r_def, surface_type
      class(surface_type), intent(in) :: self
      real(r_def) :: bounds(2, 2)
    end function extent

    !> Return whether something holds.
    pure function question(self) result(answer)
      import :: l_def, surface_type
      class(surface_type), intent(in) :: self
      logical(l_def) :: answer
    end function question

  end interface

contains

  !> Return the number of cells.
  pure function count_cells(self) result(cells)
    class(surface_type), intent(in) :: self
    integer(i_def) :: cells

    cells = self%cells_x * self%cells_y * self%panels
  end function count_cells

  !> Return the cell at a place in x and in y, from 1, of a panel, the first unless given.
  pure function cell_at(self, x, y, panel) result(cell)
    class(surface_type), intent(in) :: self
    integer(i_def), intent(in) :: x, y
    integer(i_def), optional, intent(in) :: panel
    integer(i_def) :: cell

    cell = x + (y - 1) * self%cells_x
    if (present(panel)) cell = cell + (panel - 1) * self%cells_x * self%cells_y
  end function cell_at

  !> Set the place of a cell in x and in y, from 1, and its panel, from 1.
  pure subroutine find_place(self, cell, x, y, panel)
    class(surface_type), intent(in) :: self
    integer(i_def), intent(in) :: cell
    integer(i_def), intent(out) :: x, y, panel

    integer(i_def) :: row

    row = (cell - 1) / self%cells_x
    x = cell - row * self%cells_x
    panel = row / self%cells_y + 1
    y = row - (panel - 1) * self%cells_y + 1
  end subroutine find_place

  !> Return the cell beyond a side of a cell; 0 beyond a border.
  pure function next_cell(self, side, cell) result(next)
    class(surface_type), intent(in) :: self
    integer(i_def), intent(in) :: side
    integer(i_def), intent(in) :: cell
    integer(i_def) :: next

    integer(i_def) :: its_side

    call self%find_next(side, cell, next, its_side)
  end function next_cell

  !> Return the cells that share a vertex with a cell: those at its sides, and those round one end
  !> of each side. Beyond a border they are 0; where meshes are narrow or three cells meet, some are
  !> there twice.
  pure function cells_around(self, cell) result(around)
    class(surface_type), intent(in) :: self
    integer(i_def), intent(in) :: cell
    integer(i_def) :: around(most_around)

    integer(i_def) :: its_side, next, side

    around = 0
    do side = 1, sides
      call self%find_next(side, cell, next, its_side)
      if (next == 0) cycle
      around(side) = next
      around(sides + side) = self%next_cell(modulo(its_side, sides) + 1, next)
    end do
  end function cells_around

end module surface_mod
