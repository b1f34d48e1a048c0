!> Owns the part of the horizontal mesh that one rank holds: a rectangle of a plane and its halo.
!>
!> Which cells these are and their order is decided by partition_mod, what lies next to what by
!> plane_mod. Vertices and edges are numbered in the order of their numbers over all ranks, so that
!> on one rank all numbers are those of the plane.
module local_mesh_mod

  use constants_mod, only: i_def, l_def, r_def, str_def
  use ids_mod, only: number_in_order
  use linked_list_data_mod, only: linked_list_data_type
  use message_passing_mod, only: get_number_of_ranks, get_rank
  use partition_mod, only: partition_type
  use plane_mod, only: plane_type, sides

  implicit none
  private

  !> The topology and geometry of the cells of one rank.
  type, extends(linked_list_data_type), public :: local_mesh_type
    private
    character(str_def) :: mesh_name = 'unset'
    type(plane_type) :: plane
    type(partition_type) :: partition
    integer(i_def) :: halo_depth = 1
    !> The last cell of each level (see partition_mod), from the deepest inner one to the ghosts.
    integer(i_def), allocatable :: last_of_level(:)
    !> The numbers over all ranks, and for cells the way back: 0 for those that are not held.
    integer(i_def), allocatable :: cell_gids(:)
    integer(i_def), allocatable :: cell_lids(:)
    integer(i_def), allocatable :: vert_gids(:)
    integer(i_def), allocatable :: edge_gids(:)
    integer(i_def), allocatable :: vert_on_cell(:, :)
    integer(i_def), allocatable :: edge_on_cell(:, :)
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
    procedure, public :: get_border_coords
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
    procedure, public :: get_vert_gid
    procedure, public :: get_edge_gid
    procedure, public :: get_nverts_global_mesh
    procedure, public :: get_nedges_global_mesh
    procedure, public :: get_cell_owner
    procedure, public :: get_vert_cell_owner
    procedure, public :: get_edge_cell_owner
    procedure, public :: is_geometry_spherical
    procedure, public :: is_geometry_planar
    procedure, public :: is_topology_non_periodic
    procedure, public :: is_topology_channel
    procedure, public :: is_topology_periodic
    procedure, public :: is_coord_sys_xyz
    procedure, public :: is_coord_sys_ll
    procedure, private :: gather_cells
    procedure, private :: number_entities
  end type local_mesh_type

  interface local_mesh_type
    module procedure new_planar_mesh
  end interface local_mesh_type

contains

  !> Return what this rank holds of a plane of `cells_x` by `cells_y` cells of `width_x` by
  !> `width_y` metres, periodic unless said otherwise, with a halo of `halo_depth`, 2 unless given.
  !>
  !> `cells_together` is the number of cells in each direction that stay on one rank, 1 unless
  !> given: a mesh with cells half as wide as another's needs twice as many, if the two are to be
  !> mapped to each other.
  function new_planar_mesh(mesh_name, cells_x, cells_y, width_x, width_y, periodic_x, periodic_y, &
                           halo_depth, cells_together) result(self)
    character(*), intent(in) :: mesh_name
    integer(i_def), intent(in) :: cells_x
    integer(i_def), intent(in) :: cells_y
    real(r_def), intent(in) :: width_x
    real(r_def), intent(in) :: width_y
    logical(l_def), optional, intent(in) :: periodic_x
    logical(l_def), optional, intent(in) :: periodic_y
    integer(i_def), optional, intent(in) :: halo_depth
    integer(i_def), optional, intent(in) :: cells_together
    type(local_mesh_type) :: self

    integer(i_def) :: together

    if (cells_x < 1 .or. cells_y < 1) error stop 'local_mesh_type: a mesh needs a cell'
    self%mesh_name = mesh_name
    self%plane = plane_type(cells_x, cells_y, width_x, width_y)
    self%halo_depth = 2
    together = 1
    if (present(periodic_x)) self%plane%periodic_x = periodic_x
    if (present(periodic_y)) self%plane%periodic_y = periodic_y
    if (present(halo_depth)) self%halo_depth = halo_depth
    if (present(cells_together)) together = cells_together
    self%partition = partition_type(self%plane, get_number_of_ranks(), get_rank(), together, &
                                    self%halo_depth)
    call self%gather_cells()
    call self%number_entities()
  end function new_planar_mesh

  !> List the cells of this rank in the order of their levels.
  subroutine gather_cells(self)
    class(local_mesh_type), intent(inout) :: self

    integer(i_def) :: cell, level

    allocate (self%cell_gids(0))
    allocate (self%last_of_level(-self%halo_depth:self%halo_depth + 1))
    do level = -self%halo_depth, self%halo_depth + 1
      self%cell_gids = [self%cell_gids, self%partition%get_cells_of_level(self%plane, level)]
      self%last_of_level(level) = size(self%cell_gids, kind=i_def)
    end do
    allocate (self%cell_lids(self%plane%count_cells()))
    self%cell_lids = 0
    self%cell_lids(self%cell_gids) = [(cell, cell=1, size(self%cell_gids, kind=i_def))]
  end subroutine gather_cells

  !> Number the vertices and edges of the cells of this rank, ghost cells included.
  subroutine number_entities(self)
    class(local_mesh_type), intent(inout) :: self

    integer(i_def) :: cell, place

    allocate (self%vert_on_cell(sides, size(self%cell_gids)))
    allocate (self%edge_on_cell(sides, size(self%cell_gids)))
    do cell = 1, size(self%cell_gids, kind=i_def)
      do place = 1, sides
        self%vert_on_cell(place, cell) = self%plane%vertex_at(place, self%cell_gids(cell))
        self%edge_on_cell(place, cell) = self%plane%edge_at(place, self%cell_gids(cell))
      end do
    end do
    call number_in_order(self%vert_on_cell, self%plane%count_vertices(), self%vert_gids)
    call number_in_order(self%edge_on_cell, self%plane%count_edges(), self%edge_gids)
  end subroutine number_entities

  !> Return the cell beyond a side (W, S, E, N) of a cell; 0 beyond the border of the plane, and
  !> for a cell that this rank does not hold.
  function get_cell_next(self, iside, cell_lid) result(cell_next)
    class(local_mesh_type), intent(in) :: self
    integer(i_def), intent(in) :: iside
    integer(i_def), intent(in) :: cell_lid
    integer(i_def) :: cell_next

    cell_next = self%plane%next_cell(iside, self%cell_gids(cell_lid))
    if (cell_next > 0) cell_next = self%cell_lids(cell_next)
  end function get_cell_next

  !> Return the vertex at a corner (SW, SE, NE, NW) of a cell.
  function get_vert_on_cell(self, ivert, cell_lid) result(vert_lid)
    class(local_mesh_type), intent(in) :: self
    integer(i_def), intent(in) :: ivert
    integer(i_def), intent(in) :: cell_lid
    integer(i_def) :: vert_lid

    vert_lid = self%vert_on_cell(ivert, cell_lid)
  end function get_vert_on_cell

  !> Return the edge at a side (W, S, E, N) of a cell.
  function get_edge_on_cell(self, iedge, cell_lid) result(edge_lid)
    class(local_mesh_type), intent(in) :: self
    integer(i_def), intent(in) :: iedge
    integer(i_def), intent(in) :: cell_lid
    integer(i_def) :: edge_lid

    edge_lid = self%edge_on_cell(iedge, cell_lid)
  end function get_edge_on_cell

  !> Return the vertices of every cell but the ghosts, (corner, cell).
  function get_corners(self) result(corners)
    class(local_mesh_type), intent(in) :: self
    integer(i_def) :: corners(sides, self%last_of_level(self%halo_depth))

    corners = self%vert_on_cell(:, :size(corners, 2))
  end function get_corners

  !> Return for every side of every cell but the ghosts, (side, cell), which side it is of the
  !> neighbour there; -1 beyond a border. All cells of a plane have the same orientation.
  function get_adjacent_faces(self) result(faces)
    class(local_mesh_type), intent(in) :: self
    integer(i_def) :: faces(sides, self%last_of_level(self%halo_depth))

    integer(i_def), parameter :: opposite(sides) = [3, 4, 1, 2]
    integer(i_def) :: cell, side

    do cell = 1, size(faces, 2, i_def)
      do side = 1, sides
        faces(side, cell) = merge(opposite(side), -1_i_def, &
                                  self%plane%next_cell(side, self%cell_gids(cell)) > 0)
      end do
    end do
  end function get_adjacent_faces

  !> Return the cells of another mesh of the same plane that every cell but the ghosts covers,
  !> (x, y, cell), or the one that it lies in; 0 for those that are not in the other's halo. Stops
  !> the program if the cells of one do not divide the other's, or an owned cell covers one that
  !> is not.
  function get_cells_covered(self, other) result(covered)
    class(local_mesh_type), intent(in) :: self
    type(local_mesh_type), intent(in) :: other
    integer(i_def) :: covered(max(1, other%plane%cells_x / self%plane%cells_x), &
                              max(1, other%plane%cells_y / self%plane%cells_y), &
                              self%last_of_level(self%halo_depth))

    integer(i_def) :: cell, i, j, x, y

    if (.not. (divides(self%plane%cells_x, other%plane%cells_x) .and. &
               divides(self%plane%cells_y, other%plane%cells_y))) &
      error stop 'get_cells_covered: the meshes are not nested'
    do cell = 1, size(covered, 3, i_def)
      call self%plane%find_row_and_column(self%cell_gids(cell), x, y)
      do j = 1, size(covered, 2, i_def)
        do i = 1, size(covered, 1, i_def)
          covered(i, j, cell) = other%cell_lids(other%plane%cell_at( &
            ((x - 1) * other%plane%cells_x) / self%plane%cells_x + i, &
            ((y - 1) * other%plane%cells_y) / self%plane%cells_y + j))
        end do
      end do
    end do
    where (covered > other%last_of_level(other%halo_depth)) covered = 0
    associate (of_owned => covered(:, :, :self%get_last_edge_cell()))
      if (any(of_owned == 0 .or. of_owned > other%get_last_edge_cell())) &
        error stop 'get_cells_covered: the meshes are not partitioned alike'
    end associate
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

    vertex_coords(:2) = self%plane%vertex_coords(self%vert_gids(vert_lid))
  end subroutine get_vert_coords

  !> Return the horizontal coordinates of the corners of a cell, (xy, corner), unwrapped: the
  !> eastern corners lie east of the western ones on a periodic plane too.
  subroutine get_cell_coords(self, cell_lid, cell_coords)
    class(local_mesh_type), intent(in) :: self
    integer(i_def), intent(in) :: cell_lid
    real(r_def), intent(out) :: cell_coords(:, :)

    cell_coords = self%plane%cell_coords(self%cell_gids(cell_lid))
  end subroutine get_cell_coords

  !> Return the horizontal coordinates of the corners of the first and the last cell of the plane,
  !> (xy, corner), between which all others lie.
  subroutine get_border_coords(self, border_coords)
    class(local_mesh_type), intent(in) :: self
    real(r_def), intent(out) :: border_coords(:, :)

    border_coords(:, :sides) = self%plane%cell_coords(1_i_def)
    border_coords(:, sides + 1:) = self%plane%cell_coords(self%plane%count_cells())
  end subroutine get_border_coords

  !> Return the name.
  function get_mesh_name(self) result(mesh_name)
    class(local_mesh_type), intent(in) :: self
    character(str_def) :: mesh_name

    mesh_name = self%mesh_name
  end function get_mesh_name

  !> Return the number of cells in x, over all ranks.
  function get_cells_x(self) result(cells_x)
    class(local_mesh_type), intent(in) :: self
    integer(i_def) :: cells_x

    cells_x = self%plane%cells_x
  end function get_cells_x

  !> Return the number of cells in y, over all ranks.
  function get_cells_y(self) result(cells_y)
    class(local_mesh_type), intent(in) :: self
    integer(i_def) :: cells_y

    cells_y = self%plane%cells_y
  end function get_cells_y

  !> Return the number of vertices that this rank holds.
  function get_n_unique_vertices(self) result(n_vertices)
    class(local_mesh_type), intent(in) :: self
    integer(i_def) :: n_vertices

    n_vertices = size(self%vert_gids, kind=i_def)
  end function get_n_unique_vertices

  !> Return the number of edges that this rank holds.
  function get_n_unique_edges(self) result(n_edges)
    class(local_mesh_type), intent(in) :: self
    integer(i_def) :: n_edges

    n_edges = size(self%edge_gids, kind=i_def)
  end function get_n_unique_edges

  !> Return the number of cells, halo cells included.
  function get_num_cells_in_layer(self) result(num_cells)
    class(local_mesh_type), intent(in) :: self
    integer(i_def) :: num_cells

    num_cells = self%last_of_level(self%halo_depth)
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

    ncells = self%plane%count_cells()
  end function get_ncells_global_mesh

  !> Return the number of vertices of the mesh over all ranks.
  function get_nverts_global_mesh(self) result(nverts)
    class(local_mesh_type), intent(in) :: self
    integer(i_def) :: nverts

    nverts = self%plane%count_vertices()
  end function get_nverts_global_mesh

  !> Return the number of edges of the mesh over all ranks.
  function get_nedges_global_mesh(self) result(nedges)
    class(local_mesh_type), intent(in) :: self
    integer(i_def) :: nedges

    nedges = self%plane%count_edges()
  end function get_nedges_global_mesh

  !> Return the number of panels that the mesh is made of.
  function get_num_panels_global_mesh(self) result(num_panels)
    class(local_mesh_type), intent(in) :: self
    integer(i_def) :: num_panels

    num_panels = 1
  end function get_num_panels_global_mesh

  !> Return the number of inner cells of one depth: the deepest holds all that are further within.
  function get_num_cells_inner(self, depth) result(num_cells)
    class(local_mesh_type), intent(in) :: self
    integer(i_def), intent(in) :: depth
    integer(i_def) :: num_cells

    num_cells = self%last_of_level(-depth)
    if (depth < self%halo_depth) num_cells = num_cells - self%last_of_level(-depth - 1)
  end function get_num_cells_inner

  !> Return the number of owned cells next to another rank's.
  function get_num_cells_edge(self) result(num_cells)
    class(local_mesh_type), intent(in) :: self
    integer(i_def) :: num_cells

    num_cells = self%last_of_level(0) - self%last_of_level(-1)
  end function get_num_cells_edge

  !> Return the number of halo cells of one depth.
  function get_num_cells_halo(self, depth) result(num_cells)
    class(local_mesh_type), intent(in) :: self
    integer(i_def), intent(in) :: depth
    integer(i_def) :: num_cells

    num_cells = self%last_of_level(depth) - self%last_of_level(depth - 1)
  end function get_num_cells_halo

  !> Return the number of cells beyond the halo.
  function get_num_cells_ghost(self) result(num_cells)
    class(local_mesh_type), intent(in) :: self
    integer(i_def) :: num_cells

    num_cells = self%last_of_level(self%halo_depth + 1) - self%last_of_level(self%halo_depth)
  end function get_num_cells_ghost

  !> Return the last cell that is at least `depth` within the owned ones.
  function get_last_inner_cell(self, depth) result(last_cell)
    class(local_mesh_type), intent(in) :: self
    integer(i_def), intent(in) :: depth
    integer(i_def) :: last_cell

    last_cell = self%last_of_level(-depth)
  end function get_last_inner_cell

  !> Return the last owned cell.
  function get_last_edge_cell(self) result(last_cell)
    class(local_mesh_type), intent(in) :: self
    integer(i_def) :: last_cell

    last_cell = self%last_of_level(0)
  end function get_last_edge_cell

  !> Return the last cell of the halo to a depth.
  function get_last_halo_cell(self, depth) result(last_cell)
    class(local_mesh_type), intent(in) :: self
    integer(i_def), intent(in) :: depth
    integer(i_def) :: last_cell

    last_cell = self%last_of_level(depth)
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

    cell_gid = self%cell_gids(cell_lid)
  end function get_gid_from_lid

  !> Return the id on this rank of a cell; 0 if it is not held.
  function get_lid_from_gid(self, cell_gid) result(cell_lid)
    class(local_mesh_type), intent(in) :: self
    integer(i_def), intent(in) :: cell_gid
    integer(i_def) :: cell_lid

    cell_lid = self%cell_lids(cell_gid)
  end function get_lid_from_gid

  !> Return the id over all ranks of a vertex.
  function get_vert_gid(self, vert_lid) result(vert_gid)
    class(local_mesh_type), intent(in) :: self
    integer(i_def), intent(in) :: vert_lid
    integer(i_def) :: vert_gid

    vert_gid = self%vert_gids(vert_lid)
  end function get_vert_gid

  !> Return the id over all ranks of an edge.
  function get_edge_gid(self, edge_lid) result(edge_gid)
    class(local_mesh_type), intent(in) :: self
    integer(i_def), intent(in) :: edge_lid
    integer(i_def) :: edge_gid

    edge_gid = self%edge_gids(edge_lid)
  end function get_edge_gid

  !> Return the rank, from 0, that owns a cell.
  function get_cell_owner(self, cell_lid) result(owner)
    class(local_mesh_type), intent(in) :: self
    integer(i_def), intent(in) :: cell_lid
    integer(i_def) :: owner

    owner = self%partition%get_owner(self%plane, self%cell_gids(cell_lid))
  end function get_cell_owner

  !> Return the cell that a vertex belongs to: of those around it the one with the highest id over
  !> all ranks. It is 0 if the cell is not held, which no vertex of a cell to the deepest halo has.
  function get_vert_cell_owner(self, vert_lid) result(cell_lid)
    class(local_mesh_type), intent(in) :: self
    integer(i_def), intent(in) :: vert_lid
    integer(i_def) :: cell_lid

    cell_lid = self%cell_lids(self%plane%last_cell_at_vertex(self%vert_gids(vert_lid)))
  end function get_vert_cell_owner

  !> Return the cell that an edge belongs to, as for vertices.
  function get_edge_cell_owner(self, edge_lid) result(cell_lid)
    class(local_mesh_type), intent(in) :: self
    integer(i_def), intent(in) :: edge_lid
    integer(i_def) :: cell_lid

    cell_lid = self%cell_lids(self%plane%last_cell_at_edge(self%edge_gids(edge_lid)))
  end function get_edge_cell_owner

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

    answer = .not. (self%plane%periodic_x .or. self%plane%periodic_y)
  end function is_topology_non_periodic

  !> Return whether the mesh is periodic in one direction only.
  function is_topology_channel(self) result(answer)
    class(local_mesh_type), intent(in) :: self
    logical(l_def) :: answer

    answer = self%plane%periodic_x .neqv. self%plane%periodic_y
  end function is_topology_channel

  !> Return whether the mesh has no border.
  function is_topology_periodic(self) result(answer)
    class(local_mesh_type), intent(in) :: self
    logical(l_def) :: answer

    answer = self%plane%periodic_x .and. self%plane%periodic_y
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
