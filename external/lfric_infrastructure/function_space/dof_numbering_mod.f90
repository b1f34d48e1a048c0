!> The order of the dofs on a rank, their owners and their ids over all ranks.
!>
!> Dofs are in columns, contiguous in the vertical, over a vertex, an edge or a cell; those of a
!> broken space are in a column for each cell and dof. Columns that the rank owns come first, then
!> the annexed ones, which other ranks own but owned cells have, then those of each halo depth;
!> within a group a column is numbered when the first cell that holds it is met. A column belongs
!> to the rank of the cell that its vertex or edge belongs to (see local_mesh_mod), so all ranks
!> agree without asking.
module dof_numbering_mod

  use constants_mod, only: i_def, i_halo_index, l_def
  use element_mod, only: element_type, is_on_top, is_shared, on_cell, on_edge, place_of, sits_on
  use local_mesh_mod, only: local_mesh_type
  use mesh_mod, only: mesh_type
  use message_passing_mod, only: get_rank

  implicit none
  private

  !> The dofs of one rank. A dof has `ndata` values, contiguous if `ndata_first`, else column by
  !> column; each of them counts as a dof below.
  type, public :: dof_numbering_type
    integer(i_def) :: ndata = 1
    logical(l_def) :: ndata_first = .false.
    !> The dofs at the bottom of every column, (dof of cell, cell).
    integer(i_def), allocatable :: dofmap(:, :)
    integer(i_def) :: last_owned = 0
    integer(i_def) :: last_annexed = 0
    !> The last dof of each level of the halo, from 0: behind the annexed ones.
    integer(i_def), allocatable :: last_halo(:)
    !> For every dof the rank, from 0, that owns it, and its id over all ranks, from 0.
    integer(i_def), allocatable :: owners(:)
    integer(i_halo_index), allocatable :: global_ids(:)
    integer(i_halo_index) :: dofs_over_ranks = 0
  end type dof_numbering_type

  interface dof_numbering_type
    module procedure new_dof_numbering
  end interface dof_numbering_type

contains

  !> Return the order of the dofs of an element over a mesh.
  function new_dof_numbering(element, mesh, ndata, ndata_first) result(self)
    type(element_type), intent(in) :: element
    type(mesh_type), intent(in) :: mesh
    integer(i_def), intent(in) :: ndata
    logical(l_def), intent(in) :: ndata_first
    type(dof_numbering_type) :: self

    !> The first dof of each column, (vertex, edge or cell; family).
    integer(i_def), allocatable :: first_dof(:, :)

    self%ndata = ndata
    self%ndata_first = ndata_first
    allocate (first_dof(max(mesh%get_nverts_2d(), mesh%get_nedges_2d(), mesh%get_ncells_2d()), &
                        element%ndf))
    call number_columns(self, element, mesh, first_dof)
    call fill_dofmap(self, element, mesh, first_dof)
    call identify_dofs(self, element, mesh, first_dof)
  end function new_dof_numbering

  !> Set the first dof of every column and how far each group of dofs reaches.
  subroutine number_columns(self, element, mesh, first_dof)
    type(dof_numbering_type), intent(inout) :: self
    type(element_type), intent(in) :: element
    type(mesh_type), intent(in) :: mesh
    integer(i_def), intent(out) :: first_dof(:, :)

    integer(i_def) :: depth, last_cell, last_dof, rank

    first_dof = 0
    last_dof = 0
    last_cell = 0
    rank = get_rank()
    call visit_cells(mesh%get_last_edge_cell(), owned_only=.true.)
    self%last_owned = last_dof
    last_cell = 0
    call visit_cells(mesh%get_last_edge_cell(), owned_only=.false.)
    self%last_annexed = last_dof
    allocate (self%last_halo(0:mesh%get_halo_depth()))
    self%last_halo(0) = last_dof
    do depth = 1, mesh%get_halo_depth()
      call visit_cells(mesh%get_last_halo_cell(depth), owned_only=.false.)
      self%last_halo(depth) = last_dof
    end do

  contains

    !> Number the columns of the next cells that have no number yet.
    subroutine visit_cells(to_cell, owned_only)
      integer(i_def), intent(in) :: to_cell
      logical, intent(in) :: owned_only

      integer(i_def) :: cell, df, entity, family

      do cell = last_cell + 1, to_cell
        do df = 1, element%ndf
          entity = entity_of(element, mesh, df, cell)
          family = element%families(df)
          if (first_dof(entity, family) > 0) cycle
          if (owned_only .and. owner_of(element, mesh, df, entity) /= rank) cycle
          first_dof(entity, family) = last_dof + 1
          last_dof = last_dof + size_of_column(self, element, mesh, df)
        end do
      end do
      last_cell = to_cell
    end subroutine visit_cells

  end subroutine number_columns

  !> Set the dofs at the bottom of every column.
  subroutine fill_dofmap(self, element, mesh, first_dof)
    type(dof_numbering_type), intent(inout) :: self
    type(element_type), intent(in) :: element
    type(mesh_type), intent(in) :: mesh
    integer(i_def), intent(in) :: first_dof(:, :)

    integer(i_def) :: cell, df, step

    allocate (self%dofmap(element%ndf, mesh%get_ncells_2d()))
    step = merge(self%ndata, 1_i_def, self%ndata_first)
    do cell = 1, mesh%get_ncells_2d()
      do df = 1, element%ndf
        self%dofmap(df, cell) = &
          first_dof(entity_of(element, mesh, df, cell), element%families(df))
        if (is_shared(element, df) .and. is_on_top(element, df)) &
          self%dofmap(df, cell) = self%dofmap(df, cell) + step
      end do
    end do
  end subroutine fill_dofmap

  !> Set the owner and the id over all ranks of every dof. Ids count family by family, and within
  !> one by the ids over all ranks of vertices, edges or cells.
  subroutine identify_dofs(self, element, mesh, first_dof)
    type(dof_numbering_type), intent(inout) :: self
    type(element_type), intent(in) :: element
    type(mesh_type), intent(in) :: mesh
    integer(i_def), intent(in) :: first_dof(:, :)

    integer(i_halo_index) :: first_id, place
    integer(i_def) :: df, dofs, entity, first

    allocate (self%owners(self%last_halo(mesh%get_halo_depth())))
    allocate (self%global_ids(size(self%owners)))
    do df = 1, element%ndf
      if (element%families(df) /= df) cycle
      dofs = size_of_column(self, element, mesh, df)
      do entity = 1, size(first_dof, 1, i_def)
        first = first_dof(entity, df)
        if (first == 0) cycle
        first_id = self%dofs_over_ranks + &
                   int(global_entity(element, mesh, df, entity) - 1, i_halo_index) * dofs
        self%owners(first:first + dofs - 1) = owner_of(element, mesh, df, entity)
        self%global_ids(first:first + dofs - 1) = [(first_id + place, place=0, dofs - 1)]
      end do
      self%dofs_over_ranks = self%dofs_over_ranks + &
        int(entities_over_ranks(element, mesh, df), i_halo_index) * dofs
    end do
  end subroutine identify_dofs

  !> Return the number of dofs of a column that a dof of a cell is in.
  function size_of_column(self, element, mesh, df) result(dofs)
    type(dof_numbering_type), intent(in) :: self
    type(element_type), intent(in) :: element
    type(mesh_type), intent(in) :: mesh
    integer(i_def), intent(in) :: df
    integer(i_def) :: dofs

    dofs = self%ndata * (mesh%get_nlayers() + merge(1, 0, is_shared(element, df)))
  end function size_of_column

  !> Return what a dof sits on, if all spaces that are broken sit on their cell.
  function seat_of(element, df) result(seat)
    type(element_type), intent(in) :: element
    integer(i_def), intent(in) :: df
    integer(i_def) :: seat

    seat = on_cell
    if (.not. element%broken) seat = sits_on(element, df)
  end function seat_of

  !> Return the vertex, edge or cell, seen from above, of a dof of a cell.
  function entity_of(element, mesh, df, cell) result(entity)
    type(element_type), intent(in) :: element
    type(mesh_type), intent(in) :: mesh
    integer(i_def), intent(in) :: df
    integer(i_def), intent(in) :: cell
    integer(i_def) :: entity

    select case (seat_of(element, df))
    case (on_cell)
      entity = cell
    case (on_edge)
      ! The sides of a cell are the first four of its edges, those at the bottom.
      entity = mesh%get_edge_on_cell(place_of(element, df), cell)
    case default
      entity = mesh%get_vert_on_cell(place_of(element, df), cell)
    end select
  end function entity_of

  !> Return the rank, from 0, that owns the vertex, edge or cell of a dof.
  function owner_of(element, mesh, df, entity) result(rank)
    type(element_type), intent(in) :: element
    type(mesh_type), intent(in) :: mesh
    integer(i_def), intent(in) :: df
    integer(i_def), intent(in) :: entity
    integer(i_def) :: rank

    type(local_mesh_type), pointer :: local_mesh

    local_mesh => mesh%get_local_mesh()
    select case (seat_of(element, df))
    case (on_cell)
      rank = local_mesh%get_cell_owner(entity)
    case (on_edge)
      rank = local_mesh%get_cell_owner(local_mesh%get_edge_cell_owner(entity))
    case default
      rank = local_mesh%get_cell_owner(local_mesh%get_vert_cell_owner(entity))
    end select
  end function owner_of

  !> Return the id over all ranks of the vertex, edge or cell of a dof.
  function global_entity(element, mesh, df, entity) result(global)
    type(element_type), intent(in) :: element
    type(mesh_type), intent(in) :: mesh
    integer(i_def), intent(in) :: df
    integer(i_def), intent(in) :: entity
    integer(i_def) :: global

    type(local_mesh_type), pointer :: local_mesh

    local_mesh => mesh%get_local_mesh()
    select case (seat_of(element, df))
    case (on_cell)
      global = local_mesh%get_gid_from_lid(entity)
    case (on_edge)
      global = local_mesh%get_edge_gid(entity)
    case default
      global = local_mesh%get_vert_gid(entity)
    end select
  end function global_entity

  !> Return the number over all ranks of vertices, edges or cells, as a dof has.
  function entities_over_ranks(element, mesh, df) result(entities)
    type(element_type), intent(in) :: element
    type(mesh_type), intent(in) :: mesh
    integer(i_def), intent(in) :: df
    integer(i_def) :: entities

    type(local_mesh_type), pointer :: local_mesh

    local_mesh => mesh%get_local_mesh()
    select case (seat_of(element, df))
    case (on_cell)
      entities = local_mesh%get_ncells_global_mesh()
    case (on_edge)
      entities = local_mesh%get_nedges_global_mesh()
    case default
      entities = local_mesh%get_nverts_global_mesh()
    end select
  end function entities_over_ranks

end module dof_numbering_mod
