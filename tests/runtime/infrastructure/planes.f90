!> Planes as a whole, before ranks have parts of them: neighbours, what they share, where it is, and
!> which cell is the last there.
program planes

  use checks_mod, only: check, finish_checks, start_checks
  use constants_mod, only: i_def, r_def
  use plane_mod, only: plane_type
  use surface_mod, only: opposite, sides

  implicit none

  integer(i_def), parameter :: sizes(2, 5) = reshape([1, 1, 1, 4, 5, 1, 2, 2, 4, 3], [2, 5])
  ! The corners at the two ends of each side.
  integer(i_def), parameter :: ends(2, sides) = reshape([1, 4, 1, 2, 2, 3, 4, 3], [2, sides])
  real(r_def), parameter :: cell_width(2) = [2.0_r_def, 3.0_r_def]
  integer :: m, n

  call start_checks()
  do n = 1, size(sizes, 2)
    do m = 0, 3
      call check_plane(plane_type( &
        cells_x=sizes(1, n), cells_y=sizes(2, n), width_x=cell_width(1), width_y=cell_width(2), &
        periodic_x=btest(m, 0), periodic_y=btest(m, 1)))
    end do
  end do
  call finish_checks()

contains

  !> Check every cell of a plane.
  subroutine check_plane(plane)
    type(plane_type), intent(in) :: plane

    integer(i_def), allocatable :: last_at_edge(:), last_at_vertex(:)
    integer(i_def) :: cell, n, side

    call check(plane%count_cells() == plane%cells_x * plane%cells_y, 'all cells')
    call check(.not. plane%is_spherical(), 'a plane is no sphere')
    call check(maxval(abs(plane%get_extent() - reshape([0.0_r_def, 0.0_r_def, width_of(plane)], &
                                                       [2, 2]))) <= 0.0_r_def, 'all of a plane')
    allocate (last_at_edge(plane%count_edges()), last_at_vertex(plane%count_vertices()))
    last_at_edge = 0
    last_at_vertex = 0
    do cell = 1, plane%count_cells()
      do side = 1, sides
        last_at_edge(plane%edge_at(side, cell)) = cell
        last_at_vertex(plane%vertex_at(side, cell)) = cell
        call check_side(plane, side, cell)
      end do
      call check_corners(plane, cell)
    end do
    call check(all(last_at_edge == [(plane%last_cell_at_edge(n), n=1, size(last_at_edge))]), &
               'the last cell beside an edge')
    call check(all(last_at_vertex == [(plane%last_cell_at_vertex(n), n=1, size(last_at_vertex))]), &
               'the last cell around a vertex')
  end subroutine check_plane

  !> Check the neighbour over a side of a cell and what they share, or that it is at a border.
  subroutine check_side(plane, side, cell)
    type(plane_type), intent(in) :: plane
    integer(i_def), intent(in) :: side, cell

    real(r_def) :: corners(2, sides), width(2)
    integer(i_def) :: axis, its_side, n, next

    axis = 2 - modulo(side, 2)
    call plane%find_next(side, cell, next, its_side)
    call check(plane%next_cell(side, cell) == next, 'the neighbour of a cell')
    call check(its_side == merge(0_i_def, opposite(side), next == 0), 'its side, if there is one')
    if (next == 0) then
      corners = plane%cell_coords(cell)
      width = width_of(plane)
      call check(.not. merge(plane%periodic_x, plane%periodic_y, axis == 1), 'what has a border')
      call check(abs(corners(axis, ends(1, side)) - merge(width(axis), 0.0_r_def, side > 2)) <= &
                 0.0_r_def, 'a border where the plane ends')
      return
    end if
    call check(plane%next_cell(opposite(side), next) == cell, 'neighbours are each other''s')
    call check(plane%edge_at(opposite(side), next) == plane%edge_at(side, cell), &
               'neighbours share an edge')
    do n = 1, 2
      call check(plane%vertex_at(ends(n, side), cell) == &
                 plane%vertex_at(ends(n, opposite(side)), next), 'neighbours share two vertices')
    end do
  end subroutine check_side

  !> Check that a cell is as wide as all, and that its vertices are at its corners.
  subroutine check_corners(plane, cell)
    type(plane_type), intent(in) :: plane
    integer(i_def), intent(in) :: cell

    real(r_def) :: apart(2), corners(2, sides)
    integer(i_def) :: corner

    corners = plane%cell_coords(cell)
    call check(all(abs(corners(:, 3) - corners(:, 1) - cell_width) <= 0.0_r_def), &
               'a cell is as wide as all')
    do corner = 1, sides
      apart = abs(corners(:, corner) - plane%vertex_coords(plane%vertex_at(corner, cell)))
      call check(all(apart <= 0.0_r_def .or. abs(apart - width_of(plane)) <= 0.0_r_def .and. &
                     [plane%periodic_x, plane%periodic_y]), 'a vertex is at the corner of a cell')
    end do
  end subroutine check_corners

  !> Return how wide a plane is.
  pure function width_of(plane) result(width)
    type(plane_type), intent(in) :: plane
    real(r_def) :: width(2)

    width = cell_width * [plane%cells_x, plane%cells_y]
  end function width_of

end program planes
