!> Tiles: rectangles of neighbouring cells, and colours of tiles that share no vertex.
!>
!> Tiles are cut from whole panels, so that a tile is the same on all ranks, but that a rank may
!> hold a part of it only. The cells of a tile ascend, and so do the first cells of the tiles of a
!> colour: those that a loop to some last cell visits are the first ones of each.
module mesh_tiling_mod

  use constants_mod, only: i_def, i_halo_index
  use mesh_colouring_mod, only: colours_of_tiles

  implicit none
  private

  public :: last_cell_of_tile, last_tile

  !> The tiles of the cells of a rank, ghosts excepted.
  type, public :: mesh_tiling_type
    !> The number of tiles of each colour, and of the cells of each, (colour, tile).
    integer(i_def), allocatable :: ntiles_of_colour(:)
    integer(i_def), allocatable :: ncells_of_tile(:, :)
    !> The cells, (colour, tile, place); 0 beyond the last of a tile.
    integer(i_def), allocatable :: map(:, :, :)
  end type mesh_tiling_type

  interface mesh_tiling_type
    module procedure new_mesh_tiling
  end interface mesh_tiling_type

contains

  !> Return the tiles of cells.
  !>
  !> `blocks` tells which cells belong together: those with the same. `vert_on_cell` holds the
  !> vertices of each cell, (vertex, cell).
  function new_mesh_tiling(blocks, vert_on_cell) result(self)
    integer(i_def), intent(in) :: blocks(:)
    integer(i_def), intent(in) :: vert_on_cell(:, :)
    type(mesh_tiling_type) :: self

    integer(i_def), allocatable :: colours(:), places(:)
    integer(i_def) :: tile_of_cell(size(blocks))
    integer(i_def) :: cell, colour, n

    tile_of_cell = tiles_of_blocks(blocks)
    allocate (colours, source=colours_of_tiles(tile_of_cell, vert_on_cell))
    call allocate_map(self, tile_of_cell, colours)
    allocate (places(size(colours)))
    self%ntiles_of_colour = 0
    do n = 1, size(colours, kind=i_def)
      self%ntiles_of_colour(colours(n)) = self%ntiles_of_colour(colours(n)) + 1
      places(n) = self%ntiles_of_colour(colours(n))
    end do
    do cell = 1, size(tile_of_cell, kind=i_def)
      n = tile_of_cell(cell)
      colour = colours(n)
      self%ncells_of_tile(colour, places(n)) = self%ncells_of_tile(colour, places(n)) + 1
      self%map(colour, places(n), self%ncells_of_tile(colour, places(n))) = cell
    end do
  end function new_mesh_tiling

  !> Return the tile of every cell: they count from 1 in the order of their first cells.
  function tiles_of_blocks(blocks) result(tiles)
    use ids_mod, only: sorted_ids_type

    integer(i_def), intent(in) :: blocks(:)
    integer(i_def) :: tiles(size(blocks))

    type(sorted_ids_type) :: sorted
    integer(i_def) :: tile_of_place(size(blocks))
    integer(i_def) :: cell, last, place

    sorted = sorted_ids_type(int(blocks, i_halo_index))
    tile_of_place = 0
    last = 0
    do cell = 1, size(blocks, kind=i_def)
      place = sorted%place_of(int(blocks(cell), i_halo_index))
      if (tile_of_place(place) == 0) then
        last = last + 1
        tile_of_place(place) = last
      end if
      tiles(cell) = tile_of_place(place)
    end do
  end function tiles_of_blocks

  !> Allocate the tiles of each colour and the cells of each tile.
  subroutine allocate_map(self, tile_of_cell, colours)
    type(mesh_tiling_type), intent(inout) :: self
    integer(i_def), intent(in) :: tile_of_cell(:)
    integer(i_def), intent(in) :: colours(:)

    integer(i_def) :: ncells(size(colours)), ntiles(maxval(colours))
    integer(i_def) :: n

    ncells = 0
    do n = 1, size(tile_of_cell, kind=i_def)
      ncells(tile_of_cell(n)) = ncells(tile_of_cell(n)) + 1
    end do
    ntiles = 0
    do n = 1, size(colours, kind=i_def)
      ntiles(colours(n)) = ntiles(colours(n)) + 1
    end do
    allocate (self%ntiles_of_colour(size(ntiles)))
    allocate (self%ncells_of_tile(size(ntiles), maxval(ntiles)))
    allocate (self%map(size(ntiles), maxval(ntiles), maxval(ncells)))
    self%ncells_of_tile = 0
    self%map = 0
  end subroutine allocate_map

  !> Return the last tile of a colour with a cell that is not beyond `last_cell`.
  pure function last_tile(self, colour, last_cell)
    type(mesh_tiling_type), intent(in) :: self
    integer(i_def), intent(in) :: colour
    integer(i_def), intent(in) :: last_cell
    integer(i_def) :: last_tile

    last_tile = count(self%map(colour, :self%ntiles_of_colour(colour), 1) <= last_cell, kind=i_def)
  end function last_tile

  !> Return the place in a tile of its last cell that is not beyond `last_cell`; 0 if all are.
  pure function last_cell_of_tile(self, colour, tile, last_cell) result(place)
    type(mesh_tiling_type), intent(in) :: self
    integer(i_def), intent(in) :: colour
    integer(i_def), intent(in) :: tile
    integer(i_def), intent(in) :: last_cell
    integer(i_def) :: place

    place = count(self%map(colour, tile, :self%ncells_of_tile(colour, tile)) <= last_cell, &
                  kind=i_def)
  end function last_cell_of_tile

end module mesh_tiling_mod
