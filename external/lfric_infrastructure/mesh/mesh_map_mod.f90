!> The map from the cells of one mesh to those that they cover on another.
module mesh_map_mod

  use constants_mod, only: i_def
  use linked_list_data_mod, only: linked_list_data_type

  implicit none
  private

  !> For every cell of the source mesh the target cells, (x, y, source cell).
  type, extends(linked_list_data_type), public :: mesh_map_type
    private
    integer(i_def) :: source_id = 0
    integer(i_def) :: target_id = 0
    integer(i_def), allocatable :: cells(:, :, :)
  contains
    procedure, non_overridable, public :: get_source_id
    procedure, non_overridable, public :: get_target_id
    procedure, non_overridable, public :: get_nsource_cells
    procedure, non_overridable, public :: get_ntarget_cells_per_source_cell
    procedure, non_overridable, public :: get_ntarget_cells_per_source_x
    procedure, non_overridable, public :: get_ntarget_cells_per_source_y
    procedure, non_overridable, public :: get_cell_map
    procedure, non_overridable, public :: get_whole_cell_map
    procedure, non_overridable, public :: clear
  end type mesh_map_type

  interface mesh_map_type
    module procedure new_mesh_map
  end interface mesh_map_type

contains

  !> Return the map from one mesh to another, (x, y, source cell).
  function new_mesh_map(source_mesh_id, target_mesh_id, map) result(instance)
    integer(i_def), intent(in) :: source_mesh_id
    integer(i_def), intent(in) :: target_mesh_id
    integer(i_def), intent(in) :: map(:, :, :)
    type(mesh_map_type) :: instance

    instance%source_id = source_mesh_id
    instance%target_id = target_mesh_id
    allocate (instance%cells, source=map)
  end function new_mesh_map

  !> Return the id of the source mesh.
  function get_source_id(self) result(source_mesh_id)
    class(mesh_map_type), intent(in) :: self
    integer(i_def) :: source_mesh_id

    source_mesh_id = self%source_id
  end function get_source_id

  !> Return the id of the target mesh.
  function get_target_id(self) result(target_mesh_id)
    class(mesh_map_type), intent(in) :: self
    integer(i_def) :: target_mesh_id

    target_mesh_id = self%target_id
  end function get_target_id

  !> Return the number of cells of the source mesh.
  function get_nsource_cells(self) result(nsource_cells)
    class(mesh_map_type), intent(in) :: self
    integer(i_def) :: nsource_cells

    nsource_cells = size(self%cells, 3, i_def)
  end function get_nsource_cells

  !> Return the number of target cells that a source cell covers.
  function get_ntarget_cells_per_source_cell(self) result(ratio)
    class(mesh_map_type), intent(in) :: self
    integer(i_def) :: ratio

    ratio = self%get_ntarget_cells_per_source_x() * self%get_ntarget_cells_per_source_y()
  end function get_ntarget_cells_per_source_cell

  !> Return the number of target cells in x that a source cell covers.
  function get_ntarget_cells_per_source_x(self) result(ratio_x)
    class(mesh_map_type), intent(in) :: self
    integer(i_def) :: ratio_x

    ratio_x = size(self%cells, 1, i_def)
  end function get_ntarget_cells_per_source_x

  !> Return the number of target cells in y that a source cell covers.
  function get_ntarget_cells_per_source_y(self) result(ratio_y)
    class(mesh_map_type), intent(in) :: self
    integer(i_def) :: ratio_y

    ratio_y = size(self%cells, 2, i_def)
  end function get_ntarget_cells_per_source_y

  !> Return the target cells of one source cell, (x, y).
  function get_cell_map(self, cell) result(map)
    class(mesh_map_type), target, intent(in) :: self
    integer(i_def), intent(in) :: cell
    integer(i_def), pointer :: map(:, :)

    map => self%cells(:, :, cell)
  end function get_cell_map

  !> Return the target cells of every source cell, (x, y, source cell).
  function get_whole_cell_map(self) result(map)
    class(mesh_map_type), target, intent(in) :: self
    integer(i_def), pointer :: map(:, :, :)

    map => self%cells
  end function get_whole_cell_map

  !> Give the memory back.
  subroutine clear(self)
    use storage_tables_mod, only: forget_table

    class(mesh_map_type), intent(inout) :: self

    if (allocated(self%cells)) then
      call forget_table(self%cells)
      deallocate (self%cells)
    end if
  end subroutine clear

end module mesh_map_mod
