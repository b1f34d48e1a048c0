!> The mesh: columns of cells over a horizontal mesh, their topology, geometry and relations.
!>
!> Which cells and tiles a loop visits, and their colours, are inherited from mesh_tiles_mod. Ids of
!> cells and vertices in three dimensions count the lowest layer first: cell (c, k) is
!> c + (k - 1) times the number of columns.
module mesh_mod

  use constants_mod, only: i_def, l_def, r_def, str_def
  use coord_transform_mod, only: llr2xyz
  use domain_mod, only: domain_type
  use extrusion_parent_mod, only: extrusion_type
  use local_mesh_mod, only: local_mesh_type
  use mesh_map_mod, only: mesh_map_type
  use mesh_maps_mod, only: add_map, clear_maps, get_map, mesh_maps_type
  use mesh_tiles_mod, only: mesh_tiles_type
  use reference_element_mod, only: B, T, reference_cube_type, reference_element_type
  use surface_mod, only: opposite, sides

  implicit none
  private

  !> A mesh of hexahedra in columns.
  type, extends(mesh_tiles_type), public :: mesh_type
    private
    character(str_def) :: mesh_name = 'unset'
    type(local_mesh_type), pointer :: local_mesh => null()
    type(reference_cube_type) :: reference_element
    integer(i_def) :: nlayers = 0
    integer(i_def) :: extrusion_id = 0
    real(r_def) :: domain_bottom = 0.0_r_def
    !> The height of the top above the bottom.
    real(r_def) :: domain_top = 1.0_r_def
    real(r_def), allocatable :: eta(:)
    integer(i_def), allocatable :: adjacent_face(:, :)
    type(mesh_maps_type) :: maps
  contains
    procedure, non_overridable, public :: get_reference_element
    procedure, non_overridable, public :: get_mesh_name
    procedure, non_overridable, public :: get_local_mesh
    procedure, non_overridable, public :: get_nlayers
    procedure, non_overridable, public :: get_extrusion_id

    procedure, non_overridable, public :: get_nedges_2d
    procedure, non_overridable, public :: get_nverts_2d
    procedure, non_overridable, public :: get_ncells
    procedure, non_overridable, public :: get_nverts
    procedure, non_overridable, public :: get_nedges
    procedure, non_overridable, public :: get_nfaces
    procedure, non_overridable, public :: get_nverts_per_cell
    procedure, non_overridable, public :: get_nverts_per_cell_2d
    procedure, non_overridable, public :: get_nverts_per_edge
    procedure, non_overridable, public :: get_nedges_per_cell
    procedure, non_overridable, public :: get_nedges_per_cell_2d
    procedure, non_overridable, public :: get_nfaces_per_cell

    procedure, non_overridable, public :: get_cell_next
    procedure, non_overridable, public :: step_ahead
    procedure, non_overridable, public :: get_vert_on_cell
    procedure, non_overridable, public :: get_edge_on_cell
    procedure, non_overridable, public :: get_face_on_cell
    procedure, non_overridable, public :: get_adjacent_face

    procedure, non_overridable, public :: get_vert_coords
    procedure, non_overridable, public :: get_cell_centre_coords
    procedure, non_overridable, public :: get_cell_coords
    procedure, non_overridable, public :: get_column_coords
    procedure, non_overridable, public :: get_domain
    procedure, non_overridable, public :: get_domain_top
    procedure, non_overridable, public :: get_dz
    procedure, non_overridable, public :: get_eta
    procedure, non_overridable, private :: height
    procedure, non_overridable, private :: point_at

    procedure, non_overridable, public :: get_gid_from_lid

    procedure, non_overridable, public :: is_geometry_spherical
    procedure, non_overridable, public :: is_geometry_planar
    procedure, non_overridable, public :: is_topology_non_periodic
    procedure, non_overridable, public :: is_topology_channel
    procedure, non_overridable, public :: is_topology_periodic
    procedure, non_overridable, public :: is_coord_sys_xyz
    procedure, non_overridable, public :: is_coord_sys_ll

    procedure, non_overridable, public :: add_mesh_map
    procedure, non_overridable, public :: get_mesh_map
    procedure, non_overridable, public :: query_mesh_map
    procedure, non_overridable, public :: clear
  end type mesh_type

  interface mesh_type
    module procedure new_mesh
  end interface mesh_type

  integer(i_def) :: number_of_meshes = 0

contains

  !> Return the mesh that an extrusion makes of a horizontal mesh, in tiles of single cells unless
  !> a size, (x, y), is given. With `inner_halo_tiles`, tiles of inner cells are kept apart.
  function new_mesh(local_mesh, extrusion, mesh_name, tile_size, inner_halo_tiles) result(self)
    type(local_mesh_type), pointer, intent(in) :: local_mesh
    class(extrusion_type), intent(in) :: extrusion
    character(str_def), optional, intent(in) :: mesh_name
    integer(i_def), optional, intent(in) :: tile_size(2)
    logical(l_def), optional, intent(in) :: inner_halo_tiles
    type(mesh_type) :: self

    integer(i_def) :: depth, size_of_tiles(2)
    logical(l_def) :: inner_apart

    number_of_meshes = number_of_meshes + 1
    call self%set_id(number_of_meshes)
    self%local_mesh => local_mesh
    self%mesh_name = local_mesh%get_mesh_name()
    if (present(mesh_name)) self%mesh_name = mesh_name
    self%reference_element = reference_cube_type()
    self%nlayers = extrusion%get_number_of_layers()
    self%extrusion_id = extrusion%get_id()
    self%domain_bottom = extrusion%get_atmosphere_bottom()
    self%domain_top = extrusion%get_atmosphere_top()
    allocate (self%eta(0:self%nlayers))
    call extrusion%extrude(self%eta)
    call self%initialise_cells( &
      [(local_mesh%get_last_inner_cell(depth), depth=1, local_mesh%get_inner_depth())], &
      local_mesh%get_last_edge_cell(), &
      [(local_mesh%get_last_halo_cell(depth), depth=1, local_mesh%get_halo_depth())], &
      local_mesh%get_num_cells_ghost(), local_mesh%get_corners())
    size_of_tiles = 1
    inner_apart = .false.
    if (present(tile_size)) size_of_tiles = tile_size
    if (present(inner_halo_tiles)) inner_apart = inner_halo_tiles
    call self%initialise_tiles(size_of_tiles, local_mesh%get_places(), local_mesh%get_corners(), &
                               inner_apart)
    allocate (self%adjacent_face, source=local_mesh%get_adjacent_faces())
  end function new_mesh

  !> Return the shape of the cells.
  function get_reference_element(self)
    class(mesh_type), target, intent(in) :: self
    class(reference_element_type), pointer :: get_reference_element

    get_reference_element => self%reference_element
  end function get_reference_element

  !> Return the name.
  function get_mesh_name(self) result(mesh_name)
    class(mesh_type), intent(in) :: self
    character(str_def) :: mesh_name

    mesh_name = self%mesh_name
  end function get_mesh_name

  !> Return the horizontal mesh.
  function get_local_mesh(self) result(local_mesh)
    class(mesh_type), target, intent(in) :: self
    type(local_mesh_type), pointer :: local_mesh

    local_mesh => self%local_mesh
  end function get_local_mesh

  !> Return the number of layers.
  function get_nlayers(self) result(nlayers)
    class(mesh_type), intent(in) :: self
    integer(i_def) :: nlayers

    nlayers = self%nlayers
  end function get_nlayers

  !> Return what the mesh was extruded for.
  function get_extrusion_id(self) result(extrusion_id)
    class(mesh_type), intent(in) :: self
    integer(i_def) :: extrusion_id

    extrusion_id = self%extrusion_id
  end function get_extrusion_id

  !> Return the number of edges of the horizontal mesh.
  function get_nedges_2d(self) result(nedges_2d)
    class(mesh_type), intent(in) :: self
    integer(i_def) :: nedges_2d

    nedges_2d = self%local_mesh%get_n_unique_edges()
  end function get_nedges_2d

  !> Return the number of vertices of the horizontal mesh.
  function get_nverts_2d(self) result(nverts_2d)
    class(mesh_type), intent(in) :: self
    integer(i_def) :: nverts_2d

    nverts_2d = self%local_mesh%get_n_unique_vertices()
  end function get_nverts_2d

  !> Return the number of cells of all layers.
  function get_ncells(self) result(ncells)
    class(mesh_type), intent(in) :: self
    integer(i_def) :: ncells

    ncells = self%get_ncells_2d() * self%nlayers
  end function get_ncells

  !> Return the number of vertices of all levels.
  function get_nverts(self) result(nverts)
    class(mesh_type), intent(in) :: self
    integer(i_def) :: nverts

    nverts = self%get_nverts_2d() * (self%nlayers + 1)
  end function get_nverts

  !> Return the number of edges of all levels and layers.
  function get_nedges(self) result(nedges)
    class(mesh_type), intent(in) :: self
    integer(i_def) :: nedges

    nedges = self%get_nedges_2d() * (self%nlayers + 1) + self%get_nverts_2d() * self%nlayers
  end function get_nedges

  !> Return the number of faces of all levels and layers.
  function get_nfaces(self) result(nfaces)
    class(mesh_type), intent(in) :: self
    integer(i_def) :: nfaces

    nfaces = self%get_ncells_2d() * (self%nlayers + 1) + self%get_nedges_2d() * self%nlayers
  end function get_nfaces

  !> Return the number of vertices of a cell.
  function get_nverts_per_cell(self) result(nverts_per_cell)
    class(mesh_type), intent(in) :: self
    integer(i_def) :: nverts_per_cell

    nverts_per_cell = self%reference_element%get_number_vertices()
  end function get_nverts_per_cell

  !> Return the number of vertices of a cell of the horizontal mesh.
  function get_nverts_per_cell_2d(self) result(nverts_per_cell_2d)
    class(mesh_type), intent(in) :: self
    integer(i_def) :: nverts_per_cell_2d

    nverts_per_cell_2d = self%reference_element%get_number_2d_vertices()
  end function get_nverts_per_cell_2d

  !> Return the number of vertices of an edge.
  function get_nverts_per_edge(self) result(nverts_per_edge)
    class(mesh_type), intent(in) :: self
    integer(i_def) :: nverts_per_edge

    nverts_per_edge = self%reference_element%get_number_verts_per_edge()
  end function get_nverts_per_edge

  !> Return the number of edges of a cell.
  function get_nedges_per_cell(self) result(nedges_per_cell)
    class(mesh_type), intent(in) :: self
    integer(i_def) :: nedges_per_cell

    nedges_per_cell = self%reference_element%get_number_edges()
  end function get_nedges_per_cell

  !> Return the number of edges of a cell of the horizontal mesh.
  function get_nedges_per_cell_2d(self) result(nedges_per_cell_2d)
    class(mesh_type), intent(in) :: self
    integer(i_def) :: nedges_per_cell_2d

    nedges_per_cell_2d = self%reference_element%get_number_2d_edges()
  end function get_nedges_per_cell_2d

  !> Return the number of faces of a cell.
  function get_nfaces_per_cell(self) result(nfaces_per_cell)
    class(mesh_type), intent(in) :: self
    integer(i_def) :: nfaces_per_cell

    nfaces_per_cell = self%reference_element%get_number_faces()
  end function get_nfaces_per_cell

  !> Return the cell beyond a face of a cell, 0 if there is none or it is beyond the halo. A cell of
  !> the lowest layer stands for its column.
  function get_cell_next(self, iface, cell_lid) result(cell_next_lid)
    class(mesh_type), intent(in) :: self
    integer(i_def), intent(in) :: iface
    integer(i_def), intent(in) :: cell_lid
    integer(i_def) :: cell_next_lid

    integer(i_def) :: base, column

    base = (cell_lid - 1) / self%get_ncells_2d() * self%get_ncells_2d()
    column = cell_lid - base
    select case (iface)
    case (B)
      cell_next_lid = max(cell_lid - self%get_ncells_2d(), 0)
    case (T)
      cell_next_lid = cell_lid + self%get_ncells_2d()
      if (cell_next_lid > self%get_ncells()) cell_next_lid = 0
    case default
      cell_next_lid = self%local_mesh%get_cell_next(iface, column)
      if (cell_next_lid > self%get_ncells_2d()) cell_next_lid = 0
      if (cell_next_lid > 0) cell_next_lid = cell_next_lid + base
    end select
  end function get_cell_next

  !> Move over a side of a cell of the lowest layer and on to the side opposite to where the next is
  !> entered, which panels may call by another name; the cell is 0 if there is none.
  subroutine step_ahead(self, cell_lid, side)
    class(mesh_type), intent(in) :: self
    integer(i_def), intent(inout) :: cell_lid
    integer(i_def), intent(inout) :: side

    integer(i_def) :: next

    next = self%get_cell_next(side, cell_lid)
    if (next > 0) side = opposite(self%adjacent_face(side, cell_lid))
    cell_lid = next
  end subroutine step_ahead

  !> Return the vertex at a corner of a cell of the lowest layer.
  function get_vert_on_cell(self, ivert, icell) result(vert_lid)
    class(mesh_type), intent(in) :: self
    integer(i_def), intent(in) :: ivert
    integer(i_def), intent(in) :: icell
    integer(i_def) :: vert_lid

    vert_lid = self%local_mesh%get_vert_on_cell(modulo(ivert - 1, sides) + 1, icell)
    if (ivert > sides) vert_lid = vert_lid + self%get_nverts_2d()
  end function get_vert_on_cell

  !> Return the edge of a cell of the lowest layer: bottom edges are numbered first, then the
  !> upright ones, then those on top.
  function get_edge_on_cell(self, iedge, icell) result(edge_lid)
    class(mesh_type), intent(in) :: self
    integer(i_def), intent(in) :: iedge
    integer(i_def), intent(in) :: icell
    integer(i_def) :: edge_lid

    integer(i_def) :: place

    place = modulo(iedge - 1, sides) + 1
    select case ((iedge - 1) / sides)
    case (0)
      edge_lid = self%local_mesh%get_edge_on_cell(place, icell)
    case (1)
      edge_lid = self%get_nedges_2d() + self%local_mesh%get_vert_on_cell(place, icell)
    case default
      edge_lid = self%get_nedges_2d() + self%get_nverts_2d() + &
                 self%local_mesh%get_edge_on_cell(place, icell)
    end select
  end function get_edge_on_cell

  !> Return the face of a cell of the lowest layer: upright faces are numbered first, then those
  !> at the bottom, then those on top.
  function get_face_on_cell(self, iface, icell) result(face_lid)
    class(mesh_type), intent(in) :: self
    integer(i_def), intent(in) :: iface
    integer(i_def), intent(in) :: icell
    integer(i_def) :: face_lid

    select case (iface)
    case (B)
      face_lid = self%get_nedges_2d() + icell
    case (T)
      face_lid = self%get_nedges_2d() + self%get_ncells_2d() + icell
    case default
      face_lid = self%local_mesh%get_edge_on_cell(iface, icell)
    end select
  end function get_face_on_cell

  !> Return which face each side is of the neighbour beyond it, (side, cell); -1 if there is none.
  function get_adjacent_face(self) result(adjacent_face)
    class(mesh_type), target, intent(in) :: self
    integer(i_def), pointer :: adjacent_face(:, :)

    adjacent_face => self%adjacent_face
  end function get_adjacent_face

  !> Return the coordinates of a vertex.
  subroutine get_vert_coords(self, vert_lid, vertex_coords)
    class(mesh_type), intent(in) :: self
    integer(i_def), intent(in) :: vert_lid
    real(r_def), intent(out) :: vertex_coords(:)

    real(r_def) :: horizontal(2)
    integer(i_def) :: level

    level = (vert_lid - 1) / self%get_nverts_2d()
    call self%local_mesh%get_vert_coords(vert_lid - level * self%get_nverts_2d(), horizontal)
    vertex_coords(:3) = self%point_at(horizontal, level)
  end subroutine get_vert_coords

  !> Return the coordinates of the middle of a cell.
  subroutine get_cell_centre_coords(self, cell_lid, cell_centre_coords)
    class(mesh_type), intent(in) :: self
    integer(i_def), intent(in) :: cell_lid
    real(r_def), intent(out) :: cell_centre_coords(:)

    real(r_def) :: corners(3, 2 * sides)

    call self%get_cell_coords(cell_lid, corners)
    associate (centre => cell_centre_coords(:3))
      centre = sum(corners, 2) / real(2 * sides, r_def)
      ! The middle of a cell of a sphere is at the height that is the mean of its levels.
      if (self%is_geometry_spherical()) &
        centre = centre * (0.5_r_def * (norm2(corners(:, 1)) + norm2(corners(:, 2 * sides))) / &
                           norm2(centre))
    end associate
  end subroutine get_cell_centre_coords

  !> Return the coordinates of the vertices of a cell, (3, vertex).
  subroutine get_cell_coords(self, cell_lid, cell_coords)
    class(mesh_type), intent(in) :: self
    integer(i_def), intent(in) :: cell_lid
    real(r_def), intent(out) :: cell_coords(:, :)

    real(r_def) :: horizontal(2, sides)
    integer(i_def) :: corner, layer

    layer = (cell_lid - 1) / self%get_ncells_2d()
    call self%local_mesh%get_cell_coords(cell_lid - layer * self%get_ncells_2d(), horizontal)
    do corner = 1, sides
      cell_coords(:3, corner) = self%point_at(horizontal(:, corner), layer)
      cell_coords(:3, sides + corner) = self%point_at(horizontal(:, corner), layer + 1)
    end do
  end subroutine get_cell_coords

  !> Return the Cartesian coordinates of a point at a level, counted from 0. On a sphere, heights
  !> are distances from its centre.
  function point_at(self, horizontal, level) result(point)
    class(mesh_type), intent(in) :: self
    real(r_def), intent(in) :: horizontal(2)
    integer(i_def), intent(in) :: level
    real(r_def) :: point(3)

    point = [horizontal, self%height(level)]
    if (self%is_geometry_spherical()) &
      call llr2xyz(horizontal(1), horizontal(2), self%height(level), point(1), point(2), point(3))
  end function point_at

  !> Return the coordinates of the vertices of a column, (3, vertex, layer).
  subroutine get_column_coords(self, cell_lid, column_coords)
    class(mesh_type), intent(in) :: self
    integer(i_def), intent(in) :: cell_lid
    real(r_def), intent(out) :: column_coords(:, :, :)

    integer(i_def) :: k

    do k = 1, self%nlayers
      call self%get_cell_coords(cell_lid + (k - 1) * self%get_ncells_2d(), column_coords(:, :, k))
    end do
  end subroutine get_column_coords

  !> Return the height of a level, counted from 0.
  function height(self, level)
    class(mesh_type), intent(in) :: self
    integer(i_def), intent(in) :: level
    real(r_def) :: height

    height = self%domain_bottom + self%eta(level) * self%domain_top
  end function height

  !> Return the extent of the mesh.
  function get_domain(self) result(domain)
    class(mesh_type), intent(in) :: self
    type(domain_type) :: domain

    domain = domain_type(self%local_mesh%get_extent(), self%domain_bottom, &
                         self%domain_top, self%local_mesh%is_coord_sys_ll())
  end function get_domain

  !> Return the height of the top above the bottom.
  function get_domain_top(self) result(domain_top)
    class(mesh_type), intent(in) :: self
    real(r_def) :: domain_top

    domain_top = self%domain_top
  end function get_domain_top

  !> Return the thickness of the layers.
  subroutine get_dz(self, dz)
    class(mesh_type), intent(in) :: self
    real(r_def), intent(out) :: dz(:)

    dz = (self%eta(1:) - self%eta(:self%nlayers - 1)) * self%domain_top
  end subroutine get_dz

  !> Return the levels, scaled to 0 at the bottom and 1 at the top.
  subroutine get_eta(self, eta)
    class(mesh_type), intent(in) :: self
    real(r_def), intent(out) :: eta(:)

    eta = self%eta
  end subroutine get_eta

  !> Return the id over all ranks of a cell.
  function get_gid_from_lid(self, cell_lid) result(cell_gid)
    class(mesh_type), intent(in) :: self
    integer(i_def), intent(in) :: cell_lid
    integer(i_def) :: cell_gid

    cell_gid = self%local_mesh%get_gid_from_lid(cell_lid)
  end function get_gid_from_lid

  !> Return whether the mesh covers a sphere.
  function is_geometry_spherical(self) result(answer)
    class(mesh_type), intent(in) :: self
    logical(l_def) :: answer

    answer = self%local_mesh%is_geometry_spherical()
  end function is_geometry_spherical

  !> Return whether the mesh is a plane.
  function is_geometry_planar(self) result(answer)
    class(mesh_type), intent(in) :: self
    logical(l_def) :: answer

    answer = self%local_mesh%is_geometry_planar()
  end function is_geometry_planar

  !> Return whether the mesh has borders all round.
  function is_topology_non_periodic(self) result(answer)
    class(mesh_type), intent(in) :: self
    logical(l_def) :: answer

    answer = self%local_mesh%is_topology_non_periodic()
  end function is_topology_non_periodic

  !> Return whether the mesh is periodic in one direction only.
  function is_topology_channel(self) result(answer)
    class(mesh_type), intent(in) :: self
    logical(l_def) :: answer

    answer = self%local_mesh%is_topology_channel()
  end function is_topology_channel

  !> Return whether the mesh has no border.
  function is_topology_periodic(self) result(answer)
    class(mesh_type), intent(in) :: self
    logical(l_def) :: answer

    answer = self%local_mesh%is_topology_periodic()
  end function is_topology_periodic

  !> Return whether coordinates are Cartesian.
  function is_coord_sys_xyz(self) result(answer)
    class(mesh_type), intent(in) :: self
    logical(l_def) :: answer

    answer = self%local_mesh%is_coord_sys_xyz()
  end function is_coord_sys_xyz

  !> Return whether coordinates are longitude and latitude.
  function is_coord_sys_ll(self) result(answer)
    class(mesh_type), intent(in) :: self
    logical(l_def) :: answer

    answer = self%local_mesh%is_coord_sys_ll()
  end function is_coord_sys_ll

  !> Map the cells of this mesh to those that they cover, or are covered by, on a mesh of the same
  !> surface; stops the program if the cells of one do not divide those of the other.
  subroutine add_mesh_map(self, target_mesh)
    class(mesh_type), intent(inout) :: self
    type(mesh_type), pointer, intent(in) :: target_mesh

    if (self%query_mesh_map(target_mesh)) return
    call add_map(self%maps, mesh_map_type( &
      self%get_id(), target_mesh%get_id(), &
      self%local_mesh%get_cells_covered(target_mesh%local_mesh)))
  end subroutine add_mesh_map

  !> Return the map to another mesh, which must have been added.
  function get_mesh_map(self, target_mesh) result(mesh_map)
    class(mesh_type), intent(in) :: self
    type(mesh_type), pointer, intent(in) :: target_mesh
    type(mesh_map_type), pointer :: mesh_map

    mesh_map => get_map(self%maps, target_mesh%get_id())
    if (.not. associated(mesh_map)) then
      error stop 'get_mesh_map: no map to the target mesh has been added'
    end if
  end function get_mesh_map

  !> Return whether a map to another mesh has been added.
  function query_mesh_map(self, target_mesh) result(mesh_map_exists)
    class(mesh_type), intent(in) :: self
    type(mesh_type), pointer, intent(in) :: target_mesh
    logical(l_def) :: mesh_map_exists

    mesh_map_exists = associated(get_map(self%maps, target_mesh%get_id()))
  end function query_mesh_map

  !> Free the maps to other meshes and their copies on devices, before the mesh is freed.
  subroutine clear(self)
    use storage_tables_mod, only: forget_table

    class(mesh_type), target, intent(inout) :: self

    call self%forget_cells()
    call self%forget_tiles()
    if (allocated(self%adjacent_face)) call forget_table(self%adjacent_face)
    call clear_maps(self%maps)
  end subroutine clear

end module mesh_mod
