!> The function space: which dofs its cells hold, in which order, and their basis functions.
!>
!> The order of the dofs is that of dof_numbering_mod, the basis that of element_mod.
module function_space_mod

  use constants_mod, only: i_def, i_halo_index, l_def, r_def
  use dof_numbering_mod, only: dof_numbering_type
  use element_mod, only: derivative_at => evaluate_diff, element_type, is_on_top, is_shared, &
                         is_upright, new_element, value_at => evaluate
  use fs_continuity_mod, only: W0, W2trace, Wchi
  use halo_routing_mod, only: halo_routing_type
  use linked_list_data_mod, only: linked_list_data_type
  use mesh_mod, only: mesh_type
  use reference_element_mod, only: B, FACE_OFFSET, W
  use stencil_2D_dofmap_mod, only: stencil_2D_dofmap_type
  use stencil_dofmap_mod, only: stencil_dofmap_type
  use stencil_maps_mod, only: add_map, add_map_2D, clear_maps, get_map, get_map_2D, &
                              stencil_maps_type

  implicit none
  private

  ! What call_function is to evaluate
  integer(i_def), parameter, public :: BASIS = 1
  integer(i_def), parameter, public :: DIFF_BASIS = 2

  !> Heights, in layers, that are no further apart than rounding makes them are one.
  real(r_def), parameter :: apart = 1.0e-6_r_def

  !> Spaces that have dofs at the bottom and the top which, as in LFRic, nothing tells from others.
  integer(i_def), parameter :: unmarked_at_boundaries(2) = [W0, W2trace]

  !> The routing of a halo exchange that has been asked for.
  type :: halo_routing_holder
    type(halo_routing_type), pointer :: routing => null()
  end type halo_routing_holder

  !> A space of functions over a mesh, with `ndata` values at each dof.
  type, extends(linked_list_data_type), public :: function_space_type
    private
    type(mesh_type), pointer :: mesh => null()
    integer(i_def) :: fs = 0
    integer(i_def) :: element_order_h = 0
    integer(i_def) :: element_order_v = 0
    type(element_type) :: element
    type(dof_numbering_type) :: numbering
    integer(i_def), allocatable :: boundary_dofs(:, :)
    integer(i_def), allocatable :: orientation(:)
    real(r_def), allocatable :: levels(:)
    type(stencil_maps_type) :: stencils
    type(halo_routing_holder), allocatable :: routings(:)
  contains
    procedure, non_overridable, public :: get_undf
    procedure, non_overridable, public :: get_ndof_glob
    procedure, non_overridable, public :: get_ncell
    procedure, non_overridable, public :: get_nlayers
    procedure, non_overridable, public :: get_ndf
    procedure, non_overridable, public :: get_ndof_interior
    procedure, non_overridable, public :: get_ndof_face_h
    procedure, non_overridable, public :: get_ndof_face_v
    procedure, non_overridable, public :: get_cell_dofmap
    procedure, non_overridable, public :: get_whole_dofmap
    procedure, non_overridable, public :: get_levels
    procedure, non_overridable, public :: get_nodes
    procedure, non_overridable, public :: get_boundary_dofs
    procedure, non_overridable, public :: get_entity_dofs
    procedure, non_overridable, public :: get_global_dof_id

    procedure, non_overridable, public :: which
    procedure, non_overridable, public :: get_dim_space
    procedure, non_overridable, public :: get_dim_space_diff
    procedure, non_overridable, public :: get_mesh
    procedure, non_overridable, public :: get_mesh_id
    procedure, non_overridable, public :: get_element_order_h
    procedure, non_overridable, public :: get_element_order_v
    procedure, non_overridable, public :: get_ndata
    procedure, non_overridable, public :: is_ndata_first
    procedure, non_overridable, public :: is_readonly
    procedure, non_overridable, public :: is_writable

    procedure, non_overridable, public :: call_function
    procedure, non_overridable, public :: compute_basis_function
    procedure, non_overridable, public :: compute_diff_basis_function

    procedure, non_overridable, public :: get_last_dof_owned
    procedure, non_overridable, public :: get_last_dof_annexed
    procedure, public :: get_last_dof_halo_any
    procedure, public :: get_last_dof_halo_deepest
    generic, public :: get_last_dof_halo => get_last_dof_halo_any, get_last_dof_halo_deepest
    procedure, non_overridable, public :: get_halo_depth
    procedure, non_overridable, public :: get_halo_routing
    procedure, non_overridable, public :: forget_routings

    procedure, non_overridable, public :: get_stencil_dofmap
    procedure, non_overridable, public :: get_stencil_2D_dofmap
    procedure, non_overridable, public :: get_ncolours
    procedure, non_overridable, public :: get_colours
    procedure, non_overridable, public :: get_cell_orientation
    procedure, non_overridable, public :: clear
  end type function_space_type

  interface function_space_type
    module procedure new_function_space, new_function_space_on
  end interface function_space_type

contains

  !> Return a space over the mesh of this id, with one value at each dof unless `ndata` says
  !> otherwise; with `ndata_first` the values of a dof are contiguous.
  function new_function_space(mesh_id, element_order_h, element_order_v, lfric_fs, ndata, &
                              ndata_first) result(instance)
    use mesh_collection_mod, only: mesh_collection

    integer(i_def), intent(in) :: mesh_id
    integer(i_def), intent(in) :: element_order_h
    integer(i_def), intent(in) :: element_order_v
    integer(i_def), intent(in) :: lfric_fs
    integer(i_def), optional, intent(in) :: ndata
    logical(l_def), optional, intent(in) :: ndata_first
    type(function_space_type) :: instance

    instance = new_function_space_on(mesh_collection%get_mesh(mesh_id), element_order_h, &
                                     element_order_v, lfric_fs, ndata, ndata_first)
  end function new_function_space

  !> Return a space over a mesh.
  function new_function_space_on(mesh, element_order_h, element_order_v, lfric_fs, ndata, &
                                 ndata_first) result(instance)
    type(mesh_type), pointer, intent(in) :: mesh
    integer(i_def), intent(in) :: element_order_h
    integer(i_def), intent(in) :: element_order_v
    integer(i_def), intent(in) :: lfric_fs
    integer(i_def), optional, intent(in) :: ndata
    logical(l_def), optional, intent(in) :: ndata_first
    type(function_space_type) :: instance

    integer(i_def) :: values
    logical(l_def) :: values_first

    instance%mesh => mesh
    instance%fs = lfric_fs
    instance%element_order_h = element_order_h
    instance%element_order_v = element_order_v
    values = 1
    values_first = .false.
    if (present(ndata)) values = ndata
    if (present(ndata_first)) values_first = ndata_first
    instance%element = new_element(lfric_fs, element_order_h, element_order_v, &
                                   instance%mesh%get_reference_element())
    allocate (instance%routings(instance%mesh%get_halo_depth()))
    instance%numbering = dof_numbering_type(instance%element, instance%mesh, values, values_first)
    call find_levels(instance)
  end function new_function_space_on

  !> Set the heights of dofs in layers, and which dofs lie at the bottom and the top.
  subroutine find_levels(self)
    type(function_space_type), intent(inout) :: self

    real(r_def) :: heights(self%element%ndf), last
    integer(i_def) :: df, layer

    allocate (self%boundary_dofs(self%element%ndf, 2), self%orientation(self%element%ndf))
    self%boundary_dofs = 1
    self%orientation = 1
    do df = 1, self%element%ndf
      if (any(self%fs == unmarked_at_boundaries) .or. is_upright(self%element, df)) cycle
      self%boundary_dofs(df, merge(2, 1, is_on_top(self%element, df))) = 0
    end do
    allocate (self%levels(0))
    last = -1.0_r_def
    do layer = 1, self%mesh%get_nlayers()
      heights = real(layer - 1, r_def) + self%element%nodes(3, :)
      do while (any(heights > last + apart))
        last = minval(heights, mask=heights > last + apart)
        self%levels = [self%levels, last]
      end do
    end do
  end subroutine find_levels

  !> Return the number of dofs that this rank holds.
  function get_undf(self) result(undf)
    class(function_space_type), intent(in) :: self
    integer(i_def) :: undf

    undf = self%numbering%last_halo(self%get_halo_depth())
  end function get_undf

  !> Return the number of dofs over all ranks.
  function get_ndof_glob(self) result(ndof_glob)
    class(function_space_type), intent(in) :: self
    integer(i_def) :: ndof_glob

    ndof_glob = int(self%numbering%dofs_over_ranks, i_def)
  end function get_ndof_glob

  !> Return the number of cells of this rank, those of halos included.
  function get_ncell(self) result(ncells_2d)
    class(function_space_type), intent(in) :: self
    integer(i_def) :: ncells_2d

    ncells_2d = self%mesh%get_ncells_2d()
  end function get_ncell

  !> Return the number of layers.
  function get_nlayers(self) result(nlayers)
    class(function_space_type), intent(in) :: self
    integer(i_def) :: nlayers

    nlayers = self%mesh%get_nlayers()
  end function get_nlayers

  !> Return the number of dofs of a cell.
  function get_ndf(self) result(ndof_cell)
    class(function_space_type), intent(in) :: self
    integer(i_def) :: ndof_cell

    ndof_cell = self%element%ndf
  end function get_ndf

  !> Return the number of dofs of a cell that are not shared with the cells below and above.
  function get_ndof_interior(self) result(ndof_interior)
    class(function_space_type), intent(in) :: self
    integer(i_def) :: ndof_interior

    integer(i_def) :: df

    ndof_interior = count([(.not. is_shared(self%element, df), df=1, self%element%ndf)], &
                          kind=i_def)
  end function get_ndof_interior

  !> Return the number of dofs of a side face.
  function get_ndof_face_h(self) result(ndof_face_h)
    class(function_space_type), intent(in) :: self
    integer(i_def) :: ndof_face_h

    ndof_face_h = count(self%element%entities == FACE_OFFSET + W, kind=i_def)
    if (self%element%broken) ndof_face_h = 0
  end function get_ndof_face_h

  !> Return the number of dofs of a bottom or top face.
  function get_ndof_face_v(self) result(ndof_face_v)
    class(function_space_type), intent(in) :: self
    integer(i_def) :: ndof_face_v

    ndof_face_v = count(self%element%entities == FACE_OFFSET + B, kind=i_def)
    if (self%element%broken) ndof_face_v = 0
  end function get_ndof_face_v

  !> Return the dofs at the bottom of the column of one cell.
  function get_cell_dofmap(self, cell_lid) result(map)
    class(function_space_type), target, intent(in) :: self
    integer(i_def), intent(in) :: cell_lid
    integer(i_def), pointer :: map(:)

    map => self%numbering%dofmap(:, cell_lid)
  end function get_cell_dofmap

  !> Return the dofs at the bottom of every column, (dof, cell).
  function get_whole_dofmap(self) result(map)
    class(function_space_type), target, intent(in) :: self
    integer(i_def), pointer :: map(:, :)

    map => self%numbering%dofmap
  end function get_whole_dofmap

  !> Return the heights at which a column has dofs, in layers.
  function get_levels(self) result(levels)
    class(function_space_type), target, intent(in) :: self
    real(r_def), pointer :: levels(:)

    levels => self%levels
  end function get_levels

  !> Return the places of the dofs in the reference cell, (3, dof).
  function get_nodes(self) result(nodal_coords)
    class(function_space_type), target, intent(in) :: self
    real(r_def), pointer :: nodal_coords(:, :)

    nodal_coords => self%element%nodes
  end function get_nodes

  !> Return 0 for dofs at the (dof, 1) bottom or (dof, 2) top of a cell, else 1; always 1 on W0 and
  !> W2trace.
  function get_boundary_dofs(self) result(boundary_dofs)
    class(function_space_type), target, intent(in) :: self
    integer(i_def), pointer :: boundary_dofs(:, :)

    boundary_dofs => self%boundary_dofs
  end function get_boundary_dofs

  !> Return the label of what each dof of a cell belongs to.
  function get_entity_dofs(self) result(entity_dofs)
    class(function_space_type), target, intent(in) :: self
    integer(i_def), pointer :: entity_dofs(:)

    entity_dofs => self%element%entities
  end function get_entity_dofs

  !> Return the id over all ranks, from 0, of every dof.
  subroutine get_global_dof_id(self, global_dof_id)
    class(function_space_type), target, intent(in) :: self
    integer(i_halo_index), allocatable, intent(out) :: global_dof_id(:)

    allocate (global_dof_id, source=self%numbering%global_ids)
  end subroutine get_global_dof_id

  !> Return which space it is.
  function which(self) result(fs)
    class(function_space_type), intent(in) :: self
    integer(i_def) :: fs

    fs = self%fs
  end function which

  !> Return the size of a value of the basis.
  function get_dim_space(self) result(dim)
    class(function_space_type), intent(in) :: self
    integer(i_def) :: dim

    dim = self%element%dim_space
  end function get_dim_space

  !> Return the size of a value of the differentiated basis.
  function get_dim_space_diff(self) result(dim)
    class(function_space_type), intent(in) :: self
    integer(i_def) :: dim

    dim = self%element%dim_space_diff
  end function get_dim_space_diff

  !> Return the mesh.
  function get_mesh(self) result(mesh)
    class(function_space_type), intent(in) :: self
    type(mesh_type), pointer :: mesh

    mesh => self%mesh
  end function get_mesh

  !> Return the id of the mesh.
  function get_mesh_id(self) result(mesh_id)
    class(function_space_type), intent(in) :: self
    integer(i_def) :: mesh_id

    mesh_id = self%mesh%get_id()
  end function get_mesh_id

  !> Return the order of the element in the horizontal.
  function get_element_order_h(self) result(element_order_h)
    class(function_space_type), intent(in) :: self
    integer(i_def) :: element_order_h

    element_order_h = self%element_order_h
  end function get_element_order_h

  !> Return the order of the element in the vertical.
  function get_element_order_v(self) result(element_order_v)
    class(function_space_type), intent(in) :: self
    integer(i_def) :: element_order_v

    element_order_v = self%element_order_v
  end function get_element_order_v

  !> Return the number of values at each dof.
  function get_ndata(self) result(ndata)
    class(function_space_type), intent(in) :: self
    integer(i_def) :: ndata

    ndata = self%numbering%ndata
  end function get_ndata

  !> Return whether the values of a dof are contiguous.
  function is_ndata_first(self) result(flag)
    class(function_space_type), intent(in) :: self
    logical(l_def) :: flag

    flag = self%numbering%ndata_first
  end function is_ndata_first

  !> Return whether fields on the space may only be read.
  function is_readonly(self) result(return_readonly)
    class(function_space_type), intent(in) :: self
    logical(l_def) :: return_readonly

    return_readonly = self%fs == Wchi
  end function is_readonly

  !> Return whether fields on the space may be written.
  function is_writable(self) result(return_writable)
    class(function_space_type), intent(in) :: self
    logical(l_def) :: return_writable

    return_writable = .not. self%is_readonly()
  end function is_writable

  !> Return the value of a basis function (BASIS) or of its derivative (DIFF_BASIS) at a point.
  function call_function(self, function_to_call, df, xi) result(evaluate)
    class(function_space_type), intent(in) :: self
    integer(i_def), intent(in) :: function_to_call
    integer(i_def), intent(in) :: df
    real(r_def), intent(in) :: xi(3)
    real(r_def), allocatable :: evaluate(:)

    select case (function_to_call)
    case (BASIS)
      allocate (evaluate, source=value_at(self%element, df, xi))
    case (DIFF_BASIS)
      allocate (evaluate, source=derivative_at(self%element, df, xi))
    case default
      error stop 'call_function: neither BASIS nor DIFF_BASIS'
    end select
  end function call_function

  !> Set the basis functions at horizontal points, (point, 2),
  !> and heights, as (size, dof, point, height).
  subroutine compute_basis_function(self, basis, ndf, qp_h, qp_v, x_qp, z_qp)
    class(function_space_type), intent(in) :: self
    integer(i_def), intent(in) :: ndf
    integer(i_def), intent(in) :: qp_h
    integer(i_def), intent(in) :: qp_v
    real(r_def), intent(in) :: x_qp(qp_h, 2)
    real(r_def), intent(in) :: z_qp(qp_v)
    real(r_def), intent(out) :: basis(self%element%dim_space, ndf, qp_h, qp_v)

    integer(i_def) :: df, i, k

    do k = 1, qp_v
      do i = 1, qp_h
        do df = 1, ndf
          basis(:, df, i, k) = value_at(self%element, df, [x_qp(i, :), z_qp(k)])
        end do
      end do
    end do
  end subroutine compute_basis_function

  !> Set the derivatives of the basis functions at horizontal points, (point, 2),
  !> and heights, as (size, dof, point, height).
  subroutine compute_diff_basis_function(self, dbasis, ndf, qp_h, qp_v, x_qp, z_qp)
    class(function_space_type), intent(in) :: self
    integer(i_def), intent(in) :: ndf
    integer(i_def), intent(in) :: qp_h
    integer(i_def), intent(in) :: qp_v
    real(r_def), intent(in) :: x_qp(qp_h, 2)
    real(r_def), intent(in) :: z_qp(qp_v)
    real(r_def), intent(out) :: dbasis(self%element%dim_space_diff, ndf, qp_h, qp_v)

    integer(i_def) :: df, i, k

    do k = 1, qp_v
      do i = 1, qp_h
        do df = 1, ndf
          dbasis(:, df, i, k) = derivative_at(self%element, df, [x_qp(i, :), z_qp(k)])
        end do
      end do
    end do
  end subroutine compute_diff_basis_function

  !> Return the last dof that this rank owns.
  function get_last_dof_owned(self) result(last_dof_owned)
    class(function_space_type), intent(in) :: self
    integer(i_def) :: last_dof_owned

    last_dof_owned = self%numbering%last_owned
  end function get_last_dof_owned

  !> Return the last dof of an owned cell.
  function get_last_dof_annexed(self) result(last_dof_annexed)
    class(function_space_type), intent(in) :: self
    integer(i_def) :: last_dof_annexed

    last_dof_annexed = self%numbering%last_annexed
  end function get_last_dof_annexed

  !> Return the last dof of the halo to a depth.
  function get_last_dof_halo_any(self, depth) result(last_dof_halo)
    class(function_space_type), intent(in) :: self
    integer(i_def), intent(in) :: depth
    integer(i_def) :: last_dof_halo

    last_dof_halo = self%numbering%last_halo(depth)
  end function get_last_dof_halo_any

  !> Return the last dof of the halo.
  function get_last_dof_halo_deepest(self) result(last_dof_halo)
    class(function_space_type), intent(in) :: self
    integer(i_def) :: last_dof_halo

    last_dof_halo = self%numbering%last_halo(self%get_halo_depth())
  end function get_last_dof_halo_deepest

  !> Return the number of depths of the halo.
  function get_halo_depth(self) result(halo_depth)
    class(function_space_type), intent(in) :: self
    integer(i_def) :: halo_depth

    halo_depth = self%mesh%get_halo_depth()
  end function get_halo_depth

  !> Return how a halo exchange of a depth moves the dofs, which is found when first asked for; all
  !> ranks ask together.
  function get_halo_routing(self, depth) result(routing)
    class(function_space_type), intent(inout) :: self
    integer(i_def), intent(in) :: depth
    type(halo_routing_type), pointer :: routing

    associate (numbering => self%numbering)
      if (.not. associated(self%routings(depth)%routing)) then
        allocate (self%routings(depth)%routing)
        self%routings(depth)%routing = halo_routing_type( &
          numbering%global_ids(:numbering%last_halo(depth)), &
          numbering%owners(:numbering%last_halo(depth)), numbering%last_owned)
      end if
    end associate
    routing => self%routings(depth)%routing
  end function get_halo_routing

  !> Free the routings of halo exchanges. Nobody may have used them in exchanges of fields, which
  !> remember them.
  subroutine forget_routings(self)
    class(function_space_type), intent(inout) :: self

    integer :: depth

    do depth = 1, size(self%routings)
      if (associated(self%routings(depth)%routing)) deallocate (self%routings(depth)%routing)
    end do
  end subroutine forget_routings

  !> Return the stencils of a shape and an extent, which are made when first asked for.
  function get_stencil_dofmap(self, stencil_shape, stencil_extent) result(map)
    class(function_space_type), intent(inout) :: self
    integer(i_def), intent(in) :: stencil_shape
    integer(i_def), intent(in) :: stencil_extent
    type(stencil_dofmap_type), pointer :: map

    map => get_map(self%stencils, stencil_shape, stencil_extent)
    if (associated(map)) return
    call add_map(self%stencils, stencil_shape, stencil_extent, stencil_dofmap_type( &
      stencil_shape, stencil_extent, self%mesh, self%numbering%dofmap))
    map => get_map(self%stencils, stencil_shape, stencil_extent)
  end function get_stencil_dofmap

  !> Return the stencils of a shape and an extent, which are made when first asked for.
  function get_stencil_2D_dofmap(self, stencil_shape, stencil_extent) result(map)
    class(function_space_type), intent(inout) :: self
    integer(i_def), intent(in) :: stencil_shape
    integer(i_def), intent(in) :: stencil_extent
    type(stencil_2D_dofmap_type), pointer :: map

    map => get_map_2D(self%stencils, stencil_shape, stencil_extent)
    if (associated(map)) return
    call add_map_2D(self%stencils, stencil_shape, stencil_extent, stencil_2D_dofmap_type( &
      stencil_shape, stencil_extent, self%mesh, self%numbering%dofmap))
    map => get_map_2D(self%stencils, stencil_shape, stencil_extent)
  end function get_stencil_2D_dofmap

  !> Return the number of colours of the mesh.
  function get_ncolours(self) result(ncolours)
    class(function_space_type), intent(in) :: self
    integer(i_def) :: ncolours

    ncolours = self%mesh%get_ncolours()
  end function get_ncolours

  !> Set the number of colours, of cells of each, and the cells, (colour, place).
  subroutine get_colours(self, ncolours, ncells_per_colour, colour_map)
    class(function_space_type), intent(in) :: self
    integer(i_def), intent(out) :: ncolours
    integer(i_def), pointer, intent(out) :: ncells_per_colour(:)
    integer(i_def), pointer, intent(out) :: colour_map(:, :)

    call self%mesh%get_colours(ncolours, ncells_per_colour, colour_map)
  end subroutine get_colours

  !> Return the sign of every dof of a cell; all cells agree on them, so all are 1.
  function get_cell_orientation(self, cell) result(cell_orientation)
    class(function_space_type), target, intent(in) :: self
    integer(i_def), intent(in) :: cell
    integer(i_def), pointer :: cell_orientation(:)

    cell_orientation => self%orientation
  end function get_cell_orientation

  !> Give the stencil maps back, and up what devices have of all maps, before the space is freed.
  subroutine clear(self)
    use storage_tables_mod, only: forget_table

    class(function_space_type), target, intent(inout) :: self

    if (.not. allocated(self%levels)) return
    call forget_table(self%numbering%dofmap)
    call forget_table(self%boundary_dofs)
    call forget_table(self%orientation)
    call forget_table(self%levels)
    call forget_table(self%element%nodes)
    call forget_table(self%element%entities)
    call clear_maps(self%stencils)
  end subroutine clear

end module function_space_mod
