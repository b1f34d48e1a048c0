!> Values that are known by hand of the reference cell, and of all spaces of the lowest order over
!> it: which dofs there are, on what, where, in which direction, and their basis functions.
program values_cells

  use checks_mod, only: check, finish_checks, new_mesh, space, start_checks
  use constants_mod, only: i_def, l_def, r_def
  use fs_continuity_mod, only: name_from_functionspace, W0, W1, W2, W2broken, W2H, W2Hbroken, &
                               W2Htrace, W2trace, W2V, W2Vtrace, W3, Wchi, Wtheta
  use function_space_collection_mod, only: function_space_collection
  use function_space_mod, only: BASIS, DIFF_BASIS, function_space_type
  use mesh_mod, only: mesh_type
  use reference_element_mod, only: reference_element_type

  implicit none

  !> Twice the coordinates of vertices, edges, faces and the volume, one after the other.
  integer(i_def), parameter :: places(3, 27) = reshape( &
    [0, 0, 0, 2, 0, 0, 2, 2, 0, 0, 2, 0, 0, 0, 2, 2, 0, 2, 2, 2, 2, 0, 2, 2, &
     0, 1, 0, 1, 0, 0, 2, 1, 0, 1, 2, 0, 0, 0, 1, 2, 0, 1, 2, 2, 1, 0, 2, 1, &
     0, 1, 2, 1, 0, 2, 2, 1, 2, 1, 2, 2, &
     0, 1, 1, 1, 0, 1, 2, 1, 1, 1, 2, 1, 1, 1, 0, 1, 1, 2, 1, 1, 1], [3, 27])
  !> Where each of them begins in the table.
  integer, parameter :: vertex = 0, edge = 8, face = 20, volume = 26
  integer(i_def), parameter :: labels(27) = &
    [3001, 3002, 3003, 3004, 3005, 3006, 3007, 3008, 2001, 2002, 2003, 2004, 2005, 2006, 2007, &
     2008, 2009, 2010, 2011, 2012, 1001, 1002, 1003, 1004, 1005, 1006, 1]
  integer(i_def), parameter :: tangents(3, 12) = reshape( &
    [0, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, &
     0, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0], [3, 12])
  integer(i_def), parameter :: normals(3, 6) = reshape( &
    [1, 0, 0, 0, -1, 0, 1, 0, 0, 0, -1, 0, 0, 0, 1, 0, 0, 1], [3, 6])
  integer(i_def), parameter :: outward_normals(3, 6) = reshape( &
    [-1, 0, 0, 0, -1, 0, 1, 0, 0, 0, 1, 0, 0, 0, -1, 0, 0, 1], [3, 6])
  integer(i_def), parameter :: edges_of_faces(4, 6) = reshape( &
    [1, 5, 9, 8, 2, 6, 10, 5, 3, 7, 11, 6, 4, 7, 12, 8, 1, 2, 3, 4, 9, 10, 11, 12], [4, 6])
  !> What flows out through its own face, and the divergence, of the functions of W2.
  integer(i_def), parameter :: outflows(6) = [-1, 1, 1, -1, -1, 1]
  !> Points in a cell without any symmetry.
  real(r_def), parameter :: x(2) = [0.13_r_def, 0.83_r_def], y(2) = [0.71_r_def, 0.29_r_def]
  real(r_def), parameter :: z(3) = [0.42_r_def, 0.95_r_def, 0.08_r_def]

  type(mesh_type), pointer :: mesh
  integer :: n

  call start_checks()
  mesh => new_mesh('plane', .true., 8, 6)
  call the_cell_has_places(mesh%get_reference_element())
  call the_cell_has_directions(mesh%get_reference_element())
  call spaces_have_dofs()
  call fluxes_have_signs()
  call curls_have_signs()
  call dofs_have_several_values()
  call finish_checks()

contains

  !> Check numbers, coordinates and labels.
  subroutine the_cell_has_places(cell)
    class(reference_element_type), intent(in) :: cell

    real(r_def), allocatable :: coordinates(:, :)
    integer(i_def) :: edges(4), place

    call check(cell%get_number_2d_vertices() == 4 .and. cell%get_number_2d_edges() == 4, 'a square')
    call check(cell%get_number_vertices() == 8 .and. cell%get_number_verts_per_edge() == 2, &
               'the vertices of a cube')
    call check(cell%get_number_edges() == 12 .and. cell%get_number_horizontal_edges() == 8 .and. &
               cell%get_number_vertical_edges() == 4, 'its edges')
    call check(cell%get_number_faces() == 6 .and. cell%get_number_horizontal_faces() == 4 .and. &
               cell%get_number_vertical_faces() == 2, 'its faces')
    call cell%get_vertex_coordinates(coordinates)
    call check(are_at(coordinates, vertex, 8), 'coordinates of vertices')
    call cell%get_edge_centre_coordinates(coordinates)
    call check(are_at(coordinates, edge, 12), 'the middle of edges')
    call cell%get_face_centre_coordinates(coordinates)
    call check(are_at(coordinates, face, 6), 'the middle of faces')
    call cell%get_volume_centre_coordinates(coordinates)
    call check(are_at(coordinates, volume, 1), 'the middle of the cell')
    call check(all([(cell%get_vertex_entity(place), place=1, 8)] == labels(:8)), 'labels')
    call check(all([(cell%get_edge_entity(place), place=1, 12)] == labels(9:20)), 'of edges')
    call check(all([(cell%get_face_entity(place), place=1, 6)] == labels(21:26)), 'of faces')
    do place = 1, 8
      call check(same(cell%get_vertex(place), places(:, place), 2), 'a vertex')
    end do
    do place = 1, 6
      call cell%get_edge_on_face(place, edges)
      call check(all(edges == edges_of_faces(:, place)), 'the edges of a face')
    end do
  end subroutine the_cell_has_places

  !> Return whether coordinates, (place, 3), are those of a part of the table.
  function are_at(coordinates, first, number)
    real(r_def), intent(in) :: coordinates(:, :)
    integer, intent(in) :: first, number
    logical :: are_at

    are_at = all(shape(coordinates) == [number, 3])
    if (are_at) are_at = &
      all([(same(coordinates(n, :), places(:, first + n), 2), n=1, number)])
  end function are_at

  !> Check normals and tangents.
  subroutine the_cell_has_directions(cell)
    class(reference_element_type), intent(in) :: cell

    real(r_def), allocatable :: vectors(:, :)
    real(r_def) :: vector(3)
    integer(i_def) :: place

    do place = 1, 12
      call cell%get_tangent_to_edge(place, vector)
      call check(same(vector, tangents(:, place), 1), 'the tangent to an edge')
    end do
    do place = 1, 6
      call cell%get_normal_to_face(place, vector)
      call check(same(vector, normals(:, place), 1), 'the normal to a face')
      call cell%get_outward_normal_to_face(place, vector)
      call check(same(vector, outward_normals(:, place), 1), 'the outward normal to a face')
    end do
    call cell%get_normals_to_faces(vectors)
    call check(point_to(vectors, normals), 'normals to all faces')
    call cell%get_normals_to_horizontal_faces(vectors)
    call check(point_to(vectors, normals(:, :4)), 'normals to the sides')
    call cell%get_normals_to_vertical_faces(vectors)
    call check(point_to(vectors, normals(:, 5:)), 'normals to bottom and top')
    call cell%get_outward_normals_to_faces(vectors)
    call check(point_to(vectors, outward_normals), 'outward normals to all faces')
    call cell%get_outward_normals_to_horizontal_faces(vectors)
    call check(point_to(vectors, outward_normals(:, :4)), 'outward normals to the sides')
    call cell%get_outward_normals_to_vertical_faces(vectors)
    call check(point_to(vectors, outward_normals(:, 5:)), 'outward normals to bottom and top')
  end subroutine the_cell_has_directions

  !> Return whether vectors are those of a table.
  pure function point_to(vectors, expected)
    real(r_def), intent(in) :: vectors(:, :)
    integer(i_def), intent(in) :: expected(:, :)
    logical :: point_to

    point_to = all(shape(vectors) == shape(expected))
    if (point_to) point_to = all(abs(vectors - real(expected, r_def)) < 1.0e-12_r_def)
  end function point_to

  !> Check the dofs of all spaces: how many within a layer, on a side and on the bottom, whether
  !> those at the bottom and the top are marked, at which heights there are any.
  subroutine spaces_have_dofs()
    integer(i_def), parameter :: none(3, 8) = 0
    real(r_def), parameter :: middles(3) = [0.5_r_def, 1.5_r_def, 2.5_r_def]
    real(r_def), parameter :: levels(4) = [0.0_r_def, 1.0_r_def, 2.0_r_def, 3.0_r_def]
    real(r_def), parameter :: both(7) = [0.0_r_def, 0.5_r_def, 1.0_r_def, 1.5_r_def, 2.0_r_def, &
                                         2.5_r_def, 3.0_r_def]

    call check_space(W0, vertex, none, 3, [0, 0, 0], .false., levels)
    call check_space(W1, edge, tangents, 3, [4, 0, 0], .true., both)
    call check_space(W2, face, normals, 1, [4, 1, 1], .true., both)
    call check_space(W2H, face, normals(:, :4), 1, [4, 1, 0], .false., middles)
    call check_space(W2V, face + 4, normals(:, 5:), 1, [0, 0, 1], .true., levels)
    call check_space(W2broken, face, normals, 1, [6, 0, 0], .true., both)
    call check_space(W2Hbroken, face, normals(:, :4), 1, [4, 0, 0], .false., middles)
    call check_space(W2trace, face, none(:, :6), 3, [4, 1, 1], .false., both)
    call check_space(W2Htrace, face, none(:, :4), 3, [4, 1, 0], .false., middles)
    call check_space(W2Vtrace, face + 4, none(:, :2), 3, [0, 0, 1], .true., levels)
    call check_space(W3, volume, none(:, :1), 3, [1, 0, 0], .false., middles)
    call check_space(Wtheta, face + 4, none(:, :2), 3, [0, 0, 1], .true., levels)
    call check_space(Wchi, volume, none(:, :1), 3, [1, 0, 0], .false., middles)
  end subroutine spaces_have_dofs

  !> Check one space, whose dofs are at places of the table from one on, with directions if it is
  !> one of vectors.
  subroutine check_space(which, first, directions, dim_diff, numbers, is_marked, levels)
    integer(i_def), intent(in) :: which
    integer, intent(in) :: first
    integer(i_def), intent(in) :: directions(:, :)
    integer(i_def), intent(in) :: dim_diff
    integer, intent(in) :: numbers(3)
    logical, intent(in) :: is_marked
    real(r_def), intent(in) :: levels(:)

    type(function_space_type), pointer :: fs
    character(:), allocatable :: name
    real(r_def), pointer :: nodes(:, :), heights(:)
    integer(i_def), pointer :: entities(:), marks(:, :)
    integer(i_def) :: df

    fs => space(mesh, which)
    name = ' of ' // trim(name_from_functionspace(which))
    nodes => fs%get_nodes()
    entities => fs%get_entity_dofs()
    marks => fs%get_boundary_dofs()
    heights => fs%get_levels()
    call check(fs%get_ndf() == size(directions, 2), 'the number' // name)
    call check(fs%get_dim_space() == merge(3, 1, any(directions /= 0)), 'the dimension' // name)
    call check(fs%get_dim_space_diff() == dim_diff, 'the dimension of derivatives' // name)
    call check(all([fs%get_ndof_interior(), fs%get_ndof_face_h(), fs%get_ndof_face_v()] == &
                   numbers), 'numbers of dofs' // name)
    call check(size(heights) == size(levels), 'the number of levels' // name)
    call check(all(abs(heights - levels) < 1.0e-12_r_def), 'levels' // name)
    do df = 1, fs%get_ndf()
      associate (place => places(:, first + df))
        call check(same(nodes(:, df), place, 2), 'nodes' // name)
        call check(entities(df) == labels(first + df), 'entities' // name)
        call check(marks(df, 1) == merge(0, 1, is_marked .and. place(3) == 0), 'bottom' // name)
        call check(marks(df, 2) == merge(0, 1, is_marked .and. place(3) == 2), 'top' // name)
      end associate
    end do
    call check_basis(fs, places(:, first + 1:first + fs%get_ndf()), directions, name)
  end subroutine check_space

  !> Check values and derivatives at points, both as computed one by one and all together. Along
  !> each axis a function is 1 if its node is in the middle, else it goes from 1 at its node to 0.
  subroutine check_basis(fs, nodes, directions, name)
    type(function_space_type), pointer, intent(in) :: fs
    integer(i_def), intent(in) :: nodes(:, :), directions(:, :)
    character(*), intent(in) :: name

    real(r_def), allocatable :: values(:, :, :, :), derivatives(:, :, :, :)
    real(r_def) :: hats(3), slopes(3), gradient(3), expected(3), point(3)
    integer(i_def) :: df, i, k
    logical :: vectors

    vectors = fs%get_dim_space() == 3
    allocate (values(fs%get_dim_space(), fs%get_ndf(), 2, 3))
    allocate (derivatives(fs%get_dim_space_diff(), fs%get_ndf(), 2, 3))
    call fs%compute_basis_function(values, fs%get_ndf(), 2, 3, reshape([x, y], [2, 2]), z)
    call fs%compute_diff_basis_function(derivatives, fs%get_ndf(), 2, 3, &
                                        reshape([x, y], [2, 2]), z)
    do k = 1, 3
      do i = 1, 2
        point = [x(i), y(i), z(k)]
        do df = 1, fs%get_ndf()
          slopes = real(nodes(:, df) - 1, r_def)
          hats = merge(point, 1.0_r_def - point, nodes(:, df) == 2)
          where (nodes(:, df) == 1) hats = 1.0_r_def
          expected = product(hats)
          if (vectors) expected = expected * directions(:, df)
          gradient = slopes * [hats(2) * hats(3), hats(1) * hats(3), hats(1) * hats(2)]
          associate (value => values(:, df, i, k), derivative => derivatives(:, df, i, k))
            call check(close(value, expected(:size(value))), 'values' // name)
            call check(close(value, fs%call_function(BASIS, df, point)), 'each value' // name)
            call check(close(derivative, fs%call_function(DIFF_BASIS, df, point)), &
                       'each derivative' // name)
            if (.not. vectors) call check(close(derivative, gradient), 'gradients' // name)
            if (size(derivative) == 1) call check(close(derivative, &
              [dot_product(gradient, real(directions(:, df), r_def))]), 'divergences' // name)
          end associate
        end do
      end do
    end do
  end subroutine check_basis

  !> Check what flows out of a cell.
  subroutine fluxes_have_signs()
    integer(i_def), parameter :: spaces(5) = [W2, W2broken, W2H, W2Hbroken, W2V]
    type(function_space_type), pointer :: fs
    real(r_def) :: flow(3), divergence(1)
    integer(i_def) :: df, first, place

    do n = 1, size(spaces)
      fs => space(mesh, spaces(n))
      first = merge(4, 0, spaces(n) == W2V)
      do df = 1, fs%get_ndf()
        place = first + df
        flow = fs%call_function(BASIS, df, 0.5_r_def * real(places(:, face + place), r_def))
        divergence = fs%call_function(DIFF_BASIS, df, [x(1), y(1), z(1)])
        call check(close([dot_product(flow, real(outward_normals(:, place), r_def))], &
                         [real(outflows(place), r_def)]), 'what flows out through a face')
        call check(close(divergence, [real(outflows(place), r_def)]), 'flows out of the cell')
      end do
    end do
  end subroutine fluxes_have_signs

  !> Check curls of functions of an edge along y, along x and upright.
  subroutine curls_have_signs()
    type(function_space_type), pointer :: fs
    real(r_def) :: point(3)

    fs => space(mesh, W1)
    point = [x(1), y(1), z(1)]
    associate (a => 1.0_r_def - point(1), b => 1.0_r_def - point(2), c => 1.0_r_def - point(3))
      call check(close(fs%call_function(DIFF_BASIS, 1_i_def, point), [a, 0.0_r_def, -c]), &
                 'the curl at the west of the bottom')
      call check(close(fs%call_function(DIFF_BASIS, 2_i_def, point), [0.0_r_def, -b, c]), &
                 'the curl at the south of the bottom')
      call check(close(fs%call_function(DIFF_BASIS, 5_i_def, point), [-a, b, 0.0_r_def]), &
                 'the curl in the south-west')
    end associate
  end subroutine curls_have_signs

  !> Check where several values of a dof are.
  subroutine dofs_have_several_values()
    integer(i_def), parameter :: spaces(4) = [W0, W2, W3, Wtheta]

    do n = 1, size(spaces)
      call check_values(spaces(n), .true.)
      call check_values(spaces(n), .false.)
    end do
  end subroutine dofs_have_several_values

  !> Check one space: the values of a dof follow each other, or each has a column of its own.
  subroutine check_values(which, values_first)
    integer(i_def), intent(in) :: which
    logical(l_def), intent(in) :: values_first

    integer(i_def), parameter :: ndata = 5
    type(function_space_type), pointer :: single, fs
    integer(i_def), pointer :: map(:, :), map_of_single(:, :)
    integer(i_def) :: bottom, cell, df, step

    single => space(mesh, which)
    fs => function_space_collection%get_fs(mesh, 0_i_def, 0_i_def, which, ndata, values_first)
    step = merge(ndata, 1_i_def, values_first)
    map => fs%get_whole_dofmap()
    map_of_single => single%get_whole_dofmap()
    call check(fs%get_ndata() == ndata .and. (fs%is_ndata_first() .eqv. values_first), 'values')
    call check(fs%get_undf() == ndata * single%get_undf(), 'values for each dof')
    call check(fs%get_last_dof_owned() == ndata * single%get_last_dof_owned(), 'that are owned')
    do cell = 1, mesh%get_ncells_2d()
      do df = 1, fs%get_ndf()
        bottom = below(which, df)
        call check(map(df, cell) == 1 + ndata * (map_of_single(bottom, cell) - 1) + &
                   merge(0_i_def, step, bottom == df), 'where the values of a dof begin')
        call check(map_of_single(df, cell) == map_of_single(bottom, cell) + &
                   merge(0, 1, bottom == df), 'where a single value is')
      end do
    end do
  end subroutine check_values

  !> Return which dof of a cell lies below one at its top; another lies at the bottom of its column.
  pure function below(which, df)
    integer(i_def), intent(in) :: which, df
    integer(i_def) :: below

    below = df
    if (which == W0 .and. df > 4) below = df - 4
    if (which == W2 .and. df == 6) below = 5
    if (which == Wtheta .and. df == 2) below = 1
  end function below

  !> Return whether numbers are integers divided by one.
  pure function same(values, expected, divisor)
    real(r_def), intent(in) :: values(:)
    integer(i_def), intent(in) :: expected(:)
    integer, intent(in) :: divisor
    logical :: same

    same = close(values, real(expected, r_def) / real(divisor, r_def))
  end function same

  pure function close(a, b)
    real(r_def), intent(in) :: a(:), b(:)
    logical :: close

    close = all(abs(a - b) < 1.0e-12_r_def)
  end function close

end program values_cells
