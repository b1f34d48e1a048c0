!> A cubed sphere, against what is known of it: how its cells hang together, where they are, which
!> of them a rank holds.
program sphere

  use checks_mod, only: answer, check, deepest, finish_checks, new_sphere, start_checks
  use constants_mod, only: i_def, PI, r_def
  use coord_transform_mod, only: alphabetar2llr, alphabetar2xyz, identify_panel, xyz2alphabetar
  use cross_product_mod, only: cross_product
  use cubed_sphere_mod, only: cubed_sphere_type
  use domain_mod, only: domain_type
  use exact_sum_mod, only: exact_sum_type
  use local_mesh_mod, only: local_mesh_type
  use mesh_mod, only: mesh_type
  use surface_mod, only: sides

  implicit none

  integer(i_def), parameter :: sizes(5) = [1, 2, 3, 4, 7]
  type(mesh_type), pointer :: mesh
  character(8) :: name
  integer :: n

  call start_checks()
  do n = 1, size(sizes)
    call cells_hang_together(cubed_sphere_type(sizes(n)))
  end do
  do n = 2, size(sizes)
    write (name, '(a, i0)') 'C', sizes(n)
    mesh => new_sphere(trim(name), sizes(n))
    call says_what_it_is(mesh)
    call cells_are_where_they_should(mesh, sizes(n))
    call cells_cover_the_sphere(mesh)
    call ranks_hold_what_they_should(mesh, cubed_sphere_type(sizes(n)))
  end do
  call finish_checks()

contains

  !> Check the whole mesh: neighbours, what they share, and how many there are of each.
  subroutine cells_hang_together(globe)
    type(cubed_sphere_type), intent(in) :: globe

    integer(i_def) :: cells_at_vertex(globe%count_vertices()), cells_at_edge(globe%count_edges())
    integer(i_def) :: last_at_vertex(globe%count_vertices()), last_at_edge(globe%count_edges())
    integer(i_def) :: back, cell, its_side, next, other_side, side

    cells_at_vertex = 0
    cells_at_edge = 0
    do cell = 1, globe%count_cells()
      do side = 1, sides
        call count_in(cells_at_vertex, last_at_vertex, globe%vertex_at(side, cell), cell)
        call count_in(cells_at_edge, last_at_edge, globe%edge_at(side, cell), cell)
        call globe%find_next(side, cell, next, its_side)
        call globe%find_next(its_side, next, back, other_side)
        call check(back == cell .and. other_side == side, 'neighbours are each other''s')
        call check(globe%edge_at(side, cell) == globe%edge_at(its_side, next), 'they share an edge')
        call check(any(side == [1, 4]) .neqv. any(its_side == [1, 4]), 'W and N meet S and E')
        ! Both cells list the ends of their edge from where the axes come.
        call check(all(ends_of(globe, side, cell) == ends_of(globe, its_side, next)), &
                   'they share two vertices')
      end do
    end do
    call check(all(cells_at_edge == 2), 'an edge is between two cells')
    call check(count(cells_at_vertex == 3) == 8 .and. count(cells_at_vertex == 4) == &
               size(cells_at_vertex) - 8, 'all but eight vertices are between four cells')
    call check(size(cells_at_vertex) - size(cells_at_edge) + globe%count_cells() == 2, &
               'Euler''s formula')
    call check(all([(globe%last_cell_at_vertex(next), next=1, size(last_at_vertex))] == &
                   last_at_vertex), 'the last cell at each vertex')
    call check(all([(globe%last_cell_at_edge(next), next=1, size(last_at_edge))] == last_at_edge), &
               'the last cell at each edge')
  end subroutine cells_hang_together

  !> Count a cell at a vertex or an edge; cells come in ascending order.
  subroutine count_in(numbers, last, place, cell)
    integer(i_def), intent(inout) :: numbers(:), last(:)
    integer(i_def), intent(in) :: place, cell

    numbers(place) = numbers(place) + 1
    last(place) = cell
  end subroutine count_in

  !> Return the vertices at the ends of a side, along x or y.
  function ends_of(globe, side, cell) result(ends)
    type(cubed_sphere_type), intent(in) :: globe
    integer(i_def), intent(in) :: side, cell
    integer(i_def) :: ends(2)

    integer(i_def), parameter :: corners(2, sides) = reshape([1, 4, 1, 2, 2, 3, 4, 3], [2, sides])

    ends = [globe%vertex_at(corners(1, side), cell), globe%vertex_at(corners(2, side), cell)]
  end function ends_of

  !> Check what a mesh says of itself.
  subroutine says_what_it_is(mesh)
    type(mesh_type), pointer, intent(in) :: mesh

    type(domain_type) :: domain
    type(local_mesh_type), pointer :: globe

    globe => mesh%get_local_mesh()
    call check(mesh%is_geometry_spherical() .and. .not. mesh%is_geometry_planar(), 'a sphere')
    call check(mesh%is_topology_periodic() .and. .not. mesh%is_topology_channel() .and. &
               .not. mesh%is_topology_non_periodic(), 'without borders')
    call check(mesh%is_coord_sys_ll() .and. .not. mesh%is_coord_sys_xyz(), 'in angles')
    call check(globe%get_num_panels_global_mesh() == 6, 'of six panels')
    domain = mesh%get_domain()
    call check(domain%is_lonlat() .and. close(domain%minimum_lonlat(1_i_def), -PI) .and. &
               close(domain%maximum_lonlat(1_i_def), PI), 'all round')
    call check(close(domain%minimum_lonlat(2_i_def), -0.5_r_def * PI) .and. &
               close(domain%maximum_lonlat(2_i_def), 0.5_r_def * PI), 'from pole to pole')
  end subroutine says_what_it_is

  !> Check that the corners of cells are where alpha, beta and the radius say.
  subroutine cells_are_where_they_should(mesh, edge_cells)
    type(mesh_type), pointer, intent(in) :: mesh
    integer(i_def), intent(in) :: edge_cells

    integer(i_def), parameter :: right(8) = [0, 1, 1, 0, 0, 1, 1, 0]
    integer(i_def), parameter :: up(8) = [0, 0, 1, 1, 0, 0, 1, 1]
    real(r_def) :: corners(3, 8), vertex(3), point(3), angles(3), middle(3), centre(3), longitude, &
                   latitude
    integer(i_def) :: cell, corner, panel, place

    do cell = 1, mesh%get_last_halo_cell(deepest)
      place = mesh%get_gid_from_lid(cell) - 1
      panel = place / edge_cells**2 + 1
      place = modulo(place, edge_cells**2)
      call mesh%get_cell_coords(cell, corners)
      do corner = 1, 8
        angles(1) = modulo(place, edge_cells) + right(corner)
        angles(2) = place / edge_cells + up(corner)
        angles(:2) = (angles(:2) / edge_cells - 0.5_r_def) * 0.5_r_def * PI
        angles(3) = merge(1.0_r_def, 2.0_r_def, corner <= 4)
        call alphabetar2xyz(angles(1), angles(2), angles(3), panel, point(1), point(2), point(3))
        call check(close(norm2(point - corners(:, corner)), 0.0_r_def), 'a corner of a cell')
        call xyz2alphabetar(point(1), point(2), point(3), panel, middle(1), middle(2), middle(3))
        call check(close(norm2(middle - angles), 0.0_r_def), 'there and back')
        call alphabetar2llr(angles(1), angles(2), angles(3), panel, longitude, latitude)
        call check(close(sin(latitude) * norm2(point), point(3)), 'its latitude')
        call mesh%get_vert_coords(mesh%get_vert_on_cell(corner, cell), vertex)
        call check(all(abs(vertex - corners(:, corner)) <= 0.0_r_def), 'the vertex there')
      end do
      call mesh%get_cell_centre_coords(cell, centre)
      call check(close(norm2(centre), 1.5_r_def), 'the middle is at a height between')
      call check(identify_panel(centre(1), centre(2), centre(3)) == panel, 'and on the panel')
    end do
  end subroutine cells_are_where_they_should

  !> Check that the cells have the area of a sphere.
  subroutine cells_cover_the_sphere(mesh)
    type(mesh_type), pointer, intent(in) :: mesh

    type(exact_sum_type) :: area
    real(r_def) :: c(3, 8)
    integer(i_def) :: cell

    do cell = 1, mesh%get_last_edge_cell()
      call mesh%get_cell_coords(cell, c)
      call area%add(area_between(c(:, 1), c(:, 2), c(:, 3)) + &
                    area_between(c(:, 1), c(:, 3), c(:, 4)))
    end do
    call check(close(area%get_sum(), 4.0_r_def * PI), 'the area of a sphere')
    call answer('area_' // trim(mesh%get_mesh_name()), area%get_sum())
  end subroutine cells_cover_the_sphere

  !> Return the area of the triangle between three points of a unit sphere; it is positive if they
  !> go round to the left, as seen from outside.
  function area_between(a, b, c) result(area)
    real(r_def), intent(in) :: a(3), b(3), c(3)
    real(r_def) :: area

    area = 2.0_r_def * atan2(dot_product(a, cross_product(b, c)), &
      1.0_r_def + dot_product(a, b) + dot_product(b, c) + dot_product(c, a))
  end function area_between

  !> Check that halo cells of each depth are those that many steps from owned ones, and inner cells
  !> those that many from others.
  subroutine ranks_hold_what_they_should(mesh, globe)
    type(mesh_type), pointer, intent(in) :: mesh
    type(cubed_sphere_type), intent(in) :: globe

    logical :: owned(globe%count_cells())
    integer(i_def) :: steps(globe%count_cells())
    integer(i_def) :: cell, depth, first

    owned = .false.
    do cell = 1, mesh%get_last_edge_cell()
      owned(mesh%get_gid_from_lid(cell)) = .true.
    end do
    steps = steps_from(globe, owned)
    first = mesh%get_last_edge_cell()
    do depth = 1, deepest
      call check(mesh%get_last_halo_cell(depth) - first == count(steps == depth), 'halo cells')
      do cell = first + 1, mesh%get_last_halo_cell(depth)
        call check(steps(mesh%get_gid_from_lid(cell)) == depth, 'a halo cell is where it should be')
      end do
      first = mesh%get_last_halo_cell(depth)
    end do
    steps = steps_from(globe, .not. owned)
    do depth = 1, deepest
      call check(mesh%get_last_inner_cell(depth) == count(steps > depth), 'inner cells')
      do cell = 1, mesh%get_last_inner_cell(depth)
        call check(steps(mesh%get_gid_from_lid(cell)) > depth, 'an inner cell is within')
      end do
    end do
    do depth = 0, deepest + 1, deepest + 1
      call check(mesh%get_num_cells_inner(depth) == 0, 'no cells are at depths not told apart')
      call check(mesh%get_last_inner_cell_per_colour(1, depth) <= mesh%get_last_inner_cell(depth), &
                 'nor are any of a colour')
    end do
  end subroutine ranks_hold_what_they_should

  !> Return the least number of steps, each to a cell that shares a vertex, from marked cells.
  function steps_from(globe, marked) result(steps)
    type(cubed_sphere_type), intent(in) :: globe
    logical, intent(in) :: marked(:)
    integer(i_def) :: steps(size(marked))

    logical :: reached(globe%count_vertices())
    integer(i_def) :: cell, corner, depth

    steps = merge(0, huge(steps), marked)
    do depth = 1, deepest
      reached = .false.
      do cell = 1, globe%count_cells()
        if (steps(cell) >= depth) cycle
        do corner = 1, sides
          reached(globe%vertex_at(corner, cell)) = .true.
        end do
      end do
      do cell = 1, globe%count_cells()
        if (any([(reached(globe%vertex_at(corner, cell)), corner=1, sides)])) &
          steps(cell) = min(steps(cell), depth)
      end do
    end do
  end function steps_from

  pure function close(a, b)
    real(r_def), intent(in) :: a, b
    logical :: close

    close = abs(a - b) < 1.0e-13_r_def
  end function close

end program sphere
