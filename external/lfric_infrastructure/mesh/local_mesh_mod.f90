!> The part of the horizontal mesh that one rank holds: what lies next to what, and where.
!>
!> The whole mesh is a plane or a cubed sphere; which of its cells a rank holds, and their order, is
!> decided by partition_mod. Vertices and edges are numbered in the order of their numbers over all
!> ranks, so that on one rank all numbers are those of the whole mesh.
module local_mesh_mod

  use constants_mod, only: i_def, l_def, r_def, str_def
  use local_cells_mod, only: local_cells_type
  use message_passing_mod, only: get_number_of_ranks, get_rank
  use partition_mod, only: get_owner, partition_type
  use surface_mod, only: sides, surface_type

  implicit none
  private

  !> The topology and geometry of the cells of one rank.
  type, extends(local_cells_type), public :: local_mesh_type
    private
    character(str_def) :: mesh_name = 'unset'
    class(surface_type), allocatable :: surface
    type(partition_type) :: partition
    !> The numbers over all ranks of vertices and edges.
    integer(i_def), allocatable :: vert_gids(:)
    integer(i_def), allocatable :: edge_gids(:)
    !> For every cell, ghosts included, (place, cell).
    integer(i_def), allocatable :: vert_on_cell(:, :)
    integer(i_def), allocatable :: edge_on_cell(:, :)
    integer(i_def), allocatable :: cell_next(:, :)
    integer(i_def), allocatable :: adjacent_side(:, :)
  contains
    procedure, non_overridable, public :: get_mesh_name
    procedure, non_overridable, public :: get_cell_next
    procedure, non_overridable, public :: get_vert_on_cell
    procedure, non_overridable, public :: get_edge_on_cell
    procedure, non_overridable, public :: get_corners
    procedure, non_overridable, public :: get_places
    procedure, non_overridable, public :: get_adjacent_faces
    procedure, non_overridable, public :: get_cells_covered
    procedure, non_overridable, public :: why_not_covered
    procedure, non_overridable, private :: cell_covered
    procedure, non_overridable, public :: get_vert_coords
    procedure, non_overridable, public :: get_cell_coords
    procedure, non_overridable, public :: get_extent
    procedure, non_overridable, public :: get_n_unique_vertices
    procedure, non_overridable, public :: get_n_unique_edges
    procedure, non_overridable, public :: get_nverts_per_cell
    procedure, non_overridable, public :: get_nverts_per_edge
    procedure, non_overridable, public :: get_nedges_per_cell
    procedure, non_overridable, public :: get_ncells_global_mesh
    procedure, non_overridable, public :: get_num_panels_global_mesh
    procedure, non_overridable, public :: get_vert_gid
    procedure, non_overridable, public :: get_edge_gid
    procedure, non_overridable, public :: get_nverts_global_mesh
    procedure, non_overridable, public :: get_nedges_global_mesh
    procedure, non_overridable, public :: get_cell_owner
    procedure, non_overridable, public :: get_vert_cell_owner
    procedure, non_overridable, public :: get_edge_cell_owner
    procedure, non_overridable, public :: get_north_pole
    procedure, non_overridable, public :: get_null_island
    procedure, non_overridable, public :: get_equatorial_latitude
    procedure, non_overridable, public :: is_geometry_spherical
    procedure, non_overridable, public :: is_geometry_planar
    procedure, non_overridable, public :: is_topology_non_periodic
    procedure, non_overridable, public :: is_topology_channel
    procedure, non_overridable, public :: is_topology_periodic
    procedure, non_overridable, public :: is_coord_sys_xyz
    procedure, non_overridable, public :: is_coord_sys_ll
    procedure, non_overridable, private :: cut_surface
    procedure, non_overridable, private :: number_entities
    procedure, non_overridable, private :: find_neighbours
  end type local_mesh_type

  ! Why cells have no cells of another mesh that they cover
  character(*), parameter :: not_nested = 'the meshes are not nested'
  character(*), parameter :: not_alike = 'the meshes are not partitioned alike'

  interface local_mesh_type
    module procedure new_planar_mesh, new_cubed_sphere_mesh
  end interface local_mesh_type

contains

  !> Return what this rank holds of a plane of `cells_x` by `cells_y` cells of `width_x` by
  !> `width_y` metres, periodic unless said otherwise, with a halo of `halo_depth`, 2 unless given.
  !>
  !> `cells_together` is the number of cells in each direction that stay on one rank, 1 unless
  !> given: a mesh with cells half as wide as another's needs twice as many, if the two are to be
  !> mapped to each other. `generate_inner_halos` says, as in LFRic, whether inner cells are told
  !> apart by their depth, which they are unless it is false: all are at the deepest then.
  function new_planar_mesh(mesh_name, cells_x, cells_y, width_x, width_y, periodic_x, periodic_y, &
                           halo_depth, cells_together, generate_inner_halos) result(self)
    use plane_mod, only: plane_type

    character(*), intent(in) :: mesh_name
    integer(i_def), intent(in) :: cells_x
    integer(i_def), intent(in) :: cells_y
    real(r_def), intent(in) :: width_x
    real(r_def), intent(in) :: width_y
    logical(l_def), optional, intent(in) :: periodic_x
    logical(l_def), optional, intent(in) :: periodic_y
    integer(i_def), optional, intent(in) :: halo_depth
    integer(i_def), optional, intent(in) :: cells_together
    logical(l_def), optional, intent(in) :: generate_inner_halos
    type(local_mesh_type) :: self

    type(plane_type) :: plane

    plane = plane_type(cells_x=cells_x, cells_y=cells_y, width_x=width_x, width_y=width_y)
    if (present(periodic_x)) plane%periodic_x = periodic_x
    if (present(periodic_y)) plane%periodic_y = periodic_y
    self%mesh_name = mesh_name
    allocate (self%surface, source=plane)
    call self%cut_surface(halo_depth, cells_together, generate_inner_halos)
  end function new_planar_mesh

  !> Return what this rank holds of a cubed sphere with `edge_cells` cells along each edge of its
  !> panels. Its radius is the height of the bottom of the extrusion.
  function new_cubed_sphere_mesh(mesh_name, edge_cells, halo_depth, cells_together, &
                                 generate_inner_halos) result(self)
    use cubed_sphere_mod, only: cubed_sphere_type

    character(*), intent(in) :: mesh_name
    integer(i_def), intent(in) :: edge_cells
    integer(i_def), optional, intent(in) :: halo_depth
    integer(i_def), optional, intent(in) :: cells_together
    logical(l_def), optional, intent(in) :: generate_inner_halos
    type(local_mesh_type) :: self

    self%mesh_name = mesh_name
    allocate (self%surface, source=cubed_sphere_type(edge_cells))
    call self%cut_surface(halo_depth, cells_together, generate_inner_halos)
  end function new_cubed_sphere_mesh

  !> Take the part of this rank from the whole mesh.
  subroutine cut_surface(self, halo_depth, cells_together, generate_inner_halos)
    class(local_mesh_type), intent(inout) :: self
    integer(i_def), optional, intent(in) :: halo_depth
    integer(i_def), optional, intent(in) :: cells_together
    logical(l_def), optional, intent(in) :: generate_inner_halos

    integer(i_def) :: depth, together

    if (min(self%surface%cells_x, self%surface%cells_y) < 1) &
      error stop 'local_mesh_type: a mesh needs a cell'
    depth = 2
    together = 1
    if (present(halo_depth)) depth = halo_depth
    if (present(cells_together)) together = cells_together
    self%partition = partition_type(self%surface, get_number_of_ranks(), get_rank(), together, &
                                    depth, generate_inner_halos)
    call self%initialise_cells(self%partition, depth, self%surface%count_cells())
    call self%number_entities()
    call self%find_neighbours()
  end subroutine cut_surface

  !> Number the vertices and edges of the cells of this rank, ghost cells included.
  subroutine number_entities(self)
    use ids_mod, only: number_in_order

    class(local_mesh_type), intent(inout) :: self

    integer(i_def) :: cell, place

    allocate (self%vert_on_cell(sides, self%get_num_cells_held()))
    allocate (self%edge_on_cell(sides, self%get_num_cells_held()))
    do cell = 1, self%get_num_cells_held()
      associate (gid => self%get_gid_from_lid(cell))
        do place = 1, sides
          self%vert_on_cell(place, cell) = self%surface%vertex_at(place, gid)
          self%edge_on_cell(place, cell) = self%surface%edge_at(place, gid)
        end do
      end associate
    end do
    call number_in_order(self%vert_on_cell, self%surface%count_vertices(), self%vert_gids)
    call number_in_order(self%edge_on_cell, self%surface%count_edges(), self%edge_gids)
  end subroutine number_entities

  !> Set what lies beyond the sides of the cells of this rank, ghost cells included.
  subroutine find_neighbours(self)
    class(local_mesh_type), intent(inout) :: self

    integer(i_def) :: cell, side

    allocate (self%cell_next(sides, self%get_num_cells_held()))
    allocate (self%adjacent_side(sides, self%get_num_cells_held()))
    do cell = 1, self%get_num_cells_held()
      do side = 1, sides
        associate (next => self%cell_next(side, cell))
          call self%surface%find_next(side, self%get_gid_from_lid(cell), next, &
                                      self%adjacent_side(side, cell))
          if (next > 0) next = self%get_lid_from_gid(next)
        end associate
      end do
    end do
  end subroutine find_neighbours

  !> Return the cell beyond a side (W, S, E, N) of a cell; 0 beyond the border of the mesh, and
  !> for a cell that this rank does not hold.
  function get_cell_next(self, iside, cell_lid) result(cell_next)
    class(local_mesh_type), intent(in) :: self
    integer(i_def), intent(in) :: iside
    integer(i_def), intent(in) :: cell_lid
    integer(i_def) :: cell_next

    cell_next = self%cell_next(iside, cell_lid)
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
    integer(i_def) :: corners(sides, self%get_num_cells_in_layer())

    corners = self%vert_on_cell(:, :size(corners, 2))
  end function get_corners

  !> Return the place in x and in y on its panel of every cell but the ghosts, and the panel, from
  !> 1, (xyp, cell).
  function get_places(self) result(places)
    class(local_mesh_type), intent(in) :: self
    integer(i_def) :: places(3, self%get_num_cells_in_layer())

    integer(i_def) :: cell

    do cell = 1, size(places, 2, i_def)
      call self%surface%find_place(self%get_gid_from_lid(cell), &
                                   places(1, cell), places(2, cell), places(3, cell))
    end do
  end function get_places

  !> Return for every side of every cell but the ghosts, (side, cell), which side it is of the
  !> neighbour there; -1 beyond a border.
  function get_adjacent_faces(self) result(faces)
    class(local_mesh_type), intent(in) :: self
    integer(i_def) :: faces(sides, self%get_num_cells_in_layer())

    faces = self%adjacent_side(:, :size(faces, 2))
    where (faces == 0) faces = -1
  end function get_adjacent_faces

  !> Return the cells of another mesh of the same surface that every cell but the ghosts covers,
  !> (x, y, cell), or the one that it lies in; 0 for those that are not in the other's halo. Stops
  !> the program if there is a reason why not.
  function get_cells_covered(self, other) result(covered)
    class(local_mesh_type), intent(in) :: self
    type(local_mesh_type), intent(in) :: other
    integer(i_def) :: covered(max(1, other%surface%cells_x / self%surface%cells_x), &
                              max(1, other%surface%cells_y / self%surface%cells_y), &
                              self%get_num_cells_in_layer())

    character(:), allocatable :: problem
    integer(i_def) :: cell, i, j

    problem = self%why_not_covered(other)
    if (problem == not_nested) error stop 'get_cells_covered: ' // not_nested
    if (problem == not_alike) error stop 'get_cells_covered: ' // not_alike
    do cell = 1, size(covered, 3, i_def)
      do j = 1, size(covered, 2, i_def)
        do i = 1, size(covered, 1, i_def)
          covered(i, j, cell) = self%cell_covered(other, cell, i, j)
        end do
      end do
    end do
    where (covered > other%get_num_cells_in_layer()) covered = 0
  end function get_cells_covered

  !> Return why cells have no cells of another mesh that they cover: the cells of one do not divide
  !> the other's, or an owned cell covers one that is not. Return nothing if they have.
  function why_not_covered(self, other) result(problem)
    class(local_mesh_type), intent(in) :: self
    type(local_mesh_type), intent(in) :: other
    character(:), allocatable :: problem

    integer(i_def) :: cell, i, j

    problem = ''
    if (.not. (divides(self%surface%cells_x, other%surface%cells_x) .and. &
               divides(self%surface%cells_y, other%surface%cells_y) .and. &
               self%surface%panels == other%surface%panels)) then
      problem = not_nested
      return
    end if
    do cell = 1, self%get_last_edge_cell()
      do j = 1, max(1_i_def, other%surface%cells_y / self%surface%cells_y)
        do i = 1, max(1_i_def, other%surface%cells_x / self%surface%cells_x)
          associate (covered => self%cell_covered(other, cell, i, j))
            if (covered == 0 .or. covered > other%get_last_edge_cell()) &
              problem = not_alike
          end associate
        end do
      end do
    end do
  end function why_not_covered

  !> Return one of the cells of a nested mesh that a cell covers, (i, j) among these; 0 if this
  !> rank does not hold it.
  function cell_covered(self, other, cell, i, j) result(covered)
    class(local_mesh_type), intent(in) :: self
    type(local_mesh_type), intent(in) :: other
    integer(i_def), intent(in) :: cell, i, j
    integer(i_def) :: covered

    integer(i_def) :: panel, x, y

    call self%surface%find_place(self%get_gid_from_lid(cell), x, y, panel)
    covered = other%get_lid_from_gid(other%surface%cell_at( &
      ((x - 1) * other%surface%cells_x) / self%surface%cells_x + i, &
      ((y - 1) * other%surface%cells_y) / self%surface%cells_y + j, panel))
  end function cell_covered

  !> Return whether one of two numbers divides the other.
  pure function divides(a, b)
    integer(i_def), intent(in) :: a, b
    logical :: divides

    divides = modulo(a, b) == 0 .or. modulo(b, a) == 0
  end function divides

  !> Return the horizontal coordinates of a vertex: metres from the south-west corner of a plane, or
  !> radians of longitude and latitude.
  subroutine get_vert_coords(self, vert_lid, vertex_coords)
    class(local_mesh_type), intent(in) :: self
    integer(i_def), intent(in) :: vert_lid
    real(r_def), intent(out) :: vertex_coords(:)

    vertex_coords(:2) = self%surface%vertex_coords(self%vert_gids(vert_lid))
  end subroutine get_vert_coords

  !> Return the horizontal coordinates of the corners of a cell, (axis, corner). On a plane they are
  !> unwrapped: the eastern corners lie east of the western ones on a periodic plane too.
  subroutine get_cell_coords(self, cell_lid, cell_coords)
    class(local_mesh_type), intent(in) :: self
    integer(i_def), intent(in) :: cell_lid
    real(r_def), intent(out) :: cell_coords(:, :)

    cell_coords = self%surface%cell_coords(self%get_gid_from_lid(cell_lid))
  end subroutine get_cell_coords

  !> Return the least and the greatest coordinates of the whole mesh, (axis, bound).
  function get_extent(self) result(bounds)
    class(local_mesh_type), intent(in) :: self
    real(r_def) :: bounds(2, 2)

    bounds = self%surface%get_extent()
  end function get_extent

  !> Return the name.
  function get_mesh_name(self) result(mesh_name)
    class(local_mesh_type), intent(in) :: self
    character(str_def) :: mesh_name

    mesh_name = self%mesh_name
  end function get_mesh_name

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

    ncells = self%surface%count_cells()
  end function get_ncells_global_mesh

  !> Return the number of vertices of the mesh over all ranks.
  function get_nverts_global_mesh(self) result(nverts)
    class(local_mesh_type), intent(in) :: self
    integer(i_def) :: nverts

    nverts = self%surface%count_vertices()
  end function get_nverts_global_mesh

  !> Return the number of edges of the mesh over all ranks.
  function get_nedges_global_mesh(self) result(nedges)
    class(local_mesh_type), intent(in) :: self
    integer(i_def) :: nedges

    nedges = self%surface%count_edges()
  end function get_nedges_global_mesh

  !> Return the number of panels that the mesh is made of.
  function get_num_panels_global_mesh(self) result(num_panels)
    class(local_mesh_type), intent(in) :: self
    integer(i_def) :: num_panels

    num_panels = self%surface%panels
  end function get_num_panels_global_mesh

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

    if (cell_lid <= self%get_last_edge_cell()) then
      owner = get_rank()
    else
      owner = get_owner(self%partition, self%surface, self%get_gid_from_lid(cell_lid))
    end if
  end function get_cell_owner

  !> Return the cell that a vertex belongs to: of those around it the one with the highest id over
  !> all ranks. It is 0 if the cell is not held, which no vertex of a cell to the deepest halo has.
  function get_vert_cell_owner(self, vert_lid) result(cell_lid)
    class(local_mesh_type), intent(in) :: self
    integer(i_def), intent(in) :: vert_lid
    integer(i_def) :: cell_lid

    cell_lid = self%get_lid_from_gid(self%surface%last_cell_at_vertex(self%vert_gids(vert_lid)))
  end function get_vert_cell_owner

  !> Return the cell that an edge belongs to, as for vertices.
  function get_edge_cell_owner(self, edge_lid) result(cell_lid)
    class(local_mesh_type), intent(in) :: self
    integer(i_def), intent(in) :: edge_lid
    integer(i_def) :: cell_lid

    cell_lid = self%get_lid_from_gid(self%surface%last_cell_at_edge(self%edge_gids(edge_lid)))
  end function get_edge_cell_owner

  !> Longitude and latitude of the mesh's north pole: no sphere is turned here.
  function get_north_pole(self) result(north_pole)
    class(local_mesh_type), intent(in) :: self
    real(r_def) :: north_pole(2)
    north_pole = [0.0_r_def, merge(acos(0.0_r_def), 0.0_r_def, self%is_geometry_spherical())]
  end function get_north_pole

  !> Longitude and latitude of the point of the sphere where the mesh has its own (0, 0).
  function get_null_island(self) result(null_island)
    class(local_mesh_type), intent(in) :: self
    real(r_def) :: null_island(2)
    null_island = 0.0_r_def * self%get_north_pole()
  end function get_null_island

  !> Latitude to which the mesh's equator is stretched: none is.
  function get_equatorial_latitude(self) result(latitude)
    class(local_mesh_type), intent(in) :: self
    real(r_def) :: latitude
    latitude = sum(self%get_null_island())
  end function get_equatorial_latitude

  !> Return whether the mesh covers a sphere.
  function is_geometry_spherical(self) result(answer)
    class(local_mesh_type), intent(in) :: self
    logical(l_def) :: answer

    answer = self%surface%is_spherical()
  end function is_geometry_spherical

  !> Return whether the mesh is a plane.
  function is_geometry_planar(self) result(answer)
    class(local_mesh_type), intent(in) :: self
    logical(l_def) :: answer

    answer = .not. self%surface%is_spherical()
  end function is_geometry_planar

  !> Return whether the mesh has borders all round.
  function is_topology_non_periodic(self) result(answer)
    class(local_mesh_type), intent(in) :: self
    logical(l_def) :: answer

    answer = .not. (self%surface%periodic_x .or. self%surface%periodic_y)
  end function is_topology_non_periodic

  !> Return whether the mesh is periodic in one direction only.
  function is_topology_channel(self) result(answer)
    class(local_mesh_type), intent(in) :: self
    logical(l_def) :: answer

    answer = self%surface%periodic_x .neqv. self%surface%periodic_y
  end function is_topology_channel

  !> Return whether the mesh has no border.
  function is_topology_periodic(self) result(answer)
    class(local_mesh_type), intent(in) :: self
    logical(l_def) :: answer

    answer = self%surface%periodic_x .and. self%surface%periodic_y
  end function is_topology_periodic

  !> Return whether coordinates are Cartesian.
  function is_coord_sys_xyz(self) result(answer)
    class(local_mesh_type), intent(in) :: self
    logical(l_def) :: answer

    answer = .not. self%surface%is_spherical()
  end function is_coord_sys_xyz

  !> Return whether coordinates are longitude and latitude.
  function is_coord_sys_ll(self) result(answer)
    class(local_mesh_type), intent(in) :: self
    logical(l_def) :: answer

    answer = self%surface%is_spherical()
  end function is_coord_sys_ll

end module local_mesh_mod
