!> The change between Cartesian and spherical coordinates, of points and of vectors.
!>
!> Angles are in radians; longitude is in (-pi, pi], latitude in [-pi/2, pi/2]. On a panel of a
!> cubed sphere, alpha and beta are angles from its middle along its axes, in [-pi/4, pi/4].
module coord_transform_mod

  use constants_mod, only: i_def, PI, r_def, r_double, r_single

  implicit none
  private

  public :: ll2xyz, llr2xyz, xyz2ll, xyz2llr
  public :: cartesian_distance, spherical_distance, central_angle
  public :: sphere2cart_vector, cart2sphere_vector, cart2sphere_scalar
  public :: alphabetar2xyz, alphabetar2llr, xyz2alphabetar, identify_panel
  public :: rodrigues_rotation, rebase_longitude_range

  !> For each panel the directions from the centre to its middle, and of its axes alpha and beta.
  !> Each axis points to -X, +Y or +Z.
  integer(i_def), parameter, public :: PANEL_ROT_MATRIX(3, 3, 6) = reshape( &
    [1, 0, 0, 0, 1, 0, 0, 0, 1, &
     0, 1, 0, -1, 0, 0, 0, 0, 1, &
     -1, 0, 0, 0, 0, 1, 0, 1, 0, &
     0, -1, 0, 0, 0, 1, -1, 0, 0, &
     0, 0, 1, 0, 1, 0, -1, 0, 0, &
     0, 0, -1, -1, 0, 0, 0, 1, 0], [3, 3, 6])

  !> Set the longitude and latitude of a point.
  interface xyz2ll
    module procedure xyz2ll_single, xyz2ll_double
  end interface xyz2ll

  !> Set the longitude, latitude and radius of a point.
  interface xyz2llr
    module procedure xyz2llr_single, xyz2llr_double
  end interface xyz2llr

  !> Set the Cartesian coordinates of a point on a panel.
  interface alphabetar2xyz
    module procedure alphabetar2xyz_single, alphabetar2xyz_double
  end interface alphabetar2xyz

contains

  !> Set the Cartesian coordinates of a point on the unit sphere.
  subroutine ll2xyz(longitude, latitude, x, y, z)
    real(r_def), intent(in) :: longitude, latitude
    real(r_def), intent(out) :: x, y, z

    call llr2xyz(longitude, latitude, 1.0_r_def, x, y, z)
  end subroutine ll2xyz

  !> Set the Cartesian coordinates of a point.
  subroutine llr2xyz(longitude, latitude, radius, x, y, z)
    real(r_def), intent(in) :: longitude, latitude, radius
    real(r_def), intent(out) :: x, y, z

    x = radius * cos(latitude) * cos(longitude)
    y = radius * cos(latitude) * sin(longitude)
    z = radius * sin(latitude)
  end subroutine llr2xyz

  !> Set the longitude and latitude of a point, in double precision.
  pure subroutine xyz2ll_double(x, y, z, longitude, latitude)
    real(r_double), intent(in) :: x, y, z
    real(r_double), intent(out) :: longitude, latitude

    longitude = 0.0_r_double
    if (hypot(x, y) > 0.0_r_double) longitude = atan2(y, x)
    latitude = atan2(z, hypot(x, y))
  end subroutine xyz2ll_double

  !> Set the longitude, latitude and radius of a point, in double precision.
  subroutine xyz2llr_double(x, y, z, longitude, latitude, radius)
    real(r_double), intent(in) :: x, y, z
    real(r_double), intent(out) :: longitude, latitude, radius

    call xyz2ll(x, y, z, longitude, latitude)
    radius = norm2([x, y, z])
  end subroutine xyz2llr_double

  !> Set the longitude and latitude of a point, in single precision.
  pure subroutine xyz2ll_single(x, y, z, longitude, latitude)
    real(r_single), intent(in) :: x, y, z
    real(r_single), intent(out) :: longitude, latitude

    longitude = 0.0_r_single
    if (hypot(x, y) > 0.0_r_single) longitude = atan2(y, x)
    latitude = atan2(z, hypot(x, y))
  end subroutine xyz2ll_single

  !> Set the longitude, latitude and radius of a point, in single precision.
  subroutine xyz2llr_single(x, y, z, longitude, latitude, radius)
    real(r_single), intent(in) :: x, y, z
    real(r_single), intent(out) :: longitude, latitude, radius

    call xyz2ll(x, y, z, longitude, latitude)
    radius = norm2([x, y, z])
  end subroutine xyz2llr_single

  !> Set the Cartesian coordinates of a point on a panel, in double precision.
  subroutine alphabetar2xyz_double(alpha, beta, radius, panel_id, global_x, global_y, global_z)
    real(r_double), intent(in) :: alpha, beta, radius
    integer(i_def), intent(in) :: panel_id
    real(r_double), intent(out) :: global_x, global_y, global_z

    real(r_double) :: xyz(3)

    xyz = matmul(PANEL_ROT_MATRIX(:, :, panel_id), [1.0_r_double, tan(alpha), tan(beta)])
    xyz = xyz * (radius / norm2(xyz))
    global_x = xyz(1)
    global_y = xyz(2)
    global_z = xyz(3)
  end subroutine alphabetar2xyz_double

  !> Set the Cartesian coordinates of a point on a panel, in single precision.
  subroutine alphabetar2xyz_single(alpha, beta, radius, panel_id, global_x, global_y, global_z)
    real(r_single), intent(in) :: alpha, beta, radius
    integer(i_def), intent(in) :: panel_id
    real(r_single), intent(out) :: global_x, global_y, global_z

    real(r_single) :: xyz(3)

    xyz = matmul(PANEL_ROT_MATRIX(:, :, panel_id), [1.0_r_single, tan(alpha), tan(beta)])
    xyz = xyz * (radius / norm2(xyz))
    global_x = xyz(1)
    global_y = xyz(2)
    global_z = xyz(3)
  end subroutine alphabetar2xyz_single

  !> Set the longitude and latitude of a point on a panel.
  subroutine alphabetar2llr(alpha, beta, radius, panel_id, long, lat)
    real(r_def), intent(in) :: alpha, beta
    real(r_def), intent(inout) :: radius
    integer(i_def), intent(in) :: panel_id
    real(r_def), intent(out) :: long, lat

    real(r_def) :: xyz(3)

    call alphabetar2xyz(alpha, beta, radius, panel_id, xyz(1), xyz(2), xyz(3))
    call xyz2llr(xyz(1), xyz(2), xyz(3), long, lat, radius)
  end subroutine alphabetar2llr

  !> Set the place on a panel of a point given in Cartesian coordinates.
  subroutine xyz2alphabetar(global_x, global_y, global_z, panel_id, alpha, beta, radius)
    real(r_def), intent(in) :: global_x, global_y, global_z
    integer(i_def), intent(in) :: panel_id
    real(r_def), intent(out) :: alpha, beta, radius

    real(r_def) :: on_panel(3)

    on_panel = matmul([global_x, global_y, global_z], PANEL_ROT_MATRIX(:, :, panel_id))
    alpha = atan2(on_panel(2), on_panel(1))
    beta = atan2(on_panel(3), on_panel(1))
    radius = norm2(on_panel)
  end subroutine xyz2alphabetar

  !> Return the panel that a point lies on, the first one where several meet.
  function identify_panel(x, y, z) result(panel_id)
    real(r_def), intent(in) :: x, y, z
    integer(i_def) :: panel_id

    integer(i_def) :: panel
    real(r_def) :: outward(size(PANEL_ROT_MATRIX, 3))

    outward = [(dot_product(PANEL_ROT_MATRIX(:, 1, panel), [x, y, z]), &
                panel=1, size(outward, kind=i_def))]
    panel_id = maxloc(outward, dim=1, kind=i_def)
  end function identify_panel

  !> Return the distance of two points in a straight line.
  pure function cartesian_distance(x, y) result(s)
    real(r_def), intent(in) :: x(3), y(3)
    real(r_def) :: s

    s = norm2(x - y)
  end function cartesian_distance

  !> Return the distance along the sphere of two points on it, given in Cartesian coordinates.
  function spherical_distance(x1, x2) result(s)
    real(r_def), intent(in) :: x1(3), x2(3)
    real(r_def) :: s

    real(r_def) :: half_chord

    half_chord = 0.5_r_def * norm2(x1 / norm2(x1) - x2 / norm2(x2))
    s = 2.0_r_def * norm2(x1) * asin(min(half_chord, 1.0_r_def))
  end function spherical_distance

  !> Set the angle between two points of a sphere, as seen from its centre.
  subroutine central_angle(long1, lat1, long2, lat2, angle)
    real(r_def), intent(in) :: long1, lat1, long2, lat2
    real(r_def), intent(out) :: angle

    real(r_def) :: one(3), two(3)

    call ll2xyz(long1, lat1, one(1), one(2), one(3))
    call ll2xyz(long2, lat2, two(1), two(2), two(3))
    angle = spherical_distance(one, two)
  end subroutine central_angle

  !> Return the unit vectors to the east, to the north and upward at a point, as columns.
  pure function directions_at(longitude, latitude) result(directions)
    real(r_def), intent(in) :: longitude, latitude
    real(r_def) :: directions(3, 3)

    directions(:, 1) = [-sin(longitude), cos(longitude), 0.0_r_def]
    directions(:, 2) = [-sin(latitude) * cos(longitude), -sin(latitude) * sin(longitude), &
                        cos(latitude)]
    directions(:, 3) = [cos(latitude) * cos(longitude), cos(latitude) * sin(longitude), &
                        sin(latitude)]
  end function directions_at

  !> Return in Cartesian components a vector given by its components to the east, to the north and
  !> upward at a point, (longitude, latitude, radius).
  function sphere2cart_vector(dlambda, llr) result(dx)
    real(r_def), intent(in) :: dlambda(3)
    real(r_def), intent(in) :: llr(3)
    real(r_def) :: dx(3)

    dx = matmul(directions_at(llr(1), llr(2)), dlambda)
  end function sphere2cart_vector

  !> Return the components to the east, to the north and upward of a Cartesian vector at a
  !> Cartesian point.
  pure function cart2sphere_vector(x_vec, cartesian_vec) result(spherical_vec)
    real(r_def), intent(in) :: x_vec(3)
    real(r_def), intent(in) :: cartesian_vec(3)
    real(r_def) :: spherical_vec(3)

    spherical_vec = matmul(cartesian_vec, directions_at( &
      atan2(x_vec(2), x_vec(1)), atan2(x_vec(3), hypot(x_vec(1), x_vec(2)))))
  end function cart2sphere_vector

  !> Replace the Cartesian components of a vector at a Cartesian point by those to the east, to
  !> the north and upward.
  subroutine cart2sphere_scalar(vector_x, vector_y, vector_z, spherical_u, spherical_v, spherical_w)
    real(r_def), intent(in) :: vector_x, vector_y, vector_z
    real(r_def), intent(inout) :: spherical_u, spherical_v, spherical_w

    real(r_def) :: components(3)

    components = cart2sphere_vector([vector_x, vector_y, vector_z], &
                                    [spherical_u, spherical_v, spherical_w])
    spherical_u = components(1)
    spherical_v = components(2)
    spherical_w = components(3)
  end subroutine cart2sphere_scalar

  !> Return a vector turned by an angle about an axis.
  pure function rodrigues_rotation(x_vec, rot_vec, alpha) result(y_vec)
    real(r_def), intent(in) :: x_vec(3)
    real(r_def), intent(in) :: rot_vec(3)
    real(r_def), intent(in) :: alpha
    real(r_def) :: y_vec(3)

    real(r_def) :: axis(3), across(3)

    axis = rot_vec / norm2(rot_vec)
    across = cshift(axis, 1) * cshift(x_vec, 2) - cshift(axis, 2) * cshift(x_vec, 1)
    y_vec = x_vec * cos(alpha) + across * sin(alpha) + &
            axis * dot_product(axis, x_vec) * (1.0_r_def - cos(alpha))
  end function rodrigues_rotation

  !> Return a longitude moved by whole turns into the turn that starts at `lon_min`.
  function rebase_longitude_range(longitude, lon_min) result(rebased_longitude)
    real(r_def), intent(in) :: longitude
    real(r_def), intent(in) :: lon_min
    real(r_def) :: rebased_longitude

    rebased_longitude = lon_min + modulo(longitude - lon_min, 2.0_r_def * PI)
  end function rebase_longitude_range

end module coord_transform_mod
