!> Quadrature, and basis functions: their nodes, and the theorems that relate their derivatives.
program basis

  use constants_mod, only: i_def, r_def
  use fs_continuity_mod
  use function_space_mod, only: DIFF_BASIS, function_space_type, value_of => BASIS
  use mesh_mod, only: mesh_type
  use quadrature_face_mod, only: quadrature_face_type, quadrature_face_proxy_type
  use quadrature_rule_gauss_lobatto_mod, only: quadrature_rule_gauss_lobatto_type
  use quadrature_rule_gaussian_mod, only: quadrature_rule_gaussian_type
  use quadrature_rule_mod, only: quadrature_rule_type
  use quadrature_rule_newton_cotes_mod, only: quadrature_rule_newton_cotes_type
  use quadrature_xyoz_mod, only: quadrature_xyoz_type, quadrature_xyoz_proxy_type
  use reference_element_mod, only: reference_element_type
  use small_plane_mod, only: check, new_mesh, space

  implicit none

  type(mesh_type), pointer :: mesh
  type(quadrature_rule_gaussian_type) :: gaussian
  type(quadrature_rule_gauss_lobatto_type) :: lobatto
  type(quadrature_rule_newton_cotes_type) :: newton_cotes

  mesh => new_mesh('plane', 6, 4)
  call integrates(gaussian, 4, 7)
  call integrates(lobatto, 4, 5)
  call integrates(newton_cotes, 4, 3)
  call is_nodal(W0)
  call is_nodal(Wtheta)
  call fluxes_are_unit()
  call divergence_theorem()

contains

  !> Check that a rule integrates x**degree but not x**(degree + 1).
  subroutine integrates(rule, points, degree)
    class(quadrature_rule_type), intent(in) :: rule
    integer(i_def), intent(in) :: points, degree

    real(r_def) :: table(points, 2)

    table = rule%quadrature_rule(points)
    call check(close(sum(table(:, 2) * table(:, 1)**degree), 1.0_r_def / (degree + 1)), &
               'a rule is exact up to its degree')
    call check(.not. close(sum(table(:, 2) * table(:, 1)**(degree + 1)), &
                           1.0_r_def / (degree + 2)), 'a rule is exact no further')
  end subroutine integrates

  !> Check that the basis functions of a scalar space are 1 at their node and 0 at the others.
  subroutine is_nodal(which)
    integer(i_def), intent(in) :: which

    type(function_space_type), pointer :: fs
    real(r_def), pointer :: nodes(:, :)
    integer(i_def) :: df, node

    fs => space(mesh, which)
    nodes => fs%get_nodes()
    do node = 1, fs%get_ndf()
      do df = 1, fs%get_ndf()
        associate (value => fs%call_function(value_of, df, nodes(:, node)))
          call check(close(value(1), merge(1.0_r_def, 0.0_r_def, df == node)), 'nodal basis')
        end associate
      end do
    end do
  end subroutine is_nodal

  !> Check that a W2 function has a flux of 1 along the normal of its face, 0 through the others.
  subroutine fluxes_are_unit()
    type(function_space_type), pointer :: fs
    class(reference_element_type), pointer :: element
    real(r_def), allocatable :: basis_qr(:, :, :, :), normals(:, :)
    type(quadrature_face_type) :: qr
    type(quadrature_face_proxy_type) :: proxy
    real(r_def) :: flux
    integer(i_def) :: df, face, i

    fs => space(mesh, W2)
    element => mesh%get_reference_element()
    call element%get_normals_to_faces(normals)
    qr = quadrature_face_type(2_i_def, .true., .true., element, gaussian)
    proxy = qr%get_quadrature_proxy()
    allocate (basis_qr(3, 6, proxy%np_xyz, proxy%nfaces))
    call qr%compute_function(value_of, fs, 3_i_def, 6_i_def, basis_qr)
    do face = 1, 6
      do df = 1, 6
        flux = 0.0_r_def
        do i = 1, proxy%np_xyz
          flux = flux + proxy%weights_xyz(i, face) * &
                        dot_product(basis_qr(:, df, i, face), normals(:, face))
        end do
        call check(close(flux, merge(1.0_r_def, 0.0_r_def, df == face)), 'fluxes of W2')
      end do
    end do
  end subroutine fluxes_are_unit

  !> Check that the integral of the divergence of a W2 function is its flux out of the cell.
  subroutine divergence_theorem()
    type(function_space_type), pointer :: fs
    class(reference_element_type), pointer :: element
    real(r_def), allocatable :: normals(:, :), outward(:, :)
    real(r_def) :: div(1, 6, 4, 2)
    type(quadrature_xyoz_type) :: qr
    type(quadrature_xyoz_proxy_type) :: proxy
    integer(i_def) :: df

    fs => space(mesh, W2)
    element => mesh%get_reference_element()
    call element%get_normals_to_faces(normals)
    call element%get_outward_normals_to_faces(outward)
    qr = quadrature_xyoz_type(2_i_def, gaussian)
    proxy = qr%get_quadrature_proxy()
    call qr%compute_function(DIFF_BASIS, fs, 1_i_def, 6_i_def, div)
    do df = 1, 6
      call check(close(dot_product(proxy%weights_xy, matmul(div(1, df, :, :), proxy%weights_z)), &
                       dot_product(normals(:, df), outward(:, df))), 'divergence of W2')
    end do
  end subroutine divergence_theorem

  pure function close(a, b)
    real(r_def), intent(in) :: a, b
    logical :: close

    close = abs(a - b) < 1.0e-12_r_def
  end function close

end program basis
