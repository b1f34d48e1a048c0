!> Tiles that a loop visits, and the cells of each tile.
!>
!> A tile is a rectangle of neighbouring cells (see mesh_tiling_mod), by default a single cell.
!> Loops over the tiles of a colour, and over the cells of a tile, begin at 1.
module mesh_tiles_mod

  use constants_mod, only: i_def, l_def
  use mesh_cells_mod, only: mesh_cells_type
  use mesh_tiling_mod, only: last_cell_of_tile, last_tile, mesh_tiling_type

  implicit none
  private

  !> The cells of one rank, in tiles.
  type, abstract, extends(mesh_cells_type), public :: mesh_tiles_type
    private
    type(mesh_tiling_type) :: tiling
  contains
    procedure, non_overridable, public :: initialise_tiles
    procedure, non_overridable, public :: forget_tiles
    procedure, non_overridable, private :: tiles_up_to
    procedure, non_overridable, private :: cells_of_tiles_up_to

    procedure, non_overridable, public :: get_last_inner_tile_per_colour
    procedure, non_overridable, public :: get_last_inner_tile_all_colours
    procedure, non_overridable, public :: get_last_inner_cell_per_colour_and_tile
    procedure, non_overridable, public :: get_last_inner_cell_all_colours_all_tiles

    procedure, non_overridable, public :: get_last_edge_tile_per_colour
    procedure, non_overridable, public :: get_last_edge_tile_all_colours
    procedure, non_overridable, public :: get_last_edge_cell_per_colour_and_tile
    procedure, non_overridable, public :: get_last_edge_cell_all_colours_all_tiles

    procedure, public :: get_last_halo_tile_per_colour_any
    procedure, public :: get_last_halo_tile_per_colour_deepest
    generic, public :: get_last_halo_tile_per_colour => &
      get_last_halo_tile_per_colour_any, get_last_halo_tile_per_colour_deepest
    procedure, non_overridable, public :: get_last_halo_tile_all_colours
    procedure, non_overridable, public :: get_last_halo_tile_all_colours_deepest
    procedure, public :: get_last_halo_cell_per_colour_and_tile_any
    procedure, public :: get_last_halo_cell_per_colour_and_tile_deepest
    generic, public :: get_last_halo_cell_per_colour_and_tile => &
      get_last_halo_cell_per_colour_and_tile_any, get_last_halo_cell_per_colour_and_tile_deepest
    procedure, non_overridable, public :: get_last_halo_cell_all_colours_all_tiles
    procedure, non_overridable, public :: get_last_halo_cell_all_colours_all_tiles_deepest

    procedure, non_overridable, public :: get_ntilecolours
    procedure, non_overridable, public :: get_tiling
    procedure, non_overridable, public :: get_coloured_tiling_map
  end type mesh_tiles_type

contains

  !> Put the cells of a rank, ghosts excepted, in tiles of a size, (x, y), and colour these.
  !>
  !> Cells have a place in x and in y on a panel, which a tile is not beyond, (xyp, cell), and
  !> vertices, (vertex, cell).
  !> With `inner_apart` no tile has both cells of the deepest inner depth and others, so that tiles
  !> of the first can be computed while messages that the others need are on their way.
  subroutine initialise_tiles(self, tile_size, places, vert_on_cell, inner_apart)
    class(mesh_tiles_type), intent(inout) :: self
    integer(i_def), intent(in) :: tile_size(2)
    integer(i_def), intent(in) :: places(:, :)
    integer(i_def), intent(in) :: vert_on_cell(:, :)
    logical(l_def), intent(in) :: inner_apart

    integer(i_def) :: blocks(size(places, 2)), columns, last_inner, panels, rows

    if (any(tile_size < 1)) error stop 'mesh_type: a tile needs a cell in each direction'
    columns = (maxval(places(1, :)) - 1) / tile_size(1) + 1
    rows = (maxval(places(2, :)) - 1) / tile_size(2) + 1
    panels = maxval(places(3, :))
    blocks = (places(1, :) - 1) / tile_size(1) + &
             ((places(2, :) - 1) / tile_size(2) + (places(3, :) - 1) * rows) * columns
    if (inner_apart) then
      last_inner = self%get_last_inner_cell(self%get_inner_depth())
      blocks(last_inner + 1:) = blocks(last_inner + 1:) + columns * rows * panels
    end if
    self%tiling = mesh_tiling_type(blocks, vert_on_cell)
  end subroutine initialise_tiles

  !> Return the last tile of every colour with a cell that is not beyond `last_cell`.
  function tiles_up_to(self, last_cell) result(ntiles)
    class(mesh_tiles_type), intent(in) :: self
    integer(i_def), intent(in) :: last_cell
    integer(i_def) :: ntiles(size(self%tiling%ntiles_of_colour))

    integer(i_def) :: colour

    do colour = 1, size(ntiles, kind=i_def)
      ntiles(colour) = last_tile(self%tiling, colour, last_cell)
    end do
  end function tiles_up_to

  !> Return the last cell that is not beyond `last_cell` of every tile, (colour, tile).
  function cells_of_tiles_up_to(self, last_cell) result(ncells)
    class(mesh_tiles_type), intent(in) :: self
    integer(i_def), intent(in) :: last_cell
    integer(i_def) :: ncells(size(self%tiling%ncells_of_tile, 1), &
                             size(self%tiling%ncells_of_tile, 2))

    integer(i_def) :: colour, tile

    do tile = 1, size(ncells, 2, i_def)
      do colour = 1, size(ncells, 1, i_def)
        ncells(colour, tile) = last_cell_of_tile(self%tiling, colour, tile, last_cell)
      end do
    end do
  end function cells_of_tiles_up_to

  !> Return the last tile of a colour with an inner cell.
  function get_last_inner_tile_per_colour(self, colour, depth) result(last_inner_tile)
    class(mesh_tiles_type), intent(in) :: self
    integer(i_def), intent(in) :: colour
    integer(i_def), intent(in) :: depth
    integer(i_def) :: last_inner_tile

    last_inner_tile = last_tile(self%tiling, colour, self%get_last_inner_cell(depth))
  end function get_last_inner_tile_per_colour

  !> Return the last tile with an inner cell, (colour, depth).
  function get_last_inner_tile_all_colours(self) result(last_inner_tiles)
    class(mesh_tiles_type), intent(in) :: self
    integer(i_def), allocatable :: last_inner_tiles(:, :)

    integer(i_def) :: depth

    allocate (last_inner_tiles(self%get_ntilecolours(), self%get_inner_depth()))
    do depth = 1, self%get_inner_depth()
      last_inner_tiles(:, depth) = self%tiles_up_to(self%get_last_inner_cell(depth))
    end do
  end function get_last_inner_tile_all_colours

  !> Return the last inner cell of a tile.
  function get_last_inner_cell_per_colour_and_tile(self, colour, tile, depth) &
    result(last_inner_cell)
    class(mesh_tiles_type), intent(in) :: self
    integer(i_def), intent(in) :: colour
    integer(i_def), intent(in) :: tile
    integer(i_def), intent(in) :: depth
    integer(i_def) :: last_inner_cell

    last_inner_cell = &
      last_cell_of_tile(self%tiling, colour, tile, self%get_last_inner_cell(depth))
  end function get_last_inner_cell_per_colour_and_tile

  !> Return the last inner cell, (colour, tile, depth).
  function get_last_inner_cell_all_colours_all_tiles(self) result(last_inner_cells)
    class(mesh_tiles_type), intent(in) :: self
    integer(i_def), allocatable :: last_inner_cells(:, :, :)

    integer(i_def) :: depth

    allocate (last_inner_cells(self%get_ntilecolours(), size(self%tiling%ncells_of_tile, 2), &
              self%get_inner_depth()))
    do depth = 1, self%get_inner_depth()
      last_inner_cells(:, :, depth) = self%cells_of_tiles_up_to(self%get_last_inner_cell(depth))
    end do
  end function get_last_inner_cell_all_colours_all_tiles

  !> Return the last tile of a colour with an owned cell.
  function get_last_edge_tile_per_colour(self, colour) result(last_edge_tile)
    class(mesh_tiles_type), intent(in) :: self
    integer(i_def), intent(in) :: colour
    integer(i_def) :: last_edge_tile

    last_edge_tile = last_tile(self%tiling, colour, self%get_last_edge_cell())
  end function get_last_edge_tile_per_colour

  !> Return the last tile with an owned cell of every colour.
  function get_last_edge_tile_all_colours(self) result(last_edge_tiles)
    class(mesh_tiles_type), intent(in) :: self
    integer(i_def), allocatable :: last_edge_tiles(:)

    allocate (last_edge_tiles, source=self%tiles_up_to(self%get_last_edge_cell()))
  end function get_last_edge_tile_all_colours

  !> Return the last owned cell of a tile.
  function get_last_edge_cell_per_colour_and_tile(self, colour, tile) result(last_edge_cell)
    class(mesh_tiles_type), intent(in) :: self
    integer(i_def), intent(in) :: colour
    integer(i_def), intent(in) :: tile
    integer(i_def) :: last_edge_cell

    last_edge_cell = last_cell_of_tile(self%tiling, colour, tile, self%get_last_edge_cell())
  end function get_last_edge_cell_per_colour_and_tile

  !> Return the last owned cell, (colour, tile).
  function get_last_edge_cell_all_colours_all_tiles(self) result(last_edge_cells)
    class(mesh_tiles_type), intent(in) :: self
    integer(i_def), allocatable :: last_edge_cells(:, :)

    allocate (last_edge_cells, source=self%cells_of_tiles_up_to(self%get_last_edge_cell()))
  end function get_last_edge_cell_all_colours_all_tiles

  !> Return the last tile of a colour with a cell in the halo to a depth.
  function get_last_halo_tile_per_colour_any(self, colour, depth) result(ntiles_colour)
    class(mesh_tiles_type), intent(in) :: self
    integer(i_def), intent(in) :: colour
    integer(i_def), intent(in) :: depth
    integer(i_def) :: ntiles_colour

    ntiles_colour = last_tile(self%tiling, colour, self%get_last_halo_cell(depth))
  end function get_last_halo_tile_per_colour_any

  !> Return the last tile of a colour.
  function get_last_halo_tile_per_colour_deepest(self, colour) result(ntiles_colour)
    class(mesh_tiles_type), intent(in) :: self
    integer(i_def), intent(in) :: colour
    integer(i_def) :: ntiles_colour

    ntiles_colour = self%tiling%ntiles_of_colour(colour)
  end function get_last_halo_tile_per_colour_deepest

  !> Return the last tile with a cell in the halo, (colour, depth).
  function get_last_halo_tile_all_colours(self) result(ntiles)
    class(mesh_tiles_type), intent(in) :: self
    integer(i_def), allocatable :: ntiles(:, :)

    integer(i_def) :: depth

    allocate (ntiles(self%get_ntilecolours(), self%get_halo_depth()))
    do depth = 1, self%get_halo_depth()
      ntiles(:, depth) = self%tiles_up_to(self%get_last_halo_cell(depth))
    end do
  end function get_last_halo_tile_all_colours

  !> Return the last tile of every colour.
  function get_last_halo_tile_all_colours_deepest(self) result(ntiles)
    class(mesh_tiles_type), intent(in) :: self
    integer(i_def), allocatable :: ntiles(:)

    allocate (ntiles, source=self%tiling%ntiles_of_colour)
  end function get_last_halo_tile_all_colours_deepest

  !> Return the last cell of a tile in the halo to a depth.
  function get_last_halo_cell_per_colour_and_tile_any(self, colour, tile, depth) &
    result(ncells_coloured_tile)
    class(mesh_tiles_type), intent(in) :: self
    integer(i_def), intent(in) :: colour
    integer(i_def), intent(in) :: tile
    integer(i_def), intent(in) :: depth
    integer(i_def) :: ncells_coloured_tile

    ncells_coloured_tile = &
      last_cell_of_tile(self%tiling, colour, tile, self%get_last_halo_cell(depth))
  end function get_last_halo_cell_per_colour_and_tile_any

  !> Return the last cell of a tile.
  function get_last_halo_cell_per_colour_and_tile_deepest(self, colour, tile) &
    result(ncells_coloured_tile)
    class(mesh_tiles_type), intent(in) :: self
    integer(i_def), intent(in) :: colour
    integer(i_def), intent(in) :: tile
    integer(i_def) :: ncells_coloured_tile

    ncells_coloured_tile = self%tiling%ncells_of_tile(colour, tile)
  end function get_last_halo_cell_per_colour_and_tile_deepest

  !> Return the last cell of the halo, (colour, tile, depth).
  function get_last_halo_cell_all_colours_all_tiles(self) result(ncells)
    class(mesh_tiles_type), intent(in) :: self
    integer(i_def), allocatable :: ncells(:, :, :)

    integer(i_def) :: depth

    allocate (ncells(self%get_ntilecolours(), size(self%tiling%ncells_of_tile, 2), &
              self%get_halo_depth()))
    do depth = 1, self%get_halo_depth()
      ncells(:, :, depth) = self%cells_of_tiles_up_to(self%get_last_halo_cell(depth))
    end do
  end function get_last_halo_cell_all_colours_all_tiles

  !> Return the last cell of the halo, (colour, tile).
  function get_last_halo_cell_all_colours_all_tiles_deepest(self) result(ncells)
    class(mesh_tiles_type), intent(in) :: self
    integer(i_def), allocatable :: ncells(:, :)

    allocate (ncells, source=self%tiling%ncells_of_tile)
  end function get_last_halo_cell_all_colours_all_tiles_deepest

  !> Return the number of colours of tiles.
  function get_ntilecolours(self) result(ntilecolours)
    class(mesh_tiles_type), intent(in) :: self
    integer(i_def) :: ntilecolours

    ntilecolours = size(self%tiling%ntiles_of_colour, kind=i_def)
  end function get_ntilecolours

  !> Set the number of colours of tiles, of tiles of each, of cells of each tile, (colour, tile),
  !> and the cells, (colour, tile, place).
  subroutine get_tiling(self, ntilecolours, ntiles_per_colour, ncells_per_coloured_tile, &
                        coloured_tiling_map)
    class(mesh_tiles_type), target, intent(in) :: self
    integer(i_def), intent(out) :: ntilecolours
    integer(i_def), pointer, intent(out) :: ntiles_per_colour(:)
    integer(i_def), pointer, intent(out) :: ncells_per_coloured_tile(:, :)
    integer(i_def), pointer, intent(out) :: coloured_tiling_map(:, :, :)

    ntilecolours = self%get_ntilecolours()
    ntiles_per_colour => self%tiling%ntiles_of_colour
    ncells_per_coloured_tile => self%tiling%ncells_of_tile
    coloured_tiling_map => self%tiling%map
  end subroutine get_tiling

  !> Return the cells of the tiles, (colour, tile, place).
  function get_coloured_tiling_map(self) result(coloured_tiling_map)
    class(mesh_tiles_type), target, intent(in) :: self
    integer(i_def), pointer :: coloured_tiling_map(:, :, :)

    coloured_tiling_map => self%tiling%map
  end function get_coloured_tiling_map

  !> Free the copies of the tiles on devices, before the tiles are freed.
  subroutine forget_tiles(self)
    use storage_tables_mod, only: forget_table

    class(mesh_tiles_type), target, intent(in) :: self

    if (.not. allocated(self%tiling%map)) return
    call forget_table(self%tiling%ntiles_of_colour)
    call forget_table(self%tiling%ncells_of_tile)
    call forget_table(self%tiling%map)
  end subroutine forget_tiles

end module mesh_tiles_mod
