!> Quadratures that are known by hand: their rules, the order of their points, integrals over a
!> cell, its faces and its edges, and basis functions at their points.
program values_quadrature

  use checks_mod, only: check, finish_checks, new_mesh, space, start_checks
  use constants_mod, only: i_def, r_def
  use fs_continuity_mod, only: W0, W2
  use function_space_mod, only: BASIS, DIFF_BASIS, function_space_type
  use mesh_mod, only: mesh_type
  use quadrature_edge_mod, only: quadrature_edge_proxy_type, quadrature_edge_type
  use quadrature_face_mod, only: quadrature_face_proxy_type, quadrature_face_type
  use quadrature_rule_gauss_lobatto_mod, only: quadrature_rule_gauss_lobatto_type
  use quadrature_rule_gaussian_mod, only: quadrature_rule_gaussian_type
  use quadrature_rule_mod, only: quadrature_rule_type
  use quadrature_rule_newton_cotes_mod, only: quadrature_rule_newton_cotes_type
  use quadrature_rule_segment_centre_mod, only: quadrature_rule_segment_centre_type
  use quadrature_xyoz_mod, only: quadrature_xyoz_proxy_type, quadrature_xyoz_type

  implicit none

  real(r_def), parameter :: third = 1.0_r_def / 3.0_r_def, half = 0.5_r_def
  !> Integrals of x**2 + 10 y**2 + 100 z**2 over edges and faces, times 3.
  integer(i_def), parameter :: over_edges(12) = &
    [10, 1, 13, 31, 100, 103, 133, 130, 310, 301, 313, 331]
  integer(i_def), parameter :: over_faces(6) = [110, 101, 113, 131, 11, 311]
  !> The corner of a cell in the south, the west and at the bottom, to which a function belongs.
  integer(i_def), parameter :: corner = 1
  !> Outward normals, and what flows out through its face of each function of W2.
  integer(i_def), parameter :: outward(3, 6) = reshape( &
    [-1, 0, 0, 0, -1, 0, 1, 0, 0, 0, 1, 0, 0, 0, -1, 0, 0, 1], [3, 6])
  integer(i_def), parameter :: outflows(6) = [-1, 1, 1, -1, -1, 1]

  type(mesh_type), pointer :: mesh

  call start_checks()
  mesh => new_mesh('plane', .true., 8, 6)
  call rules_are_known()
  call edges_are_integrated()
  call faces_are_integrated()
  call cells_are_integrated()
  call finish_checks()

contains

  !> Check the points and weights of small rules.
  subroutine rules_are_known()
    type(quadrature_rule_gaussian_type) :: gaussian
    type(quadrature_rule_gauss_lobatto_type) :: gauss_lobatto
    type(quadrature_rule_newton_cotes_type) :: newton_cotes
    type(quadrature_rule_segment_centre_type) :: segment_centre
    real(r_def) :: far

    call check_rule(gaussian, [half], [1.0_r_def])
    far = sqrt(third)
    call check_rule(gaussian, half * [1.0_r_def - far, 1.0_r_def + far], [half, half])
    far = sqrt(0.6_r_def)
    call check_rule(gaussian, half * [1.0_r_def - far, 1.0_r_def, 1.0_r_def + far], &
                    [5.0_r_def, 8.0_r_def, 5.0_r_def] / 18.0_r_def)
    call check_rule(gauss_lobatto, [0.0_r_def, 1.0_r_def], [half, half])
    far = sqrt(0.2_r_def)
    call check_rule(gauss_lobatto, &
                    half * [0.0_r_def, 1.0_r_def - far, 1.0_r_def + far, 2.0_r_def], &
                    [1.0_r_def, 5.0_r_def, 5.0_r_def, 1.0_r_def] / 12.0_r_def)
    call check_rule(newton_cotes, [half], [1.0_r_def])
    call check_rule(newton_cotes, [0.0_r_def, 1.0_r_def], [half, half])
    call check_rule(newton_cotes, [0.0_r_def, third, 2.0_r_def * third, 1.0_r_def], &
                    [1.0_r_def, 3.0_r_def, 3.0_r_def, 1.0_r_def] / 8.0_r_def)
    call check_rule(segment_centre, [half], [1.0_r_def])
    call check_rule(segment_centre, [0.25_r_def, 0.75_r_def], [half, half])
    call check_rule(segment_centre, [1.0_r_def, 3.0_r_def, 5.0_r_def] / 6.0_r_def, &
                    [3.0_r_def, 2.0_r_def, 3.0_r_def] / 8.0_r_def)
  end subroutine rules_are_known

  !> Check one rule.
  subroutine check_rule(rule, points, weights)
    class(quadrature_rule_type), intent(in) :: rule
    real(r_def), intent(in) :: points(:), weights(:)

    real(r_def) :: table(size(points), 2)

    table = rule%quadrature_rule(size(points, kind=i_def))
    call check(all(close(table(:, 1), points)), 'the points of a rule')
    call check(all(close(table(:, 2), weights)), 'the weights of a rule')
  end subroutine check_rule

  !> Check integrals over edges, of all and of either kind.
  subroutine edges_are_integrated()
    type(quadrature_edge_type) :: quadrature
    type(quadrature_rule_segment_centre_type) :: rule
    integer :: n

    quadrature = quadrature_edge_type(3_i_def, .true., .true., mesh%get_reference_element(), rule)
    call check_edges(quadrature, [(n, n=1, 12)], 4)
    quadrature = quadrature_edge_type(3_i_def, .true., .false., mesh%get_reference_element(), rule)
    call check_edges(quadrature, [1, 2, 3, 4, 9, 10, 11, 12], 0)
    quadrature = quadrature_edge_type(3_i_def, .false., .true., mesh%get_reference_element(), rule)
    call check_edges(quadrature, [5, 6, 7, 8], 4)
    call quadrature%quadrature_final()
  end subroutine edges_are_integrated

  !> Check a quadrature over edges, some of which are upright.
  subroutine check_edges(quadrature, edges, upright)
    type(quadrature_edge_type), intent(in) :: quadrature
    integer, intent(in) :: edges(:)
    integer, intent(in) :: upright

    type(quadrature_edge_proxy_type) :: proxy
    type(function_space_type), pointer :: fs
    real(r_def), allocatable :: values(:, :, :, :), slopes(:, :, :, :)
    integer :: i, n

    proxy = quadrature%get_quadrature_proxy()
    call check(proxy%nedges == size(edges) .and. proxy%np_xyz == 3, 'edges and points')
    call check(proxy%nedges_vertical == upright .and. &
               proxy%nedges_horizontal == size(edges) - upright, 'edges of each kind')
    fs => space(mesh, W0)
    allocate (values(1, 8, 3, size(edges)), slopes(3, 8, 3, size(edges)))
    call quadrature%compute_function(BASIS, fs, 1_i_def, 8_i_def, values)
    call quadrature%compute_function(DIFF_BASIS, fs, 3_i_def, 8_i_def, slopes)
    do n = 1, size(edges)
      associate (points => proxy%points_xyz(:, :, n), weights => proxy%weights_xyz(:, n))
        call check(close(sum(weights), 1.0_r_def), 'an edge has a length of 1')
        call check(close(sum(weights * squares(points)), &
                         over_edges(edges(n)) / 3.0_r_def), 'an integral over an edge')
        do i = 1, 3
          call check(close(maxval(points(:, 2) - points(:, 1)), third), 'points run on')
          call check(close(values(1, corner, i, n), near_corner(points(:, i))), &
                     'a function at the points of an edge')
          call check(all(close(slopes(:, corner, i, n), slope_near_corner(points(:, i)))), &
                     'its gradient')
        end do
      end associate
    end do
  end subroutine check_edges

  !> Check integrals over faces, of all and of either kind.
  subroutine faces_are_integrated()
    type(quadrature_face_type) :: quadrature
    type(quadrature_face_proxy_type) :: proxy
    type(quadrature_rule_gaussian_type) :: rule
    integer :: n

    quadrature = quadrature_face_type(2_i_def, 3_i_def, .true., .true., &
                                      mesh%get_reference_element(), rule)
    call check_faces(quadrature, [(n, n=1, 6)], 4)
    quadrature = quadrature_face_type(2_i_def, 3_i_def, .true., .false., &
                                      mesh%get_reference_element(), rule)
    call check_faces(quadrature, [1, 2, 3, 4], 4)
    quadrature = quadrature_face_type(2_i_def, 3_i_def, .false., .true., &
                                      mesh%get_reference_element(), rule)
    call check_faces(quadrature, [5, 6], 0)
    quadrature = quadrature_face_type(2_i_def, .true., .true., mesh%get_reference_element(), rule)
    proxy = quadrature%get_quadrature_proxy()
    call check(proxy%np_xyz == 4, 'as many points in each direction')
    call check(all(close(sum(proxy%weights_xyz, 1), 1.0_r_def)), 'faces have an area of 1')
    call quadrature%quadrature_final()
  end subroutine faces_are_integrated

  !> Check a quadrature over faces, the first of which are at the sides: integrals, what flows out,
  !> and that of the directions along a face the second runs fastest.
  subroutine check_faces(quadrature, faces, at_sides)
    type(quadrature_face_type), intent(in) :: quadrature
    integer, intent(in) :: faces(:)
    integer, intent(in) :: at_sides

    !> The first and the second direction along each face.
    integer, parameter :: first(6) = [2, 1, 2, 1, 1, 1], second(6) = [3, 3, 3, 3, 2, 2]
    type(quadrature_face_proxy_type) :: proxy
    real(r_def), allocatable :: flows(:, :, :, :), values(:, :, :, :)
    real(r_def) :: flow
    integer :: df, i, n

    proxy = quadrature%get_quadrature_proxy()
    call check(proxy%nfaces == size(faces) .and. proxy%np_xyz == 6, 'faces and points')
    call check(proxy%nfaces_horizontal == at_sides .and. &
               proxy%nfaces_vertical == size(faces) - at_sides, 'faces of each kind')
    allocate (values(1, 8, 6, size(faces)), flows(3, 6, 6, size(faces)))
    call quadrature%compute_function(BASIS, space(mesh, W0), 1_i_def, 8_i_def, values)
    call quadrature%compute_function(BASIS, space(mesh, W2), 3_i_def, 6_i_def, flows)
    do n = 1, size(faces)
      associate (points => proxy%points_xyz(:, :, n), weights => proxy%weights_xyz(:, n), &
                 face => faces(n))
        call check(close(sum(weights * squares(points)), over_faces(face) / 3.0_r_def), &
                   'an integral over a face')
        call check(close(points(second(face), 2), half), 'the second direction runs fastest')
        call check(close(points(first(face), 4) - points(first(face), 1), sqrt(third)), &
                   'the first direction is slower')
        do df = 1, 6
          flow = sum(weights * matmul(real(outward(:, face), r_def), flows(:, df, :, n)))
          call check(close(flow, merge(real(outflows(df), r_def), 0.0_r_def, df == face)), &
                     'what flows out through a face')
        end do
        do i = 1, 6
          call check(close(values(1, corner, i, n), near_corner(points(:, i))), &
                     'a function at the points of a face')
        end do
      end associate
    end do
  end subroutine check_faces

  !> Check an integral over a cell, the order of points, and a function at them.
  subroutine cells_are_integrated()
    type(quadrature_xyoz_type) :: quadrature
    type(quadrature_xyoz_proxy_type) :: proxy
    type(quadrature_rule_gaussian_type) :: rule
    type(function_space_type), pointer :: fs
    real(r_def) :: values(1, 8, 6, 4)
    real(r_def) :: total
    integer :: i, k

    quadrature = quadrature_xyoz_type(2_i_def, 3_i_def, 4_i_def, rule)
    proxy = quadrature%get_quadrature_proxy()
    call check(proxy%np_xy == 6 .and. proxy%np_z == 4, 'points in a cell')
    call check(all(shape(proxy%points_xy) == [6, 2]), 'points have a first and a second place')
    call check(close(proxy%points_xy(2, 2), half), 'y runs fastest')
    call check(close(proxy%points_xy(4, 1) - proxy%points_xy(1, 1), sqrt(third)), 'x is slower')
    fs => space(mesh, W0)
    call quadrature%compute_function(BASIS, fs, 1_i_def, 8_i_def, values)
    total = 0.0_r_def
    do k = 1, 4
      do i = 1, 6
        associate (x => proxy%points_xy(i, 1), y => proxy%points_xy(i, 2), z => proxy%points_z(k))
          total = total + proxy%weights_xy(i) * proxy%weights_z(k) * x**3 * y**5 * z**7
          call check(close(values(1, corner, i, k), near_corner([x, y, z])), &
                     'a function at the points of a cell')
        end associate
      end do
    end do
    call check(close(total, 1.0_r_def / (4.0_r_def * 6.0_r_def * 8.0_r_def)), 'an integral')
    quadrature = quadrature_xyoz_type(3_i_def, rule)
    proxy = quadrature%get_quadrature_proxy()
    call check(proxy%np_xy == 9 .and. proxy%np_z == 3, 'as many points in each direction')
    call check(close(sum(proxy%weights_xy), 1.0_r_def), 'a cell has a volume of 1')
    call quadrature%quadrature_final()
  end subroutine cells_are_integrated

  !> Return x**2 + 10 y**2 + 100 z**2 at points, (xyz, point).
  pure function squares(points)
    real(r_def), intent(in) :: points(:, :)
    real(r_def) :: squares(size(points, 2))

    squares = matmul([1.0_r_def, 10.0_r_def, 100.0_r_def], points**2)
  end function squares

  !> Return the value at a point of the function of W0 that belongs to the corner.
  pure function near_corner(point) result(value)
    real(r_def), intent(in) :: point(:)
    real(r_def) :: value

    value = product(1.0_r_def - point)
  end function near_corner

  !> Return its gradient.
  pure function slope_near_corner(point) result(slope)
    real(r_def), intent(in) :: point(:)
    real(r_def) :: slope(3)

    slope = -cshift(1.0_r_def - point, 1) * cshift(1.0_r_def - point, 2)
  end function slope_near_corner

  elemental function close(a, b)
    real(r_def), intent(in) :: a, b
    logical :: close

    close = abs(a - b) < 1.0e-12_r_def
  end function close

end program values_quadrature
