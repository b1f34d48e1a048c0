!> Quadratures for the C interface: points and weights are written to arrays of the caller.
module c_quadrature_mod

  use, intrinsic :: iso_c_binding, only: c_double, c_int
  use constants_mod, only: i_def
  use handles_mod, only: done, refused
  use quadrature_edge_mod, only: quadrature_edge_proxy_type, quadrature_edge_type
  use quadrature_face_mod, only: quadrature_face_proxy_type, quadrature_face_type
  use quadrature_rule_gauss_lobatto_mod, only: quadrature_rule_gauss_lobatto_type
  use quadrature_rule_gaussian_mod, only: quadrature_rule_gaussian_type
  use quadrature_rule_mod, only: quadrature_rule_type
  use quadrature_rule_newton_cotes_mod, only: quadrature_rule_newton_cotes_type
  use quadrature_rule_segment_centre_mod, only: quadrature_rule_segment_centre_type
  use quadrature_xyoz_mod, only: quadrature_xyoz_proxy_type, quadrature_xyoz_type
  use reference_element_mod, only: reference_cube_type

  implicit none
  private

contains

  !> Get the quadrature rule with a number; null if it does not exist or does not allow this number
  !> of points.
  subroutine find_rule(number, points, rule)
    integer(c_int), intent(in) :: number
    integer(c_int), intent(in) :: points(:)
    class(quadrature_rule_type), allocatable, intent(out) :: rule

    if (any(points < 1)) return
    select case (number)
    case (1)
      allocate (quadrature_rule_gaussian_type :: rule)
    case (2)
      if (any(points < 2)) return
      allocate (quadrature_rule_gauss_lobatto_type :: rule)
    case (3)
      allocate (quadrature_rule_newton_cotes_type :: rule)
    case (4)
      allocate (quadrature_rule_segment_centre_type :: rule)
    end select
  end subroutine find_rule

  !> Set the points, (point, xy) and (point), and the weights, of a quadrature over the volume.
  function quadrature_xyoz(rule_number, np, points_xy, points_z, weights_xy, weights_z) &
    bind(c, name='lfric_quadrature_xyoz') result(status)
    integer(c_int), value :: rule_number
    integer(c_int), intent(in) :: np(3)
    real(c_double), intent(out) :: points_xy(np(1) * np(2), 2)
    real(c_double), intent(out) :: points_z(np(3))
    real(c_double), intent(out) :: weights_xy(np(1) * np(2))
    real(c_double), intent(out) :: weights_z(np(3))
    integer(c_int) :: status

    class(quadrature_rule_type), allocatable :: rule
    type(quadrature_xyoz_type), target :: made
    type(quadrature_xyoz_proxy_type) :: proxy

    status = refused
    call find_rule(rule_number, np, rule)
    if (.not. allocated(rule)) return
    made = quadrature_xyoz_type(np(1), np(2), np(3), rule)
    proxy = made%get_quadrature_proxy()
    points_xy = proxy%points_xy
    points_z = proxy%points_z
    weights_xy = proxy%weights_xy
    weights_z = proxy%weights_z
    status = done
  end function quadrature_xyoz

  !> Set the points, (xyz, point, face), and the weights, (point, face), of a quadrature over faces:
  !> those at the sides, those at the bottom and the top, or both.
  function quadrature_face(rule_number, np, horizontal, vertical, points, weights) &
    bind(c, name='lfric_quadrature_face') result(status)
    integer(c_int), value :: rule_number
    integer(c_int), intent(in) :: np(2)
    integer(c_int), value :: horizontal
    integer(c_int), value :: vertical
    real(c_double), intent(out) :: points(3 * np(1) * np(2), *)
    real(c_double), intent(out) :: weights(np(1) * np(2), *)
    integer(c_int) :: status

    class(quadrature_rule_type), allocatable :: rule
    type(quadrature_face_type), target :: made
    type(quadrature_face_proxy_type) :: proxy
    integer(i_def) :: face

    status = refused
    call find_rule(rule_number, np, rule)
    if (.not. allocated(rule)) return
    made = quadrature_face_type(np(1), np(2), horizontal /= 0, vertical /= 0, &
                                reference_cube_type(), rule)
    proxy = made%get_quadrature_proxy()
    do face = 1, proxy%nfaces
      points(:, face) = reshape(proxy%points_xyz(:, :, face), [3 * np(1) * np(2)])
      weights(:, face) = proxy%weights_xyz(:, face)
    end do
    status = done
  end function quadrature_face

  !> Set the points, (xyz, point, edge), and the weights, (point, edge), of a quadrature over edges:
  !> those in the bottom and the top, those from bottom to top, or both.
  function quadrature_edge(rule_number, np, horizontal, vertical, points, weights) &
    bind(c, name='lfric_quadrature_edge') result(status)
    integer(c_int), value :: rule_number
    integer(c_int), value :: np
    integer(c_int), value :: horizontal
    integer(c_int), value :: vertical
    real(c_double), intent(out) :: points(3 * np, *)
    real(c_double), intent(out) :: weights(np, *)
    integer(c_int) :: status

    class(quadrature_rule_type), allocatable :: rule
    type(quadrature_edge_type), target :: made
    type(quadrature_edge_proxy_type) :: proxy
    integer(i_def) :: edge

    status = refused
    call find_rule(rule_number, [np], rule)
    if (.not. allocated(rule)) return
    made = quadrature_edge_type(np, horizontal /= 0, vertical /= 0, reference_cube_type(), rule)
    proxy = made%get_quadrature_proxy()
    do edge = 1, proxy%nedges
      points(:, edge) = reshape(proxy%points_xyz(:, :, edge), [3 * np])
      weights(:, edge) = proxy%weights_xyz(:, edge)
    end do
    status = done
  end function quadrature_edge

end module c_quadrature_mod
