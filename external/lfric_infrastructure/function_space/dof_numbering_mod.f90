!> Owns the order of the dofs on a rank.
!>
!> Dofs are in columns, contiguous in the vertical, over a vertex, an edge or a cell; those of a
!> broken space are in a column for each cell and dof. A column is numbered when the first cell
!> that holds it is met, cells in their order, so that the dofs of owned cells come first.
module dof_numbering_mod

  use constants_mod, only: i_def, l_def
  use element_mod, only: element_type, on_cell, on_edge
  use mesh_mod, only: mesh_type

  implicit none
  private

  public :: number_dofs_of_cells

contains

  !> Set the dofs at the bottom of every column, (dof, cell), and the last dof that the cells up to
  !> each hold. A dof has `ndata` values, contiguous if `ndata_first`, else column by column.
  subroutine number_dofs_of_cells(element, mesh, ndata, ndata_first, dofmap, last_dof_to)
    type(element_type), intent(in) :: element
    type(mesh_type), intent(in) :: mesh
    integer(i_def), intent(in) :: ndata
    logical(l_def), intent(in) :: ndata_first
    integer(i_def), intent(out) :: dofmap(:, :)
    integer(i_def), intent(out) :: last_dof_to(:)

    integer(i_def), allocatable :: first_dof(:)
    integer(i_def) :: cell, column, df, next, step

    allocate (first_dof(number_of_columns(element, mesh)))
    first_dof = 0
    next = 1
    step = merge(ndata, 1_i_def, ndata_first)
    do cell = 1, size(dofmap, 2, i_def)
      do df = 1, element%ndf
        column = column_of(element, mesh, df, cell)
        if (first_dof(column) == 0) then
          first_dof(column) = next
          next = next + ndata * (mesh%get_nlayers() + merge(1, 0, element%is_shared(df)))
        end if
        dofmap(df, cell) = first_dof(column)
        if (element%is_shared(df) .and. element%is_on_top(df)) &
          dofmap(df, cell) = dofmap(df, cell) + step
      end do
      last_dof_to(cell) = next - 1
    end do
  end subroutine number_dofs_of_cells

  !> Return a number that the number of no column exceeds.
  function number_of_columns(element, mesh) result(columns)
    type(element_type), intent(in) :: element
    type(mesh_type), intent(in) :: mesh
    integer(i_def) :: columns

    columns = merge(element%ndf * mesh%get_ncells_2d(), 2 * on_cell * most_entities(mesh), &
                    element%broken)
  end function number_of_columns

  !> Return a number for the column that a dof of a cell is in.
  function column_of(element, mesh, df, cell) result(column)
    type(element_type), intent(in) :: element
    type(mesh_type), intent(in) :: mesh
    integer(i_def), intent(in) :: df
    integer(i_def), intent(in) :: cell
    integer(i_def) :: column

    integer(i_def) :: kind_of_column

    if (element%broken) then
      column = (cell - 1) * element%ndf + df
      return
    end if
    kind_of_column = 2 * (element%sits_on(df) - 1)
    if (element%is_upright(df)) kind_of_column = kind_of_column + 1
    select case (element%sits_on(df))
    case (on_cell)
      column = cell
    case (on_edge)
      ! The sides of a cell are the first four of its edges, those at the bottom.
      column = mesh%get_edge_on_cell(element%place_of(df), cell)
    case default
      column = mesh%get_vert_on_cell(element%place_of(df), cell)
    end select
    column = column + kind_of_column * most_entities(mesh)
  end function column_of

  !> Return the largest number of vertices, edges or cells seen from above.
  function most_entities(mesh) result(entities)
    type(mesh_type), intent(in) :: mesh
    integer(i_def) :: entities

    entities = max(mesh%get_nverts_2d(), mesh%get_nedges_2d(), mesh%get_ncells_2d())
  end function most_entities

end module dof_numbering_mod
