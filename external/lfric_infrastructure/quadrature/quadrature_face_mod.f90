!> Quadrature over the faces of a cell.
module quadrature_face_mod

  use constants_mod, only: i_def, r_def
  use function_space_mod, only: function_space_type
  use quadrature_mod, only: quadrature_type
  use quadrature_rule_mod, only: quadrature_rule_type
  use reference_element_mod, only: reference_element_type

  implicit none
  private

  !> Points, (xyz, point, face), and their weights, (point, face).
  type, extends(quadrature_type), public :: quadrature_face_type
    private
    real(r_def), allocatable :: points_xyz(:, :, :)
    real(r_def), allocatable :: weights_xyz(:, :)
    integer(i_def) :: np_xyz = 0
    integer(i_def) :: nfaces = 0
    integer(i_def) :: nfaces_horizontal = 0
    integer(i_def) :: nfaces_vertical = 0
  contains
    procedure, non_overridable, public :: get_quadrature_proxy
    procedure, non_overridable, public :: compute_function
    procedure, non_overridable, public :: quadrature_final
  end type quadrature_face_type

  interface quadrature_face_type
    module procedure new_quadrature
    module procedure new_quadrature_one_size
  end interface quadrature_face_type

  !> Access to the points and weights.
  type, public :: quadrature_face_proxy_type
    private
    real(r_def), pointer, public :: points_xyz(:, :, :) => null()
    real(r_def), pointer, public :: weights_xyz(:, :) => null()
    integer(i_def), public :: np_xyz = 0
    integer(i_def), public :: nfaces = 0
    integer(i_def), public :: nfaces_horizontal = 0
    integer(i_def), public :: nfaces_vertical = 0
  end type quadrature_face_proxy_type

contains

  !> Return the quadrature of np_1 by np_2 points of a rule on the faces at the sides
  !> (`horizontal_faces`), at the bottom and the top (`vertical_faces`), or both.
  function new_quadrature(np_1, np_2, horizontal_faces, vertical_faces, reference_element, rule) &
    result(self)
    integer(i_def), intent(in) :: np_1, np_2
    logical, intent(in) :: horizontal_faces, vertical_faces
    class(reference_element_type), intent(in) :: reference_element
    class(quadrature_rule_type), intent(in) :: rule
    type(quadrature_face_type) :: self

    real(r_def) :: first(np_1, 2), second(np_2, 2)
    real(r_def), allocatable :: centres(:, :)
    integer(i_def) :: axes(2), face, first_face, i, j, point

    first = rule%quadrature_rule(np_1)
    second = rule%quadrature_rule(np_2)
    call reference_element%get_face_centre_coordinates(centres)
    if (horizontal_faces) self%nfaces_horizontal = reference_element%get_number_horizontal_faces()
    if (vertical_faces) self%nfaces_vertical = reference_element%get_number_vertical_faces()
    self%nfaces = self%nfaces_horizontal + self%nfaces_vertical
    self%np_xyz = np_1 * np_2
    first_face = merge(0, reference_element%get_number_horizontal_faces(), horizontal_faces)
    allocate (self%points_xyz(3, self%np_xyz, self%nfaces))
    allocate (self%weights_xyz(self%np_xyz, self%nfaces))
    do face = 1, self%nfaces
      axes = axes_along(centres(first_face + face, :))
      do i = 1, np_1
        do j = 1, np_2
          point = j + (i - 1) * np_2
          self%points_xyz(:, point, face) = centres(first_face + face, :)
          self%points_xyz(axes, point, face) = [first(i, 1), second(j, 1)]
          self%weights_xyz(point, face) = first(i, 2) * second(j, 2)
        end do
      end do
    end do
  end function new_quadrature

  !> Return the quadrature of np by np points of a rule on the same choice of faces.
  function new_quadrature_one_size(np, horizontal_faces, vertical_faces, reference_element, &
                                   rule) result(self)
    integer(i_def), intent(in) :: np
    logical, intent(in) :: horizontal_faces, vertical_faces
    class(reference_element_type), intent(in) :: reference_element
    class(quadrature_rule_type), intent(in) :: rule
    type(quadrature_face_type) :: self

    self = new_quadrature(np, np, horizontal_faces, vertical_faces, reference_element, rule)
  end function new_quadrature_one_size

  !> Return the two axes along which a face of the unit cube extends, given its centre.
  pure function axes_along(centre) result(axes)
    real(r_def), intent(in) :: centre(:)
    integer(i_def) :: axes(2)

    axes = pack([1_i_def, 2_i_def, 3_i_def], abs(centre - 0.5_r_def) < 0.25_r_def)
  end function axes_along

  !> Return access to the points and weights.
  function get_quadrature_proxy(self) result(proxy)
    class(quadrature_face_type), target, intent(in) :: self
    type(quadrature_face_proxy_type) :: proxy

    proxy%points_xyz => self%points_xyz
    proxy%weights_xyz => self%weights_xyz
    proxy%np_xyz = self%np_xyz
    proxy%nfaces = self%nfaces
    proxy%nfaces_horizontal = self%nfaces_horizontal
    proxy%nfaces_vertical = self%nfaces_vertical
  end function get_quadrature_proxy

  !> Set the basis functions of a space, or their derivatives, at the points:
  !> (size, dof, point, face).
  subroutine compute_function(self, function_to_call, function_space, fspace_dim, ndf, basis)
    class(quadrature_face_type), intent(in) :: self
    integer(i_def), intent(in) :: function_to_call
    type(function_space_type), intent(in) :: function_space
    integer(i_def), intent(in) :: fspace_dim
    integer(i_def), intent(in) :: ndf
    real(r_def), intent(out) :: basis(fspace_dim, ndf, self%np_xyz, self%nfaces)

    integer(i_def) :: df, i, face

    do face = 1, self%nfaces
      do i = 1, self%np_xyz
        do df = 1, ndf
          basis(:, df, i, face) = &
            function_space%call_function(function_to_call, df, self%points_xyz(:, i, face))
        end do
      end do
    end do
  end subroutine compute_function

  !> Give the memory back.
  subroutine quadrature_final(self)
    class(quadrature_face_type), intent(inout) :: self

    if (allocated(self%points_xyz)) deallocate (self%points_xyz)
    if (allocated(self%weights_xyz)) deallocate (self%weights_xyz)
    self%np_xyz = 0
    self%nfaces = 0
    self%nfaces_horizontal = 0
    self%nfaces_vertical = 0
  end subroutine quadrature_final

end module quadrature_face_mod
