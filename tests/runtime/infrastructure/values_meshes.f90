!> Values of meshes that are known by hand: faces and what lies beyond them, heights, extents.
program values_meshes

  use checks_mod, only: check, deepest, finish_checks, new_mesh, start_checks
  use constants_mod, only: i_def, l_def, PI, r_def
  use domain_mod, only: domain_type
  use extrusion_mod, only: extrusion_type, PRIME_EXTRUSION, quadratic_extrusion_type, SHIFTED, &
                           TWOD, uniform_extrusion_type, user_extrusion_type
  use local_mesh_mod, only: local_mesh_type
  use mesh_mod, only: mesh_type

  implicit none

  integer(i_def), parameter :: cells_x = 8, cells_y = 6
  real(r_def), parameter :: width_x = 2.0_r_def, width_y = 5.0_r_def

  call start_checks()
  call faces_face_each_other(.true.)
  call faces_face_each_other(.false.)
  call levels_have_heights()
  call meshes_have_extents()
  call finish_checks()

contains

  !> Check on a plane which face of the next cell a face is, and that the two are one face.
  subroutine faces_face_each_other(periodic)
    logical(l_def), intent(in) :: periodic

    !> Beyond W, S, E and N lie E, N, W and S.
    integer(i_def), parameter :: beyond(4) = [3, 4, 1, 2]
    type(mesh_type), pointer :: mesh
    integer(i_def), pointer :: adjacent_face(:, :)
    integer(i_def) :: cell, expected(4), next, side, x, y
    logical :: at_border(4)

    mesh => new_mesh('plane', periodic, cells_x, cells_y)
    adjacent_face => mesh%get_adjacent_face()
    call check(all(shape(adjacent_face) == [4, mesh%get_ncells_2d()]), 'four faces of each cell')
    do cell = 1, mesh%get_ncells_2d()
      x = modulo(mesh%get_gid_from_lid(cell) - 1, cells_x) + 1
      y = (mesh%get_gid_from_lid(cell) - 1) / cells_x + 1
      at_border = [x == 1, y == 1, x == cells_x, y == cells_y] .and. .not. periodic
      expected = merge(-1_i_def, beyond, at_border)
      call check(all(adjacent_face(:, cell) == expected), 'the face of the cell beyond a face')
      do side = 1, 4
        next = mesh%get_cell_next(side, cell)
        call check(next == 0 .or. .not. at_border(side), 'nothing lies beyond a border')
        if (next == 0) cycle
        call check(mesh%get_face_on_cell(side, cell) == &
                   mesh%get_face_on_cell(beyond(side), next), 'two cells have a face in common')
      end do
    end do
    call faces_differ(mesh)
  end subroutine faces_face_each_other

  !> Check that no more than two cells have a face, which lies at a side of each, and that each cell
  !> has its own at the bottom and the top.
  subroutine faces_differ(mesh)
    type(mesh_type), pointer, intent(in) :: mesh

    integer(i_def), allocatable :: users(:)
    integer(i_def) :: cell, face

    allocate (users(mesh%get_nedges_2d() + 2 * mesh%get_ncells_2d()))
    users = 0
    do cell = 1, mesh%get_ncells_2d()
      do face = 1, 6
        associate (id => mesh%get_face_on_cell(face, cell))
          users(id) = users(id) + 1
        end associate
      end do
    end do
    call check(all(users <= 2) .and. sum(users) == 6 * mesh%get_ncells_2d(), 'no face of three')
    do cell = 1, mesh%get_ncells_2d()
      call check(all(users([mesh%get_face_on_cell(5_i_def, cell), &
                            mesh%get_face_on_cell(6_i_def, cell)]) == 1), 'bottom and top')
    end do
  end subroutine faces_differ

  !> Check levels of all extrusions, and that a mesh has them.
  subroutine levels_have_heights()
    real(r_def), parameter :: third = 1.0_r_def / 3.0_r_def

    call check_heights( &
      uniform_extrusion_type(100.0_r_def, 30.0_r_def, 3_i_def, PRIME_EXTRUSION), PRIME_EXTRUSION, &
      [0.0_r_def, third, 2.0_r_def * third, 1.0_r_def], &
      [100.0_r_def, 110.0_r_def, 120.0_r_def, 130.0_r_def])
    call check_heights(quadratic_extrusion_type(2.0_r_def, 9.0_r_def, 3_i_def, SHIFTED), SHIFTED, &
                       [0.0_r_def, third**2, 4.0_r_def * third**2, 1.0_r_def], &
                       [2.0_r_def, 3.0_r_def, 6.0_r_def, 11.0_r_def])
    call check_heights(user_extrusion_type(0.0_r_def, 8.0_r_def, &
                                           [0.0_r_def, 0.25_r_def, 1.0_r_def], TWOD), TWOD, &
                       [0.0_r_def, 0.25_r_def, 1.0_r_def], [0.0_r_def, 2.0_r_def, 8.0_r_def])
  end subroutine levels_have_heights

  !> Check an extrusion, and a mesh of it.
  subroutine check_heights(extrusion, id, expected_eta, heights)
    class(extrusion_type), intent(in) :: extrusion
    integer(i_def), intent(in) :: id
    real(r_def), intent(in) :: expected_eta(0:), heights(0:)

    type(local_mesh_type), pointer :: plane
    type(mesh_type) :: mesh
    real(r_def) :: eta(0:ubound(heights, 1)), dz(ubound(heights, 1)), centre(3), vertex(3)
    real(r_def) :: corners(3, 8, ubound(heights, 1))
    integer(i_def) :: cell, k, layers

    layers = ubound(heights, 1, i_def)
    allocate (plane)
    plane = local_mesh_type('plane', cells_x, cells_y, width_x, width_y, halo_depth=deepest)
    mesh = mesh_type(plane, extrusion)
    call check(extrusion%get_number_of_layers() == layers .and. extrusion%get_id() == id, 'layers')
    call check(mesh%get_nlayers() == layers .and. mesh%get_extrusion_id() == id, 'layers of a mesh')
    call check(close(extrusion%get_atmosphere_bottom(), heights(0)), 'the bottom')
    call check(close(extrusion%get_atmosphere_top(), heights(layers) - heights(0)), 'the top')
    call check(close(mesh%get_domain_top(), heights(layers) - heights(0)), 'the top of a mesh')
    call extrusion%extrude(eta)
    call check(all(close(eta, expected_eta)), 'levels of an extrusion')
    eta = -1.0_r_def
    call mesh%get_eta(eta)
    call check(all(close(eta, expected_eta)), 'levels of a mesh')
    call mesh%get_dz(dz)
    call check(all(close(dz, heights(1:) - heights(:layers - 1))), 'the thickness of layers')
    cell = mesh%get_ncells_2d()
    call mesh%get_column_coords(cell, corners)
    do k = 1, layers
      call check(all(close(corners(3, :4, k), heights(k - 1))), 'the bottom of a cell')
      call check(all(close(corners(3, 5:, k), heights(k))), 'the top of a cell')
      call mesh%get_cell_centre_coords(cell + (k - 1) * mesh%get_ncells_2d(), centre)
      call check(close(centre(3), 0.5_r_def * (heights(k - 1) + heights(k))), 'its middle')
    end do
    do k = 0, layers
      call mesh%get_vert_coords(1_i_def + k * mesh%get_nverts_2d(), vertex)
      call check(close(vertex(3), heights(k)), 'the height of a vertex')
    end do
    call check_corners(mesh, cell, corners(:, :, 1))
  end subroutine check_heights

  !> Check the corners of a cell seen from above, from where it is.
  subroutine check_corners(mesh, cell, corners)
    type(mesh_type), intent(in) :: mesh
    integer(i_def), intent(in) :: cell
    real(r_def), intent(in) :: corners(3, 8)

    real(r_def) :: west, south

    west = width_x * real(modulo(mesh%get_gid_from_lid(cell) - 1, cells_x), r_def)
    south = width_y * real((mesh%get_gid_from_lid(cell) - 1) / cells_x, r_def)
    call check(all(close(corners(1, :), west + width_x * real([0, 1, 1, 0, 0, 1, 1, 0], r_def))), &
               'corners in the west and in the east')
    call check(all(close(corners(2, :), south + width_y * real([0, 0, 1, 1, 0, 0, 1, 1], r_def))), &
               'corners in the south and in the north')
  end subroutine check_corners

  !> Check the extent of a plane and of a sphere.
  subroutine meshes_have_extents()
    type(local_mesh_type), pointer :: plane, globe
    type(mesh_type) :: mesh
    type(domain_type) :: domain
    integer(i_def) :: axis

    allocate (plane, globe)
    plane = local_mesh_type('plane', cells_x, cells_y, width_x, width_y)
    mesh = mesh_type(plane, uniform_extrusion_type(100.0_r_def, 40.0_r_def, 3_i_def, TWOD))
    domain = mesh%get_domain()
    call check(.not. domain%is_lonlat(), 'a plane is in x and y')
    call check(all(close([(domain%minimum_xy(axis), axis=1, 3)], 0.0_r_def)), &
               'where a plane begins')
    call check(all(close([(domain%maximum_xy(axis), axis=1, 3)], &
                         [16.0_r_def, 30.0_r_def, 40.0_r_def])), 'where a plane ends')
    call check(close(domain%maximum_lonlat(3_i_def), 40.0_r_def), 'heights are heights anywhere')
    call check(close(domain%get_base_height(), 0.0_r_def), 'a plane has no radius')
    call check(mesh%is_geometry_planar() .and. mesh%is_coord_sys_xyz() .and. &
               mesh%is_topology_periodic(), 'what a plane is')

    globe = local_mesh_type('globe', 4_i_def)
    mesh = mesh_type(globe, uniform_extrusion_type(100.0_r_def, 30.0_r_def, 3_i_def, TWOD))
    domain = mesh%get_domain()
    call check(domain%is_lonlat(), 'a sphere is in longitude and latitude')
    call check(all(close([(domain%minimum_lonlat(axis), axis=1, 3)], &
                         [-PI, -0.5_r_def * PI, 0.0_r_def])), 'where a sphere begins')
    call check(all(close([(domain%maximum_lonlat(axis), axis=1, 3)], &
                         [PI, 0.5_r_def * PI, 30.0_r_def])), 'where a sphere ends')
    call check(close(domain%minimum_xy(3_i_def), 0.0_r_def), 'heights are heights anywhere')
    call check(close(domain%get_base_height(), 100.0_r_def), 'the radius of a sphere')
    call check(mesh%is_geometry_spherical() .and. mesh%is_coord_sys_ll(), 'what a sphere is')
  end subroutine meshes_have_extents

  elemental function close(a, b)
    real(r_def), intent(in) :: a, b
    logical :: close

    close = abs(a - b) < 1.0e-12_r_def * max(1.0_r_def, abs(b))
  end function close

end program values_meshes
