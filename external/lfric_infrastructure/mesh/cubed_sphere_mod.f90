!> The topology and geometry of a cubed sphere, whole and over all ranks.
!>
!> Places are those on a cube around the centre, in half cells, so that corners, middles of edges
!> and middles of cells all have whole coordinates. These say on which panels a place is: those as
!> far out as the cube is; its coordinates along their axes are where it is on them.
!>
!> Panels are turned such that each x or y axis points to -X, +Y or +Z (see PANEL_ROT_MATRIX). So
!> both panels at an edge agree on its direction, and a side W or N always meets a side E or S: dofs
!> on it have one order, and those of W1 and W2 one sign, for both cells. Each edge is the W or N
!> side of one cell, which numbers it, and each vertex the NW corner of one, but for the two from
!> which and to which all axes point, which come last.
module cubed_sphere_mod

  use constants_mod, only: i_def, l_def, PI, r_def
  use coord_transform_mod, only: PANEL_ROT_MATRIX, xyz2ll
  use surface_mod, only: opposite, sides, step_x, step_y, surface_type

  implicit none
  private

  ! The sides of a cell that number edges
  integer(i_def), parameter :: W = 1, N = 4

  ! The steps, in half cells, from the middle of a cell to its corners
  integer(i_def), parameter :: corner_x(sides) = [-1, 1, 1, -1]
  integer(i_def), parameter :: corner_y(sides) = [-1, -1, 1, 1]

  !> A sphere of six square panels.
  type, extends(surface_type), public :: cubed_sphere_type
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
    procedure, private :: place_by
    procedure, private :: place_of_vertex
    procedure, private :: first_corner
    procedure, private :: last_cell_on
  end type cubed_sphere_type

  interface cubed_sphere_type
    module procedure new_cubed_sphere
  end interface cubed_sphere_type

contains

  !> Return a sphere with so many cells along each edge of its panels.
  pure function new_cubed_sphere(edge_cells) result(self)
    integer(i_def), intent(in) :: edge_cells
    type(cubed_sphere_type) :: self

    self%cells_x = edge_cells
    self%cells_y = edge_cells
    self%panels = size(PANEL_ROT_MATRIX, 3, i_def)
  end function new_cubed_sphere

  !> Return the number of vertices.
  pure function count_vertices(self) result(number)
    class(cubed_sphere_type), intent(in) :: self
    integer(i_def) :: number

    number = self%count_cells() + 2
  end function count_vertices

  !> Return the number of edges.
  pure function count_edges(self) result(number)
    class(cubed_sphere_type), intent(in) :: self
    integer(i_def) :: number

    number = 2 * self%count_cells()
  end function count_edges

  !> Set the cell beyond a side of a cell, and which of its sides that is.
  pure subroutine find_next(self, side, cell, next, its_side)
    class(cubed_sphere_type), intent(in) :: self
    integer(i_def), intent(in) :: side
    integer(i_def), intent(in) :: cell
    integer(i_def), intent(out) :: next
    integer(i_def), intent(out) :: its_side

    integer(i_def) :: middle(3), here(3), other, panel, x, y

    call self%find_place(cell, x, y, panel)
    associate (x_beyond => x + step_x(side), y_beyond => y + step_y(side))
      if (min(x_beyond, y_beyond) > 0 .and. max(x_beyond, y_beyond) <= self%cells_x) then
        next = self%cell_at(x_beyond, y_beyond, panel)
        its_side = opposite(side)
        return
      end if
    end associate
    middle = self%place_by(cell, step_x(side), step_y(side))
    next = 0
    its_side = 0
    do other = 1, self%panels
      here = on_panel(other, middle)
      if (other == panel .or. here(1) /= self%cells_x) cycle
      next = self%last_cell_on(other, here)
      its_side = findloc([here(2:), -here(2:)], -self%cells_x, dim=1, kind=i_def)
    end do
  end subroutine find_next

  !> Return the vertex at a corner of a cell.
  pure function vertex_at(self, corner, cell) result(vertex)
    class(cubed_sphere_type), intent(in) :: self
    integer(i_def), intent(in) :: corner
    integer(i_def), intent(in) :: cell
    integer(i_def) :: vertex

    integer(i_def) :: place(3), here(3), panel

    place = self%place_by(cell, corner_x(corner), corner_y(corner))
    do panel = 1, self%panels
      here = on_panel(panel, place)
      ! The cell to the south-east has this vertex at its north-western corner.
      if (here(1) < self%cells_x .or. here(2) == self%cells_x .or. here(3) == -self%cells_x) cycle
      vertex = self%last_cell_on(panel, here - [0, 0, 2])
      return
    end do
    vertex = self%count_cells() + merge(1, 2, all(place == self%first_corner()))
  end function vertex_at

  !> Return the edge at a side of a cell.
  pure function edge_at(self, side, cell) result(edge)
    class(cubed_sphere_type), intent(in) :: self
    integer(i_def), intent(in) :: side
    integer(i_def), intent(in) :: cell
    integer(i_def) :: edge

    integer(i_def) :: its_side, numbering_cell

    numbering_cell = cell
    its_side = side
    if (side /= W .and. side /= N) call self%find_next(side, cell, numbering_cell, its_side)
    edge = 2 * numbering_cell - merge(1, 0, its_side == W)
  end function edge_at

  !> Return the cell of the highest number around a vertex.
  pure function last_cell_at_vertex(self, vertex) result(cell)
    class(cubed_sphere_type), intent(in) :: self
    integer(i_def), intent(in) :: vertex
    integer(i_def) :: cell

    integer(i_def) :: here(3), panel

    do panel = self%panels, 1, -1
      here = on_panel(panel, self%place_of_vertex(vertex))
      if (here(1) == self%cells_x) exit
    end do
    cell = self%last_cell_on(panel, here)
  end function last_cell_at_vertex

  !> Return the cell of the highest number beside an edge.
  pure function last_cell_at_edge(self, edge) result(cell)
    class(cubed_sphere_type), intent(in) :: self
    integer(i_def), intent(in) :: edge
    integer(i_def) :: cell

    integer(i_def) :: its_side

    call self%find_next(merge(N, W, modulo(edge, 2) == 0), (edge + 1) / 2, cell, its_side)
    cell = max(cell, (edge + 1) / 2)
  end function last_cell_at_edge

  !> Return the longitude and latitude of a vertex. Vertices lie at equal angles along an edge.
  pure function vertex_coords(self, vertex) result(coords)
    class(cubed_sphere_type), intent(in) :: self
    integer(i_def), intent(in) :: vertex
    real(r_def) :: coords(2)

    real(r_def) :: xyz(3)

    xyz = tan(0.25_r_def * PI * self%place_of_vertex(vertex) / self%cells_x)
    call xyz2ll(xyz(1), xyz(2), xyz(3), coords(1), coords(2))
  end function vertex_coords

  !> Return the longitude and latitude of the corners of a cell, (axis, corner).
  pure function cell_coords(self, cell) result(coords)
    class(cubed_sphere_type), intent(in) :: self
    integer(i_def), intent(in) :: cell
    real(r_def) :: coords(2, sides)

    integer(i_def) :: corner

    do corner = 1, sides
      coords(:, corner) = self%vertex_coords(self%vertex_at(corner, cell))
    end do
  end function cell_coords

  !> Return the least and the greatest longitude and latitude, (axis, bound).
  pure function get_extent(self) result(bounds)
    class(cubed_sphere_type), intent(in) :: self
    real(r_def) :: bounds(2, 2)

    bounds = reshape([-PI, -0.5_r_def * PI, PI, 0.5_r_def * PI], [2, 2])
  end function get_extent

  !> Return whether it is a sphere.
  pure function is_spherical(self) result(answer)
    class(cubed_sphere_type), intent(in) :: self
    logical(l_def) :: answer

    answer = .true.
  end function is_spherical

  !> Return the place so many half cells to the east and to the north of the middle of a cell.
  pure function place_by(self, cell, east, north) result(place)
    class(cubed_sphere_type), intent(in) :: self
    integer(i_def), intent(in) :: cell
    integer(i_def), intent(in) :: east, north
    integer(i_def) :: place(3)

    integer(i_def) :: panel, x, y

    call self%find_place(cell, x, y, panel)
    place = matmul(PANEL_ROT_MATRIX(:, :, panel), &
                   [self%cells_x, 2 * x - 1 - self%cells_x + east, &
                    2 * y - 1 - self%cells_x + north])
  end function place_by

  !> Return the place of a vertex.
  pure function place_of_vertex(self, vertex) result(place)
    class(cubed_sphere_type), intent(in) :: self
    integer(i_def), intent(in) :: vertex
    integer(i_def) :: place(3)

    place = self%first_corner()
    if (vertex > self%count_cells() + 1) place = -place
    if (vertex <= self%count_cells()) place = self%place_by(vertex, -1_i_def, 1_i_def)
  end function place_of_vertex

  !> Return the place from which all axes point; they point to the one opposite.
  pure function first_corner(self) result(place)
    class(cubed_sphere_type), intent(in) :: self
    integer(i_def) :: place(3)

    place = self%cells_x * [1, -1, -1]
  end function first_corner

  !> Return the cell of the highest number at a place on a panel.
  pure function last_cell_on(self, panel, place) result(cell)
    class(cubed_sphere_type), intent(in) :: self
    integer(i_def), intent(in) :: panel
    integer(i_def), intent(in) :: place(3)
    integer(i_def) :: cell

    associate (x_and_y => min((place(2:) + self%cells_x) / 2 + 1, self%cells_x))
      cell = self%cell_at(x_and_y(1), x_and_y(2), panel)
    end associate
  end function last_cell_on

  !> Return how far out a place is in the direction of a panel, and how far along the panel's axes.
  pure function on_panel(panel, place) result(turned)
    integer(i_def), intent(in) :: panel
    integer(i_def), intent(in) :: place(3)
    integer(i_def) :: turned(3)

    turned = matmul(place, PANEL_ROT_MATRIX(:, :, panel))
  end function on_panel

end module cubed_sphere_mod
