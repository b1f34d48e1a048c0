!> Cells of one rank: their order by level, their local and global numbers.
!>
!> See partition_mod for what levels are, and who decides.
module local_cells_mod

  use constants_mod, only: i_def
  use linked_list_data_mod, only: linked_list_data_type
  use partition_mod, only: partition_type

  implicit none
  private

  !> The cells of one rank, without their shape or place.
  type, abstract, extends(linked_list_data_type), public :: local_cells_type
    private
    integer(i_def) :: halo_depth = 1
    !> The last cell of each level, from the deepest inner one to the ghosts.
    integer(i_def), allocatable :: last_of_level(:)
    !> The numbers over all ranks, and the way back: 0 for those that are not held.
    integer(i_def), allocatable :: gids(:)
    integer(i_def), allocatable :: lids(:)
  contains
    procedure, non_overridable, public :: initialise_cells
    procedure, non_overridable, public :: get_num_cells_held
    procedure, non_overridable, public :: get_num_cells_in_layer
    procedure, non_overridable, public :: get_num_cells_inner
    procedure, non_overridable, public :: get_num_cells_edge
    procedure, non_overridable, public :: get_num_cells_halo
    procedure, non_overridable, public :: get_num_cells_ghost
    procedure, non_overridable, public :: get_last_inner_cell
    procedure, non_overridable, public :: get_last_edge_cell
    procedure, non_overridable, public :: get_last_halo_cell
    procedure, non_overridable, public :: get_inner_depth
    procedure, non_overridable, public :: get_halo_depth
    procedure, non_overridable, public :: get_max_stencil_depth
    procedure, non_overridable, public :: get_gid_from_lid
    procedure, non_overridable, public :: get_lid_from_gid
  end type local_cells_type

contains

  !> Set the cells of a rank, of so many over all ranks.
  subroutine initialise_cells(self, partition, halo_depth, cells_over_ranks)
    class(local_cells_type), intent(inout) :: self
    type(partition_type), intent(in) :: partition
    integer(i_def), intent(in) :: halo_depth
    integer(i_def), intent(in) :: cells_over_ranks

    integer(i_def) :: cell

    self%halo_depth = halo_depth
    self%last_of_level = partition%last_of_level
    self%gids = partition%cells
    allocate (self%lids(cells_over_ranks))
    self%lids = 0
    self%lids(self%gids) = [(cell, cell=1, size(self%gids, kind=i_def))]
  end subroutine initialise_cells

  !> Return the number of cells, halo cells and ghosts included.
  pure function get_num_cells_held(self) result(num_cells)
    class(local_cells_type), intent(in) :: self
    integer(i_def) :: num_cells

    num_cells = size(self%gids, kind=i_def)
  end function get_num_cells_held

  !> Return the number of cells, halo cells included.
  pure function get_num_cells_in_layer(self) result(num_cells)
    class(local_cells_type), intent(in) :: self
    integer(i_def) :: num_cells

    num_cells = self%last_of_level(self%halo_depth)
  end function get_num_cells_in_layer

  !> Return the number of inner cells of one depth: the deepest holds all that are further within.
  function get_num_cells_inner(self, depth) result(num_cells)
    class(local_cells_type), intent(in) :: self
    integer(i_def), intent(in) :: depth
    integer(i_def) :: num_cells

    num_cells = self%last_of_level(-depth)
    if (depth < self%halo_depth) num_cells = num_cells - self%last_of_level(-depth - 1)
  end function get_num_cells_inner

  !> Return the number of owned cells next to another rank's.
  function get_num_cells_edge(self) result(num_cells)
    class(local_cells_type), intent(in) :: self
    integer(i_def) :: num_cells

    num_cells = self%last_of_level(0) - self%last_of_level(-1)
  end function get_num_cells_edge

  !> Return the number of halo cells of one depth.
  function get_num_cells_halo(self, depth) result(num_cells)
    class(local_cells_type), intent(in) :: self
    integer(i_def), intent(in) :: depth
    integer(i_def) :: num_cells

    num_cells = self%last_of_level(depth) - self%last_of_level(depth - 1)
  end function get_num_cells_halo

  !> Return the number of cells beyond the halo.
  function get_num_cells_ghost(self) result(num_cells)
    class(local_cells_type), intent(in) :: self
    integer(i_def) :: num_cells

    num_cells = self%last_of_level(self%halo_depth + 1) - self%last_of_level(self%halo_depth)
  end function get_num_cells_ghost

  !> Return the last cell that is at least `depth` within the owned ones.
  function get_last_inner_cell(self, depth) result(last_cell)
    class(local_cells_type), intent(in) :: self
    integer(i_def), intent(in) :: depth
    integer(i_def) :: last_cell

    last_cell = self%last_of_level(-depth)
  end function get_last_inner_cell

  !> Return the last owned cell.
  function get_last_edge_cell(self) result(last_cell)
    class(local_cells_type), intent(in) :: self
    integer(i_def) :: last_cell

    last_cell = self%last_of_level(0)
  end function get_last_edge_cell

  !> Return the last cell of the halo to a depth.
  function get_last_halo_cell(self, depth) result(last_cell)
    class(local_cells_type), intent(in) :: self
    integer(i_def), intent(in) :: depth
    integer(i_def) :: last_cell

    last_cell = self%last_of_level(depth)
  end function get_last_halo_cell

  !> Return the number of depths of inner cells.
  function get_inner_depth(self) result(depth)
    class(local_cells_type), intent(in) :: self
    integer(i_def) :: depth

    depth = self%halo_depth
  end function get_inner_depth

  !> Return the number of depths of the halo.
  function get_halo_depth(self) result(depth)
    class(local_cells_type), intent(in) :: self
    integer(i_def) :: depth

    depth = self%halo_depth
  end function get_halo_depth

  !> Return how deep a stencil may reach.
  function get_max_stencil_depth(self) result(depth)
    class(local_cells_type), intent(in) :: self
    integer(i_def) :: depth

    depth = self%halo_depth
  end function get_max_stencil_depth

  !> Return the id over all ranks of a cell.
  function get_gid_from_lid(self, cell_lid) result(cell_gid)
    class(local_cells_type), intent(in) :: self
    integer(i_def), intent(in) :: cell_lid
    integer(i_def) :: cell_gid

    cell_gid = self%gids(cell_lid)
  end function get_gid_from_lid

  !> Return the id on this rank of a cell; 0 if it is not held.
  function get_lid_from_gid(self, cell_gid) result(cell_lid)
    class(local_cells_type), intent(in) :: self
    integer(i_def), intent(in) :: cell_gid
    integer(i_def) :: cell_lid

    cell_lid = self%lids(cell_gid)
  end function get_lid_from_gid

end module local_cells_mod
