!> The colouring of cells and of tiles of them: no two of one colour share a vertex.
module mesh_colouring_mod

  use, intrinsic :: iso_fortran_env, only: int64
  use constants_mod, only: i_def

  implicit none
  private

  public :: colours_of_cells, colours_of_tiles

contains

  !> Return the colour of every cell: the first that no earlier cell at its vertices has.
  !>
  !> `vert_on_cell` holds the vertices of each cell, (vertex, cell).
  function colours_of_cells(vert_on_cell) result(colours)
    integer(i_def), intent(in) :: vert_on_cell(:, :)
    integer(i_def) :: colours(size(vert_on_cell, 2))

    integer(i_def) :: cell

    colours = colours_of_tiles([(cell, cell=1, size(colours, kind=i_def))], vert_on_cell)
  end function colours_of_cells

  !> Return the colour of every tile: the first that no earlier tile at its vertices has. Stops the
  !> program if there are too many.
  !>
  !> `tile_of_cell` holds the tile of each cell, all from 1 on.
  function colours_of_tiles(tile_of_cell, vert_on_cell) result(colours)
    integer(i_def), intent(in) :: tile_of_cell(:)
    integer(i_def), intent(in) :: vert_on_cell(:, :)
    integer(i_def) :: colours(maxval(tile_of_cell))

    !> The colours that the tiles at a vertex have, a bit for each.
    integer(int64) :: taken(maxval(vert_on_cell))
    integer(int64) :: taken_around
    integer(i_def) :: first(size(colours) + 1), cells(size(tile_of_cell))
    integer(i_def) :: corner, n, tile

    call gather_cells(tile_of_cell, first, cells)
    taken = 0
    do tile = 1, size(colours, kind=i_def)
      taken_around = 0
      do n = first(tile), first(tile + 1) - 1
        taken_around = ior(taken_around, iany(taken(vert_on_cell(:, cells(n)))))
      end do
      colours(tile) = int(trailz(not(taken_around)), i_def) + 1
      if (colours(tile) > bit_size(taken_around)) &
        error stop 'colours_of_tiles: there are more colours than can be told apart'
      do n = first(tile), first(tile + 1) - 1
        do corner = 1, size(vert_on_cell, 1, i_def)
          associate (vertex => vert_on_cell(corner, cells(n)))
            taken(vertex) = ibset(taken(vertex), colours(tile) - 1)
          end associate
        end do
      end do
    end do
  end function colours_of_tiles

  !> Set the cells of every tile, ascending, one tile after the other, and where each begins.
  pure subroutine gather_cells(tile_of_cell, first, cells)
    integer(i_def), intent(in) :: tile_of_cell(:)
    integer(i_def), intent(out) :: first(:)
    integer(i_def), intent(out) :: cells(:)

    integer(i_def) :: next(size(first))
    integer(i_def) :: cell, tile

    next = 0
    do cell = 1, size(tile_of_cell, kind=i_def)
      next(tile_of_cell(cell)) = next(tile_of_cell(cell)) + 1
    end do
    first(1) = 1
    do tile = 1, size(first, kind=i_def) - 1
      first(tile + 1) = first(tile) + next(tile)
    end do
    next = first
    do cell = 1, size(tile_of_cell, kind=i_def)
      tile = tile_of_cell(cell)
      cells(next(tile)) = cell
      next(tile) = next(tile) + 1
    end do
  end subroutine gather_cells

end module mesh_colouring_mod
