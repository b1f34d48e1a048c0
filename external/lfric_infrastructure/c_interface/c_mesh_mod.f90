!> Meshes for the C interface: horizontal meshes, columns over them, and maps between them.
!>
!> Arguments that would stop a Fortran program are refused before, with a message.
module c_mesh_mod

  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_funptr, c_int, c_int64_t
  use, intrinsic :: iso_fortran_env, only: int64
  use constants_mod, only: i_def, l_def, r_def, str_def
  use cubed_sphere_mod, only: cubed_sphere_type
  use extrusion_mod, only: extrusion_type, PRIME_EXTRUSION, quadratic_extrusion_type, &
                           uniform_extrusion_type, user_extrusion_type
  use handles_mod, only: add_object, done, find_object, object_type, refuse
  use listing_mod, only: entry_type, listing_type
  use local_mesh_mod, only: local_mesh_type
  use mesh_map_mod, only: mesh_map_type
  use mesh_mod, only: mesh_type
  use message_passing_mod, only: get_number_of_ranks, use_ranks_of_caller
  use partition_mod, only: why_not_cut
  use plane_mod, only: plane_type
  use reference_element_mod, only: reference_element_type
  use surface_mod, only: sides, surface_type

  implicit none
  private

  public :: find_mesh

  ! How the heights of levels are given
  integer(c_int), parameter :: uniform = 1
  integer(c_int), parameter :: quadratic = 2

  !> What a rank holds of a horizontal mesh.
  type, extends(object_type) :: surface_object_type
    type(local_mesh_type), pointer :: local => null()
  contains
    procedure, public :: release => release_surface
  end type surface_object_type

  !> A mesh, and results that would otherwise be computed for each query.
  type, extends(object_type), public :: mesh_object_type
    type(mesh_type), pointer :: mesh => null()
    integer(i_def), allocatable :: last_inner_cells(:), last_halo_cells(:)
    integer(i_def), allocatable :: last_inner_cells_of_colours(:, :)
    integer(i_def), allocatable :: last_edge_cells_of_colours(:)
    integer(i_def), allocatable :: last_halo_cells_of_colours(:, :)
    integer(i_def), allocatable :: last_inner_tiles_of_colours(:, :)
    integer(i_def), allocatable :: last_edge_tiles_of_colours(:)
    integer(i_def), allocatable :: last_halo_tiles_of_colours(:, :)
    integer(i_def), allocatable :: last_inner_cells_of_tiles(:, :, :)
    integer(i_def), allocatable :: last_edge_cells_of_tiles(:, :)
    integer(i_def), allocatable :: last_halo_cells_of_tiles(:, :, :)
    integer(i_def), allocatable :: cell_next(:, :), global_cell_ids(:), cell_owners(:)
    real(r_def), allocatable :: eta(:)
    real(r_def), allocatable :: normals(:, :), outward_normals(:, :)
  contains
    procedure, public :: release => release_mesh
  end type mesh_object_type

contains

  !> Set the rank and the function of the caller that exchanges integers between ranks.
  subroutine use_ranks(rank, ranks, swap) bind(c, name='lfric_use_ranks')
    integer(c_int), value :: rank
    integer(c_int), value :: ranks
    type(c_funptr), value :: swap

    call use_ranks_of_caller(rank, ranks, swap)
  end subroutine use_ranks

  !> Create this rank's part of a plane; called on all ranks.
  function new_plane(cells, widths, periodic, halo_depth, together, inner_halos, handle, message) &
    bind(c, name='lfric_new_plane') result(status)
    integer(c_int), intent(in) :: cells(2)
    real(c_double), intent(in) :: widths(2)
    integer(c_int), intent(in) :: periodic(2)
    integer(c_int), value :: halo_depth
    integer(c_int), value :: together
    integer(c_int), value :: inner_halos
    integer(c_int64_t), intent(out) :: handle
    character(c_char), intent(out) :: message(*)
    integer(c_int) :: status

    type(plane_type) :: plane
    type(surface_object_type), pointer :: made

    plane = plane_type(cells_x=cells(1), cells_y=cells(2), width_x=widths(1), width_y=widths(2))
    call check_surface(plane, halo_depth, together, message, status)
    if (status == done .and. .not. all(widths > 0)) &
      call refuse('cells have a width, of more than 0 metres', message, status)
    if (status /= done) return
    allocate (made)
    allocate (made%local)
    made%local = local_mesh_type('plane', cells(1), cells(2), widths(1), widths(2), &
                                 logical(periodic(1) /= 0, l_def), &
                                 logical(periodic(2) /= 0, l_def), halo_depth, together, &
                                 logical(inner_halos /= 0, l_def))
    handle = handle_of(made)
  end function new_plane

  !> Create this rank's part of a cubed sphere; called on all ranks.
  function new_sphere(edge_cells, halo_depth, together, inner_halos, handle, message) &
    bind(c, name='lfric_new_sphere') result(status)
    integer(c_int), value :: edge_cells
    integer(c_int), value :: halo_depth
    integer(c_int), value :: together
    integer(c_int), value :: inner_halos
    integer(c_int64_t), intent(out) :: handle
    character(c_char), intent(out) :: message(*)
    integer(c_int) :: status

    type(surface_object_type), pointer :: made

    call check_surface(cubed_sphere_type(edge_cells), halo_depth, together, message, status)
    if (status /= done) return
    allocate (made)
    allocate (made%local)
    made%local = local_mesh_type('sphere', edge_cells, halo_depth, together, &
                                 logical(inner_halos /= 0, l_def))
    handle = handle_of(made)
  end function new_sphere

  !> See whether a horizontal mesh can be made, and be cut for all ranks.
  subroutine check_surface(surface, halo_depth, together, message, status)
    class(surface_type), intent(in) :: surface
    integer(c_int), intent(in) :: halo_depth
    integer(c_int), intent(in) :: together
    character(c_char), intent(out) :: message(*)
    integer(c_int), intent(out) :: status

    character(:), allocatable :: problem

    status = done
    if (min(surface%cells_x, surface%cells_y) < 1) then
      problem = 'a mesh needs at least one cell in each direction'
    else if (int(surface%cells_x, int64) * surface%cells_y > &
             (huge(1_i_def) - sides) / (sides * surface%panels)) then
      problem = 'there are more vertices or edges than numbers of 32 bits can count'
    else if (halo_depth < 1) then
      problem = 'a halo is at least one cell deep'
    else if (together < 1) then
      problem = 'at least one cell stays together'
    else
      problem = why_not_cut(surface, get_number_of_ranks(), together)
    end if
    if (len(problem) > 0) call refuse(problem, message, status)
  end subroutine check_surface

  !> Return the handle of a new object.
  function handle_of(made) result(handle)
    class(object_type), pointer, intent(in) :: made
    integer(c_int64_t) :: handle

    handle = add_object(made)
  end function handle_of

  !> Make columns of layers over a horizontal mesh. `levels` are scaled to 0 at the bottom and 1 at
  !> the top, and looked at if `extrusion` is neither 1, uniform, nor 2, quadratic.
  function new_mesh(surface, layers, bottom, top, extrusion, levels, tile_size, handle, message) &
    bind(c, name='lfric_new_mesh') result(status)
    integer(c_int64_t), value :: surface
    integer(c_int), value :: layers
    real(c_double), value :: bottom
    real(c_double), value :: top
    integer(c_int), value :: extrusion
    real(c_double), intent(in) :: levels(*)
    integer(c_int), intent(in) :: tile_size(2)
    integer(c_int64_t), intent(out) :: handle
    character(c_char), intent(out) :: message(*)
    integer(c_int) :: status

    class(extrusion_type), allocatable :: chosen
    type(local_mesh_type), pointer :: local
    type(mesh_object_type), pointer :: made

    local => find_local_mesh(surface)
    call check_columns(local, layers, bottom, top, tile_size, message, status)
    if (status /= done) return
    select case (extrusion)
    case (uniform)
      allocate (chosen, source=uniform_extrusion_type(bottom, top, layers, PRIME_EXTRUSION))
    case (quadratic)
      allocate (chosen, source=quadratic_extrusion_type(bottom, top, layers, PRIME_EXTRUSION))
    case default
      if (.not. all(levels(2:layers + 1) > levels(1:layers))) then
        call refuse('levels do not ascend', message, status)
        return
      end if
      allocate (chosen, source=user_extrusion_type(bottom, top, levels(1:layers + 1), &
                                                   PRIME_EXTRUSION))
    end select
    allocate (made)
    allocate (made%mesh)
    made%mesh = mesh_type(local, chosen, tile_size=tile_size)
    made%built_on = surface
    call look_up_cells(made)
    call look_up_tiles(made)
    call look_up_shape(made)
    handle = handle_of(made)
  end function new_mesh

  !> See whether there can be columns over a horizontal mesh.
  subroutine check_columns(local, layers, bottom, top, tile_size, message, status)
    type(local_mesh_type), pointer, intent(in) :: local
    integer(c_int), intent(in) :: layers
    real(c_double), intent(in) :: bottom
    real(c_double), intent(in) :: top
    integer(c_int), intent(in) :: tile_size(2)
    character(c_char), intent(out) :: message(*)
    integer(c_int), intent(out) :: status

    status = done
    if (.not. associated(local)) then
      call refuse('there is no such horizontal mesh: it was freed', message, status)
    else if (local%is_geometry_spherical() .and. .not. bottom > 0) then
      call refuse('a sphere has a radius, its bottom, of more than 0', message, status)
    else if (layers < 1) then
      call refuse('a mesh needs at least one layer', message, status)
    else if (.not. top > 0) then
      call refuse('the top is not above the bottom', message, status)
    else if (int(layers + 1_int64, int64) * (local%get_n_unique_edges() + &
                                             local%get_n_unique_vertices()) > huge(1_i_def)) then
      call refuse('there are more edges than numbers of 32 bits can count', message, status)
    else if (any(tile_size < 1)) then
      call refuse('a tile needs at least one cell in each direction', message, status)
    end if
  end subroutine check_columns

  !> Note the last cells of groups.
  subroutine look_up_cells(made)
    type(mesh_object_type), intent(inout) :: made

    type(local_mesh_type), pointer :: local
    integer(i_def) :: cell, depth, side

    local => made%mesh%get_local_mesh()
    associate (mesh => made%mesh)
      made%last_inner_cells = [(mesh%get_last_inner_cell(depth), depth=1, mesh%get_inner_depth())]
      made%last_halo_cells = [(mesh%get_last_halo_cell(depth), depth=1, mesh%get_halo_depth())]
      made%last_inner_cells_of_colours = mesh%get_last_inner_cell_all_colours()
      made%last_edge_cells_of_colours = mesh%get_last_edge_cell_all_colours()
      made%last_halo_cells_of_colours = mesh%get_last_halo_cell_all_colours()
      allocate (made%cell_next(sides, mesh%get_ncells_2d()))
      do cell = 1, mesh%get_ncells_2d()
        made%cell_next(:, cell) = [(mesh%get_cell_next(side, cell), side=1, sides)]
      end do
      made%global_cell_ids = [(mesh%get_gid_from_lid(cell), cell=1, mesh%get_ncells_2d())]
      made%cell_owners = [(local%get_cell_owner(cell), cell=1, mesh%get_ncells_2d())]
    end associate
  end subroutine look_up_cells

  !> Note the last tiles of groups.
  subroutine look_up_tiles(made)
    type(mesh_object_type), intent(inout) :: made

    associate (mesh => made%mesh)
      made%last_inner_tiles_of_colours = mesh%get_last_inner_tile_all_colours()
      made%last_edge_tiles_of_colours = mesh%get_last_edge_tile_all_colours()
      made%last_halo_tiles_of_colours = mesh%get_last_halo_tile_all_colours()
      made%last_inner_cells_of_tiles = mesh%get_last_inner_cell_all_colours_all_tiles()
      made%last_edge_cells_of_tiles = mesh%get_last_edge_cell_all_colours_all_tiles()
      made%last_halo_cells_of_tiles = mesh%get_last_halo_cell_all_colours_all_tiles()
    end associate
  end subroutine look_up_tiles

  !> Note the heights of levels and the normals of the reference cell.
  subroutine look_up_shape(made)
    type(mesh_object_type), intent(inout) :: made

    class(reference_element_type), pointer :: cell

    allocate (made%eta(made%mesh%get_nlayers() + 1))
    call made%mesh%get_eta(made%eta)
    cell => made%mesh%get_reference_element()
    call cell%get_normals_to_faces(made%normals)
    call cell%get_outward_normals_to_faces(made%outward_normals)
  end subroutine look_up_shape

  !> Return the horizontal mesh of a handle, nothing if there is none.
  function find_local_mesh(handle) result(local)
    integer(c_int64_t), intent(in) :: handle
    type(local_mesh_type), pointer :: local

    class(object_type), pointer :: object

    local => null()
    object => find_object(handle)
    if (.not. associated(object)) return
    select type (object)
    type is (surface_object_type)
      local => object%local
    end select
  end function find_local_mesh

  !> Return the mesh of a handle, nothing if there is none.
  function find_mesh(handle) result(made)
    integer(c_int64_t), intent(in) :: handle
    type(mesh_object_type), pointer :: made

    class(object_type), pointer :: object

    made => null()
    object => find_object(handle)
    if (.not. associated(object)) return
    select type (object)
    type is (mesh_object_type)
      made => object
    end select
  end function find_mesh

  !> List the properties of a mesh in at most `room` entries; return the total number of entries, 0
  !> for an unknown handle.
  function describe_mesh(handle, entries, room) bind(c, name='lfric_describe_mesh') result(number)
    integer(c_int64_t), value :: handle
    integer(c_int), value :: room
    type(entry_type), target, intent(inout) :: entries(room)
    integer(c_int) :: number

    type(listing_type) :: list
    type(local_mesh_type), pointer :: local
    type(mesh_object_type), pointer :: made

    number = 0
    made => find_mesh(handle)
    if (.not. associated(made)) return
    call list%into(entries)
    local => made%mesh%get_local_mesh()
    associate (mesh => made%mesh)
      call list%put('nlayers', mesh%get_nlayers())
      call list%put('ncells_2d', mesh%get_ncells_2d())
      call list%put('ncells_2d_with_ghost', mesh%get_ncells_2d_with_ghost())
      call list%put('ncells_global', local%get_ncells_global_mesh())
      call list%put('halo_depth', mesh%get_halo_depth())
      call list%put('inner_depth', mesh%get_inner_depth())
      call list%put('last_edge_cell', mesh%get_last_edge_cell())
      call list%put('ncolours', mesh%get_ncolours())
      call list%put('ntilecolours', mesh%get_ntilecolours())
      call list%put('spherical', merge(1_i_def, 0_i_def, mesh%is_geometry_spherical()))
      call list%put('colour_map', mesh%get_colour_map())
      call list%put('tile_map', mesh%get_coloured_tiling_map())
      call list%put('adjacent_face', mesh%get_adjacent_face())
    end associate
    call list%put('last_inner_cells', made%last_inner_cells)
    call list%put('last_halo_cells', made%last_halo_cells)
    call list%put('last_inner_cells_of_colours', made%last_inner_cells_of_colours)
    call list%put('last_edge_cells_of_colours', made%last_edge_cells_of_colours)
    call list%put('last_halo_cells_of_colours', made%last_halo_cells_of_colours)
    call list%put('last_inner_tiles_of_colours', made%last_inner_tiles_of_colours)
    call list%put('last_edge_tiles_of_colours', made%last_edge_tiles_of_colours)
    call list%put('last_halo_tiles_of_colours', made%last_halo_tiles_of_colours)
    call list%put('last_inner_cells_of_tiles', made%last_inner_cells_of_tiles)
    call list%put('last_edge_cells_of_tiles', made%last_edge_cells_of_tiles)
    call list%put('last_halo_cells_of_tiles', made%last_halo_cells_of_tiles)
    call list%put('cell_next', made%cell_next)
    call list%put('global_cell_ids', made%global_cell_ids)
    call list%put('cell_owners', made%cell_owners)
    call list%put('eta', made%eta)
    call list%put('normals', made%normals)
    call list%put('outward_normals', made%outward_normals)
    number = list%number
  end function describe_mesh

  !> Show which cells of another mesh those of a mesh cover, or lie in.
  function describe_map(handle, other, entries, message) bind(c, name='lfric_describe_map') &
    result(status)
    integer(c_int64_t), value :: handle
    integer(c_int64_t), value :: other
    type(entry_type), target, intent(inout) :: entries(1)
    character(c_char), intent(out) :: message(*)
    integer(c_int) :: status

    character(:), allocatable :: problem
    type(listing_type) :: list
    type(local_mesh_type), pointer :: local, target_local
    type(mesh_map_type), pointer :: map
    type(mesh_object_type), pointer :: made, target_made

    status = done
    made => find_mesh(handle)
    target_made => find_mesh(other)
    if (.not. (associated(made) .and. associated(target_made))) then
      call refuse('there is no such mesh: it was freed', message, status)
      return
    end if
    local => made%mesh%get_local_mesh()
    target_local => target_made%mesh%get_local_mesh()
    problem = local%why_not_covered(target_local)
    if (len(problem) > 0) then
      call refuse(problem, message, status)
      return
    end if
    call made%mesh%add_mesh_map(target_made%mesh)
    map => made%mesh%get_mesh_map(target_made%mesh)
    call list%into(entries)
    call list%put('cells', map%get_whole_cell_map())
  end function describe_map

  !> Set the coordinates of the vertices of the cells of a layer, from 0: (3, vertex, cell).
  function cell_corners(handle, layer, corners) bind(c, name='lfric_cell_corners') result(status)
    integer(c_int64_t), value :: handle
    integer(c_int), value :: layer
    real(c_double), intent(out) :: corners(3, 2 * sides, *)
    integer(c_int) :: status

    integer(i_def) :: cell
    type(mesh_object_type), pointer :: made

    status = 1
    made => find_mesh(handle)
    if (.not. associated(made)) return
    if (layer < 0 .or. layer >= made%mesh%get_nlayers()) return
    do cell = 1, made%mesh%get_ncells_2d()
      call made%mesh%get_cell_coords(cell + layer * made%mesh%get_ncells_2d(), corners(:, :, cell))
    end do
    status = done
  end function cell_corners

  !> Free this rank's part of a horizontal mesh.
  subroutine release_surface(self)
    class(surface_object_type), intent(inout) :: self

    deallocate (self%local)
  end subroutine release_surface

  !> Give a mesh back.
  subroutine release_mesh(self)
    class(mesh_object_type), intent(inout) :: self

    call self%mesh%clear()
    deallocate (self%mesh)
  end subroutine release_mesh

end module c_mesh_mod
