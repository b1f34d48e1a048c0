!> Quadrature over the edges of a cell.
module quadrature_edge_mod

  use constants_mod, only: i_def, r_def
  use function_space_mod, only: function_space_type
  use quadrature_mod, only: quadrature_type
  use quadrature_rule_mod, only: quadrature_rule_type
  use reference_element_mod, only: reference_element_type

  implicit none
  private

  !> Points, (xyz, point, edge), and their weights, (point, edge).
  type, extends(quadrature_type), public :: quadrature_edge_type
    private
    real(r_def), allocatable :: points_xyz(:, :, :)
    real(r_def), allocatable :: weights_xyz(:, :)
    integer(i_def) :: np_xyz = 0
    integer(i_def) :: nedges = 0
    integer(i_def) :: nedges_horizontal = 0
    integer(i_def) :: nedges_vertical = 0
  contains
    procedure, non_overridable, public :: get_quadrature_proxy
    procedure, non_overridable, public :: compute_function
    procedure, non_overridable, public :: quadrature_final
  end type quadrature_edge_type

  interface quadrature_edge_type
    module procedure new_quadrature
  end interface quadrature_edge_type

  !> Access to the points and weights.
  type, public :: quadrature_edge_proxy_type
    private
    real(r_def), pointer, public :: points_xyz(:, :, :) => null()
    real(r_def), pointer, public :: weights_xyz(:, :) => null()
    integer(i_def), public :: np_xyz = 0
    integer(i_def), public :: nedges = 0
    integer(i_def), public :: nedges_horizontal = 0
    integer(i_def), public :: nedges_vertical = 0
  end type quadrature_edge_proxy_type

contains

  !> Return the quadrature of np_1 points of a rule on the edges in the bottom and the top
  !> (`horizontal_edges`), those from bottom to top (`vertical_edges`), or both.
  function new_quadrature(np_1, horizontal_edges, vertical_edges, reference_element, rule) &
    result(self)
    integer(i_def), intent(in) :: np_1
    logical, intent(in) :: horizontal_edges, vertical_edges
    class(reference_element_type), intent(in) :: reference_element
    class(quadrature_rule_type), intent(in) :: rule
    type(quadrature_edge_type) :: self

    real(r_def) :: points(np_1, 2), tangent(3)
    real(r_def), allocatable :: centres(:, :)
    integer(i_def) :: all_edges, edge, i, place

    points = rule%quadrature_rule(np_1)
    call reference_element%get_edge_centre_coordinates(centres)
    if (horizontal_edges) self%nedges_horizontal = reference_element%get_number_horizontal_edges()
    if (vertical_edges) self%nedges_vertical = reference_element%get_number_vertical_edges()
    self%nedges = self%nedges_horizontal + self%nedges_vertical
    self%np_xyz = np_1
    allocate (self%points_xyz(3, np_1, self%nedges))
    allocate (self%weights_xyz(np_1, self%nedges))
    all_edges = reference_element%get_number_edges()
    place = 0
    do edge = 1, all_edges
      call reference_element%get_tangent_to_edge(edge, tangent)
      if (.not. merge(vertical_edges, horizontal_edges, tangent(3) > 0.5_r_def)) cycle
      place = place + 1
      do i = 1, np_1
        self%points_xyz(:, i, place) = centres(edge, :) + (points(i, 1) - 0.5_r_def) * tangent
      end do
      self%weights_xyz(:, place) = points(:, 2)
    end do
  end function new_quadrature

  !> Return access to the points and weights.
  function get_quadrature_proxy(self) result(proxy)
    class(quadrature_edge_type), target, intent(in) :: self
    type(quadrature_edge_proxy_type) :: proxy

    proxy%points_xyz => self%points_xyz
    proxy%weights_xyz => self%weights_xyz
    proxy%np_xyz = self%np_xyz
    proxy%nedges = self%nedges
    proxy%nedges_horizontal = self%nedges_horizontal
    proxy%nedges_vertical = self%nedges_vertical
  end function get_quadrature_proxy

  !> Set the basis functions of a space, or their derivatives, at the points:
  !> (size, dof, point, edge).
  subroutine compute_function(self, function_to_call, function_space, fspace_dim, ndf, basis)
    class(quadrature_edge_type), intent(in) :: self
    integer(i_def), intent(in) :: function_to_call
    type(function_space_type), intent(in) :: function_space
    integer(i_def), intent(in) :: fspace_dim
    integer(i_def), intent(in) :: ndf
    real(r_def), intent(out) :: basis(fspace_dim, ndf, self%np_xyz, self%nedges)

    integer(i_def) :: df, i, edge

    do edge = 1, self%nedges
      do i = 1, self%np_xyz
        do df = 1, ndf
          basis(:, df, i, edge) = &
            function_space%call_function(function_to_call, df, self%points_xyz(:, i, edge))
        end do
      end do
    end do
  end subroutine compute_function

  !> Give the memory back.
  subroutine quadrature_final(self)
    class(quadrature_edge_type), intent(inout) :: self

    if (allocated(self%points_xyz)) deallocate (self%points_xyz)
    if (allocated(self%weights_xyz)) deallocate (self%weights_xyz)
    self%np_xyz = 0
    self%nedges = 0
    self%nedges_horizontal = 0
    self%nedges_vertical = 0
  end subroutine quadrature_final

end module quadrature_edge_mod
