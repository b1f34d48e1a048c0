!> Owns the horizontal mesh of one rank: a plane of rectangular cells that one rank owns whole.
!>
!> Cells are numbered row by row from the south-west corner. It refuses to be partitioned or to be
!> anything but a plane, and it has no halo cells.
module local_mesh_mod

  use constants_mod, only: i_def, l_def, r_def, str_def
  use linked_list_data_mod, only: linked_list_data_type

  implicit none
  private

  !> Places of the sides in (W, S, E, N) order, and of the corners in (SW, SE, NE, NW) order.
  integer(i_def), parameter :: sides = 4

  !> The topology and geometry of a plane of cells.
  type, extends(linked_list_data_type), public :: local_mesh_type
    private
    character(str_def) :: mesh_name = 'unset'
    integer(i_def) :: cells_x = 0
    integer(i_def) :: cells_y = 0
    real(r_def) :: width_x = 1.0_r_def
    real(r_def) :: width_y = 1.0_r_def
    logical(l_def) :: periodic_x = .true.
    logical(l_def) :: periodic_y = .true.
    integer(i_def) :: halo_depth = 1
  contains
    procedure, public :: get_mesh_name
    procedure, public :: get_cells_x
    procedure, public :: get_cells_y
    procedure, public :: get_cell_next
    procedure, public :: get_vert_on_cell
    procedure, public :: get_edge_on_cell
    procedure, public :: get_corners
    procedure, public :: get_adjacent_faces
    procedure, public :: get_cells_covered
    procedure, public :: get_vert_coords
    procedure, public :: get_cell_coords
    procedure, public :: get_n_unique_vertices
    procedure, public :: get_n_unique_edges
    procedure, public :: get_num_cells_in_layer
    procedure, public :: get_nverts_per_cell
    procedure, public :: get_nverts_per_edge
    procedure, public :: get_nedges_per_cell
    procedure, public :: get_ncells_global_mesh
    procedure, public :: get_num_panels_global_mesh
    procedure, public :: get_num_cells_inner
    procedure, public :: get_num_cells_edge
    procedure, public :: get_num_cells_halo
    procedure, public :: get_num_cells_ghost
    procedure, public :: get_last_inner_cell
    procedure, public :: get_last_edge_cell
    procedure, public :: get_last_halo_cell
    procedure, public :: get_inner_depth
    procedure, public :: get_halo_depth
    procedure, public :: get_max_stencil_depth
    procedure, public :: get_gid_from_lid
    procedure, public :: get_lid_from_gid
    procedure, public :: is_geometry_spherical
    procedure, public :: is_geometry_planar
    procedure, public :: is_topology_non_periodic
    procedure, public :: is_topology_channel
    procedure, public :: is_topology_periodic
    procedure, public :: is_coord_sys_xyz
    procedure, public :: is_coord_sys_ll
    procedure, private :: corners_x
    procedure, private :: corners_y
    procedure, private :: row_and_column
  end type local_mesh_type

  interface local_mesh_type
    module procedure new_planar_mesh
  end interface local_mesh_type

contains

  !> Return a plane of `cells_x` by `cells_y` cells of `width_x` by `width_y` metres, periodic
  !> unless said otherwise; stencils may reach as deep as `halo_depth`, 2 unless given.
  function new_planar_mesh(mesh_name, cells_x, cells_y, width_x, width_y, periodic_x, periodic_y, &
                           halo_depth) result(self)
    character(*), intent(in) :: mesh_name
    integer(i_def), intent(in) :: cells_x
    integer(i_def), intent(in) :: cells_y
    real(r_def), intent(in) :: width_x
    real(r_def), intent(in) :: width_y
    logical(l_def), optional, intent(in) :: periodic_x
    logical(l_def), optional, intent(in) :: periodic_y
    integer(i_def), optional, intent(in) :: halo_depth
    type(local_mesh_type) :: self

    if (cells_x < 1 .or. cells_y < 1) error stop 'local_mesh_type: a mesh needs a cell'
    self%mesh_name = mesh_name
    self%cells_x = cells_x
    self%cells_y = cells_y
    self%width_x = width_x
    self%width_y = width_y
    self%halo_depth = 2
    if (present(periodic_x)) self%periodic_x = periodic_x
    if (present(periodic_y)) self%periodic_y = periodic_y
    if (present(halo_depth)) self%halo_depth = halo_depth
  end function new_planar_mesh

  !> Return the cell beyond a side (W, S, E, N) of a cell; 0 beyond the border of the plane.
  function get_cell_next(self, iside, cell_lid) result(cell_next)
    class(local_mesh_type), intent(in) :: self
    integer(i_def), intent(in) :: iside
    integer(i_def), intent(in) :: cell_lid
    integer(i_def) :: cell_next

    integer(i_def), parameter :: step_x(sides) = [-1, 0, 1, 0]
    integer(i_def), parameter :: step_y(sides) = [0, -1, 0, 1]
    integer(i_def) :: x, y

    call self%row_and_column(cell_lid, x, y)
    x = neighbour(x, step_x(iside), self%cells_x, self%periodic_x)
    y = neighbour(y, step_y(iside), self%cells_y, self%periodic_y)
    cell_next = 0
    if (x > 0 .and. y > 0) cell_next = x + (y - 1) * self%cells_x
  end function get_cell_next

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

  !> Return the vertex at a corner (SW, SE, NE, NW) of a cell.
  function get_vert_on_cell(self, ivert, cell_lid) result(vert_lid)
    class(local_mesh_type), intent(in) :: self
    integer(i_def), intent(in) :: ivert
    integer(i_def), intent(in) :: cell_lid
    integer(i_def) :: vert_lid

    integer(i_def), parameter :: step_x(sides) = [0, 1, 1, 0]
    integer(i_def), parameter :: step_y(sides) = [0, 0, 1, 1]
    integer(i_def) :: x, y

    call self%row_and_column(cell_lid, x, y)
    x = modulo(x - 1 + step_x(ivert), self%corners_x())
    y = modulo(y - 1 + step_y(ivert), self%corners_y())
    vert_lid = 1 + x + y * self%corners_x()
  end function get_vert_on_cell

  !> Return the edge at a side (W, S, E, N) of a cell; edges across x are numbered first.
  function get_edge_on_cell(self, iedge, cell_lid) result(edge_lid)
    class(local_mesh_type), intent(in) :: self
    integer(i_def), intent(in) :: iedge
    integer(i_def), intent(in) :: cell_lid
    integer(i_def) :: edge_lid

    integer(i_def) :: x, y

    call self%row_and_column(cell_lid, x, y)
    select case (iedge)
    case (1, 3)
      x = modulo(x - 1 + (iedge - 1) / 2, self%corners_x())
      edge_lid = 1 + x + (y - 1) * self%corners_x()
    case default
      y = modulo(y - 1 + (iedge - 2) / 2, self%corners_y())
      edge_lid = self%corners_x() * self%cells_y + x + y * self%cells_x
    end select
  end function get_edge_on_cell

  !> Return the vertices of every cell, (corner, cell).
  function get_corners(self) result(corners)
    class(local_mesh_type), intent(in) :: self
    integer(i_def) :: corners(sides, self%cells_x * self%cells_y)

    integer(i_def) :: cell, corner

    do cell = 1, size(corners, 2, i_def)
      corners(:, cell) = [(self%get_vert_on_cell(corner, cell), corner=1, sides)]
    end do
  end function get_corners

  !> Return for every side of every cell, (side, cell), which side it is of the neighbour there;
  !> -1 where there is none. All cells of a plane have the same orientation.
  function get_adjacent_faces(self) result(faces)
    class(local_mesh_type), intent(in) :: self
    integer(i_def) :: faces(sides, self%cells_x * self%cells_y)

    integer(i_def), parameter :: opposite(sides) = [3, 4, 1, 2]
    integer(i_def) :: cell, side

    do cell = 1, size(faces, 2, i_def)
      do side = 1, sides
        faces(side, cell) = merge(opposite(side), -1_i_def, self%get_cell_next(side, cell) > 0)
      end do
    end do
  end function get_adjacent_faces

  !> Return the cells of another mesh of the same plane that every cell covers, (x, y, cell), or
  !> the one that it lies in; stops the program if the cells of one do not divide the other's.
  function get_cells_covered(self, other) result(covered)
    class(local_mesh_type), intent(in) :: self
    type(local_mesh_type), intent(in) :: other
    integer(i_def) :: covered(max(1, other%cells_x / self%cells_x), &
                              max(1, other%cells_y / self%cells_y), self%cells_x * self%cells_y)

    integer(i_def) :: cell, i, j, x, y

    if (.not. (divides(self%cells_x, other%cells_x) .and. divides(self%cells_y, other%cells_y))) &
      error stop 'get_cells_covered: the meshes are not nested'
    do cell = 1, size(covered, 3, i_def)
      call self%row_and_column(cell, x, y)
      do j = 1, size(covered, 2, i_def)
        do i = 1, size(covered, 1, i_def)
          covered(i, j, cell) = ((x - 1) * other%cells_x) / self%cells_x + i + &
            (((y - 1) * other%cells_y) / self%cells_y + j - 1) * other%cells_x
        end do
      end do
    end do
  end function get_cells_covered

  !> Return whether one of two numbers divides the other.
  pure function divides(a, b)
    integer(i_def), intent(in) :: a, b
    logical :: divides

    divides = modulo(a, b) == 0 .or. modulo(b, a) == 0
  end function divides

  !> Return the horizontal coordinates of a vertex, in metres from the south-west corner.
  subroutine get_vert_coords(self, vert_lid, vertex_coords)
    class(local_mesh_type), intent(in) :: self
    integer(i_def), intent(in) :: vert_lid
    real(r_def), intent(out) :: vertex_coords(:)

    vertex_coords(1) = self%width_x * modulo(vert_lid - 1, self%corners_x())
    vertex_coords(2) = self%width_y * ((vert_lid - 1) / self%corners_x())
  end subroutine get_vert_coords

  !> Return the horizontal coordinates of the corners of a cell, (xy, corner), unwrapped: the
  !> eastern corners lie east of the western ones on a periodic plane too.
  subroutine get_cell_coords(self, cell_lid, cell_coords)
    class(local_mesh_type), intent(in) :: self
    integer(i_def), intent(in) :: cell_lid
    real(r_def), intent(out) :: cell_coords(:, :)

    integer(i_def) :: x, y

    call self%row_and_column(cell_lid, x, y)
    cell_coords(1, :) = self%width_x * real([x - 1, x, x, x - 1], r_def)
    cell_coords(2, :) = self%width_y * real([y - 1, y - 1, y, y], r_def)
  end subroutine get_cell_coords

  !> Set the place of a cell in x and in y, from 1.
  subroutine row_and_column(self, cell_lid, x, y)
    class(local_mesh_type), intent(in) :: self
    integer(i_def), intent(in) :: cell_lid
    integer(i_def), intent(out) :: x, y

    x = modulo(cell_lid - 1, self%cells_x) + 1
    y = (cell_lid - 1) / self%cells_x + 1
  end subroutine row_and_column

  !> Return the number of columns of vertices.
  function corners_x(self) result(corners)
    class(local_mesh_type), intent(in) :: self
    integer(i_def) :: corners

    corners = self%cells_x + merge(0, 1, self%periodic_x)
  end function corners_x

  !> Return the number of rows of vertices.
  function corners_y(self) result(corners)
    class(local_mesh_type), intent(in) :: self
    integer(i_def) :: corners

    corners = self%cells_y + merge(0, 1, self%periodic_y)
  end function corners_y

  !> Return the name.
  function get_mesh_name(self) result(mesh_name)
    class(local_mesh_type), intent(in) :: self
    character(str_def) :: mesh_name

    mesh_name = self%mesh_name
  end function get_mesh_name

  !> Return the number of cells in x.
  function get_cells_x(self) result(cells_x)
    class(local_mesh_type), intent(in) :: self
    integer(i_def) :: cells_x

    cells_x = self%cells_x
  end function get_cells_x

  !> Return the number of cells in y.
  function get_cells_y(self) result(cells_y)
    class(local_mesh_type), intent(in) :: self
    integer(i_def) :: cells_y

    cells_y = self%cells_y
  end function get_cells_y

  !> Return the number of vertices.
  function get_n_unique_vertices(self) result(n_vertices)
    class(local_mesh_type), intent(in) :: self
    integer(i_def) :: n_vertices

    n_vertices = self%corners_x() * self%corners_y()
  end function get_n_unique_vertices

  !> Return the number of edges.
  function get_n_unique_edges(self) result(n_edges)
    class(local_mesh_type), intent(in) :: self
    integer(i_def) :: n_edges

    n_edges = self%corners_x() * self%cells_y + self%cells_x * self%corners_y()
  end function get_n_unique_edges

  !> Return the number of cells, halo cells included.
  function get_num_cells_in_layer(self) result(num_cells)
    class(local_mesh_type), intent(in) :: self
    integer(i_def) :: num_cells

    num_cells = self%cells_x * self%cells_y
  end function get_num_cells_in_layer

  !> Return the number of vertices of a cell.
  function get_nverts_per_cell(self) result(nverts)
    class(local_mesh_type), intent(in) :: self
    integer(i_def) :: nverts

    nverts = sides
  end function get_nverts_per_cell

  !> Return the number of vertices of an edge.
  function get_nverts_per_edge(self) result(nverts)
    class(local_mesh_type), intent(in) :: self
    integer(i_def) :: nverts

    nverts = 2
  end function get_nverts_per_edge

  !> Return the number of edges of a cell.
  function get_nedges_per_cell(self) result(nedges)
    class(local_mesh_type), intent(in) :: self
    integer(i_def) :: nedges

    nedges = sides
  end function get_nedges_per_cell

  !> Return the number of cells of the mesh over all ranks.
  function get_ncells_global_mesh(self) result(ncells)
    class(local_mesh_type), intent(in) :: self
    integer(i_def) :: ncells

    ncells = self%get_num_cells_in_layer()
  end function get_ncells_global_mesh

  !> Return the number of panels that the mesh is made of.
  function get_num_panels_global_mesh(self) result(num_panels)
    class(local_mesh_type), intent(in) :: self
    integer(i_def) :: num_panels

    num_panels = 1
  end function get_num_panels_global_mesh

  !> Return the number of inner cells of one depth: the deepest holds all of them.
  function get_num_cells_inner(self, depth) result(num_cells)
    class(local_mesh_type), intent(in) :: self
    integer(i_def), intent(in) :: depth
    integer(i_def) :: num_cells

    num_cells = merge(self%get_num_cells_in_layer(), 0, depth == self%halo_depth)
  end function get_num_cells_inner

  !> Return the number of owned cells next to another rank's.
  function get_num_cells_edge(self) result(num_cells)
    class(local_mesh_type), intent(in) :: self
    integer(i_def) :: num_cells

    num_cells = 0
  end function get_num_cells_edge

  !> Return the number of halo cells of one depth.
  function get_num_cells_halo(self, depth) result(num_cells)
    class(local_mesh_type), intent(in) :: self
    integer(i_def), intent(in) :: depth
    integer(i_def) :: num_cells

    num_cells = 0
  end function get_num_cells_halo

  !> Return the number of cells beyond the halo.
  function get_num_cells_ghost(self) result(num_cells)
    class(local_mesh_type), intent(in) :: self
    integer(i_def) :: num_cells

    num_cells = 0
  end function get_num_cells_ghost

  !> Return the last cell that is at least `depth` within the owned ones.
  function get_last_inner_cell(self, depth) result(last_cell)
    class(local_mesh_type), intent(in) :: self
    integer(i_def), intent(in) :: depth
    integer(i_def) :: last_cell

    last_cell = self%get_num_cells_in_layer()
  end function get_last_inner_cell

  !> Return the last owned cell.
  function get_last_edge_cell(self) result(last_cell)
    class(local_mesh_type), intent(in) :: self
    integer(i_def) :: last_cell

    last_cell = self%get_num_cells_in_layer()
  end function get_last_edge_cell

  !> Return the last cell of the halo to a depth.
  function get_last_halo_cell(self, depth) result(last_cell)
    class(local_mesh_type), intent(in) :: self
    integer(i_def), intent(in) :: depth
    integer(i_def) :: last_cell

    last_cell = self%get_num_cells_in_layer()
  end function get_last_halo_cell

  !> Return the number of depths of inner cells.
  function get_inner_depth(self) result(depth)
    class(local_mesh_type), intent(in) :: self
    integer(i_def) :: depth

    depth = self%halo_depth
  end function get_inner_depth

  !> Return the number of depths of the halo.
  function get_halo_depth(self) result(depth)
    class(local_mesh_type), intent(in) :: self
    integer(i_def) :: depth

    depth = self%halo_depth
  end function get_halo_depth

  !> Return how deep a stencil may reach.
  function get_max_stencil_depth(self) result(depth)
    class(local_mesh_type), intent(in) :: self
    integer(i_def) :: depth

    depth = self%halo_depth
  end function get_max_stencil_depth

  !> Return the id over all ranks of a cell.
  function get_gid_from_lid(self, cell_lid) result(cell_gid)
    class(local_mesh_type), intent(in) :: self
    integer(i_def), intent(in) :: cell_lid
    integer(i_def) :: cell_gid

    cell_gid = cell_lid
  end function get_gid_from_lid

  !> Return the id on this rank of a cell.
  function get_lid_from_gid(self, cell_gid) result(cell_lid)
    class(local_mesh_type), intent(in) :: self
    integer(i_def), intent(in) :: cell_gid
    integer(i_def) :: cell_lid

    cell_lid = cell_gid
  end function get_lid_from_gid

  !> Return whether the mesh covers a sphere.
  function is_geometry_spherical(self) result(answer)
    class(local_mesh_type), intent(in) :: self
    logical(l_def) :: answer

    answer = .false.
  end function is_geometry_spherical

  !> Return whether the mesh is a plane.
  function is_geometry_planar(self) result(answer)
    class(local_mesh_type), intent(in) :: self
    logical(l_def) :: answer

    answer = .true.
  end function is_geometry_planar

  !> Return whether the mesh has borders all round.
  function is_topology_non_periodic(self) result(answer)
    class(local_mesh_type), intent(in) :: self
    logical(l_def) :: answer

    answer = .not. (self%periodic_x .or. self%periodic_y)
  end function is_topology_non_periodic

  !> Return whether the mesh is periodic in one direction only.
  function is_topology_channel(self) result(answer)
    class(local_mesh_type), intent(in) :: self
    logical(l_def) :: answer

    answer = self%periodic_x .neqv. self%periodic_y
  end function is_topology_channel

  !> Return whether the mesh has no border.
  function is_topology_periodic(self) result(answer)
    class(local_mesh_type), intent(in) :: self
    logical(l_def) :: answer

    answer = self%periodic_x .and. self%periodic_y
  end function is_topology_periodic

  !> Return whether coordinates are Cartesian.
  function is_coord_sys_xyz(self) result(answer)
    class(local_mesh_type), intent(in) :: self
    logical(l_def) :: answer

    answer = .true.
  end function is_coord_sys_xyz

  !> Return whether coordinates are longitude and latitude.
  function is_coord_sys_ll(self) result(answer)
    class(local_mesh_type), intent(in) :: self
    logical(l_def) :: answer

    answer = .false.
  end function is_coord_sys_ll

end module local_mesh_mod
