!> Cells that a loop visits: inner, owned and halo cells, and their colours.
!>
!> The cells of a rank are ordered by inner depth, owned, halo by depth. A colour is a set of
!> cells no two of which share a vertex; within a colour cells ascend, so that the last cell of
!> a group is a loop bound.
module mesh_cells_mod

  use constants_mod, only: i_def, l_def
  use linked_list_data_mod, only: linked_list_data_type
  use mesh_colouring_mod, only: colours_of_cells

  implicit none
  private

  !> The cells of one rank, without their shape or place.
  type, abstract, extends(linked_list_data_type), public :: mesh_cells_type
    private
    integer(i_def), allocatable :: last_inner(:)
    integer(i_def) :: last_edge = 0
    integer(i_def), allocatable :: last_halo(:)
    integer(i_def) :: num_ghost = 0
    integer(i_def), allocatable :: ncells_of_colour(:)
    integer(i_def), allocatable :: colour_map(:, :)
  contains
    procedure, non_overridable, public :: initialise_cells
    procedure, non_overridable, public :: forget_cells
    procedure, non_overridable, private :: colour_cells
    procedure, non_overridable, private :: last_of_colour

    procedure, non_overridable, public :: get_ncells_2d
    procedure, non_overridable, public :: get_ncells_2d_with_ghost

    procedure, non_overridable, public :: get_inner_depth
    procedure, non_overridable, public :: get_num_cells_inner
    procedure, non_overridable, public :: get_last_inner_cell
    procedure, non_overridable, public :: get_last_inner_cell_per_colour
    procedure, non_overridable, public :: get_last_inner_cell_all_colours

    procedure, non_overridable, public :: get_num_cells_edge
    procedure, non_overridable, public :: get_last_edge_cell
    procedure, non_overridable, public :: get_last_edge_cell_per_colour
    procedure, non_overridable, public :: get_last_edge_cell_all_colours

    procedure, non_overridable, public :: get_halo_depth
    procedure, non_overridable, public :: get_num_cells_halo
    procedure, non_overridable, public :: get_num_cells_ghost
    procedure, public :: get_last_halo_cell_any
    procedure, public :: get_last_halo_cell_deepest
    generic, public :: get_last_halo_cell => get_last_halo_cell_any, get_last_halo_cell_deepest
    procedure, public :: get_last_halo_cell_per_colour_any
    procedure, public :: get_last_halo_cell_per_colour_deepest
    generic, public :: get_last_halo_cell_per_colour => &
      get_last_halo_cell_per_colour_any, get_last_halo_cell_per_colour_deepest
    procedure, non_overridable, public :: get_last_halo_cell_all_colours
    procedure, non_overridable, public :: get_last_halo_cell_all_colours_deepest

    procedure, non_overridable, public :: get_ncolours
    procedure, non_overridable, public :: get_colours
    procedure, non_overridable, public :: get_colour_map
    procedure, non_overridable, public :: is_coloured
  end type mesh_cells_type

contains

  !> Set the cells of a rank and colour them.
  !>
  !> `last_inner` and `last_halo` are indexed by depth; `vert_on_cell` holds the vertices of
  !> each cell up to the deepest halo, (vertex, cell).
  subroutine initialise_cells(self, last_inner, last_edge, last_halo, num_ghost, vert_on_cell)
    class(mesh_cells_type), intent(inout) :: self
    integer(i_def), intent(in) :: last_inner(:)
    integer(i_def), intent(in) :: last_edge
    integer(i_def), intent(in) :: last_halo(:)
    integer(i_def), intent(in) :: num_ghost
    integer(i_def), intent(in) :: vert_on_cell(:, :)

    allocate (self%last_inner, source=last_inner)
    self%last_edge = last_edge
    allocate (self%last_halo, source=last_halo)
    self%num_ghost = num_ghost
    call self%colour_cells(vert_on_cell)
  end subroutine initialise_cells

  !> Set the cells of every colour.
  subroutine colour_cells(self, vert_on_cell)
    class(mesh_cells_type), intent(inout) :: self
    integer(i_def), intent(in) :: vert_on_cell(:, :)

    integer(i_def) :: colour_of(size(vert_on_cell, 2))
    integer(i_def) :: cell, colour

    colour_of = colours_of_cells(vert_on_cell)
    allocate (self%ncells_of_colour(maxval(colour_of)))
    do colour = 1, size(self%ncells_of_colour, kind=i_def)
      self%ncells_of_colour(colour) = count(colour_of == colour, kind=i_def)
    end do
    allocate (self%colour_map(size(self%ncells_of_colour), maxval(self%ncells_of_colour)))
    self%colour_map = 0
    do colour = 1, size(self%ncells_of_colour, kind=i_def)
      self%colour_map(colour, :self%ncells_of_colour(colour)) = &
        pack([(cell, cell=1, size(colour_of, kind=i_def))], colour_of == colour)
    end do
  end subroutine colour_cells

  !> Return the place in a colour of its last cell that is not beyond `last_cell`.
  function last_of_colour(self, colour, last_cell) result(last)
    class(mesh_cells_type), intent(in) :: self
    integer(i_def), intent(in) :: colour
    integer(i_def), intent(in) :: last_cell
    integer(i_def) :: last

    last = count(self%colour_map(colour, :self%ncells_of_colour(colour)) <= last_cell, kind=i_def)
  end function last_of_colour

  !> Return the number of cells to the deepest halo.
  function get_ncells_2d(self) result(ncells_2d)
    class(mesh_cells_type), intent(in) :: self
    integer(i_def) :: ncells_2d

    ncells_2d = self%get_last_halo_cell_deepest()
  end function get_ncells_2d

  !> Return the number of cells that the rank knows of.
  function get_ncells_2d_with_ghost(self) result(ncells_2d_with_ghost)
    class(mesh_cells_type), intent(in) :: self
    integer(i_def) :: ncells_2d_with_ghost

    ncells_2d_with_ghost = self%get_ncells_2d() + self%num_ghost
  end function get_ncells_2d_with_ghost

  !> Return the number of depths of inner cells.
  function get_inner_depth(self) result(inner_depth)
    class(mesh_cells_type), intent(in) :: self
    integer(i_def) :: inner_depth

    inner_depth = size(self%last_inner, kind=i_def)
  end function get_inner_depth

  !> Return the number of inner cells of one depth; the deepest comes first in the order of cells.
  !> There are none of depths that are not told apart.
  function get_num_cells_inner(self, depth) result(inner_cells)
    class(mesh_cells_type), intent(in) :: self
    integer(i_def), intent(in) :: depth
    integer(i_def) :: inner_cells

    inner_cells = 0
    if (depth < 1 .or. depth > self%get_inner_depth()) return
    inner_cells = self%get_last_inner_cell(depth) - self%get_last_inner_cell(depth + 1)
  end function get_num_cells_inner

  !> Return the last cell that is at least `depth` within the owned ones. None is told to be deeper
  !> than the inner depth: then 0 is the last. Depth 0 holds no cells of its own, so that its last
  !> is that of depth 1.
  function get_last_inner_cell(self, depth) result(last_inner_cell)
    class(mesh_cells_type), intent(in) :: self
    integer(i_def), intent(in) :: depth
    integer(i_def) :: last_inner_cell

    last_inner_cell = 0
    if (depth < 0 .or. depth > self%get_inner_depth()) return
    last_inner_cell = self%last_inner(max(depth, 1_i_def))
  end function get_last_inner_cell

  !> Return the last inner cell of a colour; see `get_last_inner_cell` for depths without cells.
  function get_last_inner_cell_per_colour(self, colour, depth) result(last_inner_cell)
    class(mesh_cells_type), intent(in) :: self
    integer(i_def), intent(in) :: colour
    integer(i_def), intent(in) :: depth
    integer(i_def) :: last_inner_cell

    last_inner_cell = self%last_of_colour(colour, self%get_last_inner_cell(depth))
  end function get_last_inner_cell_per_colour

  !> Return the last inner cell, (colour, depth).
  function get_last_inner_cell_all_colours(self) result(all_last_inner_cells)
    class(mesh_cells_type), intent(in) :: self
    integer(i_def), allocatable :: all_last_inner_cells(:, :)

    integer(i_def) :: depth, colour

    allocate (all_last_inner_cells(self%get_ncolours(), self%get_inner_depth()))
    do depth = 1, self%get_inner_depth()
      do colour = 1, self%get_ncolours()
        all_last_inner_cells(colour, depth) = self%get_last_inner_cell_per_colour(colour, depth)
      end do
    end do
  end function get_last_inner_cell_all_colours

  !> Return the number of owned cells next to another rank's.
  function get_num_cells_edge(self) result(edge_cells)
    class(mesh_cells_type), intent(in) :: self
    integer(i_def) :: edge_cells

    edge_cells = self%last_edge - self%last_inner(1)
  end function get_num_cells_edge

  !> Return the last owned cell.
  function get_last_edge_cell(self) result(last_edge_cell)
    class(mesh_cells_type), intent(in) :: self
    integer(i_def) :: last_edge_cell

    last_edge_cell = self%last_edge
  end function get_last_edge_cell

  !> Return the last owned cell of a colour.
  function get_last_edge_cell_per_colour(self, colour) result(last_edge_cell)
    class(mesh_cells_type), intent(in) :: self
    integer(i_def), intent(in) :: colour
    integer(i_def) :: last_edge_cell

    last_edge_cell = self%last_of_colour(colour, self%last_edge)
  end function get_last_edge_cell_per_colour

  !> Return the last owned cell of every colour.
  function get_last_edge_cell_all_colours(self) result(all_last_edge_cells)
    class(mesh_cells_type), intent(in) :: self
    integer(i_def), allocatable :: all_last_edge_cells(:)

    integer(i_def) :: colour

    allocate (all_last_edge_cells(self%get_ncolours()))
    do colour = 1, self%get_ncolours()
      all_last_edge_cells(colour) = self%get_last_edge_cell_per_colour(colour)
    end do
  end function get_last_edge_cell_all_colours

  !> Return the number of depths of the halo.
  function get_halo_depth(self) result(halo_depth)
    class(mesh_cells_type), intent(in) :: self
    integer(i_def) :: halo_depth

    halo_depth = size(self%last_halo, kind=i_def)
  end function get_halo_depth

  !> Return the number of halo cells of one depth.
  function get_num_cells_halo(self, depth) result(halo_cells)
    class(mesh_cells_type), intent(in) :: self
    integer(i_def), intent(in) :: depth
    integer(i_def) :: halo_cells

    if (depth == 1) then
      halo_cells = self%last_halo(1) - self%last_edge
    else
      halo_cells = self%last_halo(depth) - self%last_halo(depth - 1)
    end if
  end function get_num_cells_halo

  !> Return the number of cells beyond the halo.
  function get_num_cells_ghost(self) result(ghost_cells)
    class(mesh_cells_type), intent(in) :: self
    integer(i_def) :: ghost_cells

    ghost_cells = self%num_ghost
  end function get_num_cells_ghost

  !> Return the last cell of the halo to a depth.
  function get_last_halo_cell_any(self, depth) result(last_halo_cell)
    class(mesh_cells_type), intent(in) :: self
    integer(i_def), intent(in) :: depth
    integer(i_def) :: last_halo_cell

    last_halo_cell = self%last_halo(depth)
  end function get_last_halo_cell_any

  !> Return the last cell of the halo.
  function get_last_halo_cell_deepest(self) result(last_halo_cell)
    class(mesh_cells_type), intent(in) :: self
    integer(i_def) :: last_halo_cell

    last_halo_cell = self%last_halo(size(self%last_halo))
  end function get_last_halo_cell_deepest

  !> Return the last cell of a colour in the halo to a depth.
  function get_last_halo_cell_per_colour_any(self, colour, depth) result(ncells_colour)
    class(mesh_cells_type), intent(in) :: self
    integer(i_def), intent(in) :: colour
    integer(i_def), intent(in) :: depth
    integer(i_def) :: ncells_colour

    ncells_colour = self%last_of_colour(colour, self%last_halo(depth))
  end function get_last_halo_cell_per_colour_any

  !> Return the last cell of a colour.
  function get_last_halo_cell_per_colour_deepest(self, colour) result(ncells_colour)
    class(mesh_cells_type), intent(in) :: self
    integer(i_def), intent(in) :: colour
    integer(i_def) :: ncells_colour

    ncells_colour = self%ncells_of_colour(colour)
  end function get_last_halo_cell_per_colour_deepest

  !> Return the last cell of the halo, (colour, depth).
  function get_last_halo_cell_all_colours(self) result(ncells)
    class(mesh_cells_type), intent(in) :: self
    integer(i_def), allocatable :: ncells(:, :)

    integer(i_def) :: depth, colour

    allocate (ncells(self%get_ncolours(), self%get_halo_depth()))
    do depth = 1, self%get_halo_depth()
      do colour = 1, self%get_ncolours()
        ncells(colour, depth) = self%get_last_halo_cell_per_colour_any(colour, depth)
      end do
    end do
  end function get_last_halo_cell_all_colours

  !> Return the last cell of the halo of every colour.
  function get_last_halo_cell_all_colours_deepest(self) result(ncells_colour)
    class(mesh_cells_type), intent(in) :: self
    integer(i_def), allocatable :: ncells_colour(:)

    allocate (ncells_colour, source=self%ncells_of_colour)
  end function get_last_halo_cell_all_colours_deepest

  !> Return the number of colours.
  function get_ncolours(self) result(ncolours)
    class(mesh_cells_type), intent(in) :: self
    integer(i_def) :: ncolours

    ncolours = size(self%ncells_of_colour, kind=i_def)
  end function get_ncolours

  !> Set the number of colours, of cells of each, and the cells, (colour, place).
  subroutine get_colours(self, ncolours, ncells_per_colour, colour_map)
    class(mesh_cells_type), target, intent(in) :: self
    integer(i_def), intent(out) :: ncolours
    integer(i_def), pointer, intent(out) :: ncells_per_colour(:)
    integer(i_def), pointer, intent(out) :: colour_map(:, :)

    ncolours = self%get_ncolours()
    ncells_per_colour => self%ncells_of_colour
    colour_map => self%colour_map
  end subroutine get_colours

  !> Return the cells of the colours, (colour, place).
  function get_colour_map(self) result(colour_map)
    class(mesh_cells_type), target, intent(in) :: self
    integer(i_def), pointer :: colour_map(:, :)

    colour_map => self%colour_map
  end function get_colour_map

  !> Return whether the cells have been coloured.
  function is_coloured(self) result(cstat)
    class(mesh_cells_type), intent(in) :: self
    logical(l_def) :: cstat

    cstat = allocated(self%colour_map)
  end function is_coloured

  !> Give up what devices have of the colours, before these are freed.
  subroutine forget_cells(self)
    use storage_tables_mod, only: forget_table

    class(mesh_cells_type), target, intent(in) :: self

    if (.not. self%is_coloured()) return
    call forget_table(self%ncells_of_colour)
    call forget_table(self%colour_map)
  end subroutine forget_cells

end module mesh_cells_mod
