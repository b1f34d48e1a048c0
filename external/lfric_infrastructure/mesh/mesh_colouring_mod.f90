!> Owns the colouring of cells: no two cells of one colour share a vertex.
module mesh_colouring_mod

  use constants_mod, only: i_def

  implicit none
  private

  public :: colours_of_cells

contains

  !> Return the colour of every cell: the first that no earlier cell at its vertices has.
  !>
  !> `vert_on_cell` holds the vertices of each cell, (vertex, cell); at most four cells meet at
  !> a vertex.
  pure function colours_of_cells(vert_on_cell) result(colours)
    integer(i_def), intent(in) :: vert_on_cell(:, :)
    integer(i_def) :: colours(size(vert_on_cell, 2))

    ! A cell meets at most three others at each vertex, hence the number of colours that suffices.
    logical :: taken(3 * size(vert_on_cell, 1) + 1, maxval(vert_on_cell))
    integer(i_def) :: cell, colour

    taken = .false.
    do cell = 1, size(vert_on_cell, 2, i_def)
      colour = 1
      do while (any(taken(colour, vert_on_cell(:, cell))))
        colour = colour + 1
      end do
      taken(colour, vert_on_cell(:, cell)) = .true.
      colours(cell) = colour
    end do
  end function colours_of_cells

end module mesh_colouring_mod
