!> Owns where the dofs of a space sit in a cell, and the basis functions that go with them.
!>
!> It knows the lowest order of every space, and the next order of Wchi. There a dof sits on one
!> vertex, edge, face or the volume, and its basis function is a product over the directions: 1
!> in a direction in which the dof sits in the middle, else linear from 1 at the dof to 0 on the
!> far side. Vector spaces multiply it by the tangent of the edge or the normal of the face.
module element_mod

  use constants_mod, only: i_def, l_def, r_def
  use fs_continuity_mod, only: W0, W1, W2, W2H, W2V, W2broken, W2Hbroken, W2Htrace, W2Vtrace, &
                               W3, Wtheta, Wchi
  use reference_element_mod, only: EDGE_OFFSET, FACE_OFFSET, reference_element_type, V, &
                                   VERTEX_OFFSET

  implicit none
  private

  public :: new_element

  ! What a dof sits on, seen from above
  integer(i_def), parameter, public :: on_vertex = 1
  integer(i_def), parameter, public :: on_edge = 2
  integer(i_def), parameter, public :: on_cell = 3

  real(r_def), parameter :: middle = 0.5_r_def

  !> The dofs of one cell: their number, size of values, nodes and directions (3, dof).
  type, public :: element_type
    integer(i_def) :: ndf = 0
    integer(i_def) :: dim_space = 1
    integer(i_def) :: dim_space_diff = 3
    !> Whether dofs belong to their cell alone.
    logical(l_def) :: broken = .false.
    !> Labels of what the dofs belong to.
    integer(i_def), allocatable :: entities(:)
    real(r_def), allocatable :: nodes(:, :)
    real(r_def), allocatable :: directions(:, :)
  contains
    procedure, public :: sits_on
    procedure, public :: place_of
    procedure, public :: is_upright
    procedure, public :: is_on_top
    procedure, public :: is_shared
    procedure, public :: evaluate
    procedure, public :: evaluate_diff
    procedure, private :: gradient
  end type element_type

contains

  !> Return the element of a space on a cell shape; stops the program if the order of the space
  !> is one that is not known.
  function new_element(fs, order, shape) result(element)
    integer(i_def), intent(in) :: fs
    integer(i_def), intent(in) :: order
    class(reference_element_type), intent(in) :: shape
    type(element_type) :: element

    real(r_def), allocatable :: points(:, :), directions(:, :)
    integer(i_def) :: df, first, last

    if (order > 1 .or. (order == 1 .and. fs /= Wchi)) &
      error stop 'function_space_type: only the lowest order has a body'
    select case (fs)
    case (W0)
      call shape%get_vertex_coordinates(points)
    case (W1)
      call shape%get_edge_centre_coordinates(points)
    case (W3, Wchi)
      call shape%get_volume_centre_coordinates(points)
      if (order == 1) call shape%get_vertex_coordinates(points)
    case default
      call shape%get_face_centre_coordinates(points)
      call shape%get_normals_to_faces(directions)
    end select

    call choose_faces()
    element%ndf = last - first + 1
    element%broken = any(fs == [W2broken, W2Hbroken, W3, Wchi])
    allocate (element%nodes, source=points(:, first:last))
    call set_dimensions()
    allocate (element%entities(element%ndf))
    element%entities = [(label_of(fs, first + df - 1), df=1, element%ndf)]

  contains

    !> Set the range of the points that carry a dof.
    subroutine choose_faces()
      first = 1
      last = size(points, 2, i_def)
      if (any(fs == [W2V, Wtheta, W2Vtrace])) first = shape%get_number_horizontal_faces() + 1
      if (any(fs == [W2H, W2Hbroken, W2Htrace])) last = shape%get_number_horizontal_faces()
    end subroutine choose_faces

    !> Set the size of values and the directions of vector spaces.
    subroutine set_dimensions()
      integer(i_def) :: df

      select case (fs)
      case (W1)
        element%dim_space = 3
        element%dim_space_diff = 3
        allocate (element%directions(3, element%ndf))
        do df = 1, element%ndf
          call shape%get_tangent_to_edge(df, element%directions(:, df))
        end do
      case (W2, W2H, W2V, W2broken, W2Hbroken)
        element%dim_space = 3
        element%dim_space_diff = 1
        allocate (element%directions, source=directions(:, first:last))
      case default
        element%dim_space = 1
        element%dim_space_diff = 3
      end select
    end subroutine set_dimensions

  end function new_element

  !> Return the label of what the dof at a point belongs to, by the place of the point among those
  !> of its kind; the dofs of Wchi belong to the volume at any order.
  pure function label_of(fs, place) result(label)
    integer(i_def), intent(in) :: fs
    integer(i_def), intent(in) :: place
    integer(i_def) :: label

    select case (fs)
    case (W0)
      label = VERTEX_OFFSET + place
    case (W1)
      label = EDGE_OFFSET + place
    case (W3, Wchi)
      label = V
    case default
      label = FACE_OFFSET + place
    end select
  end function label_of

  !> Return what a dof sits on, seen from above: on_vertex, on_edge or on_cell.
  pure function sits_on(self, df)
    class(element_type), intent(in) :: self
    integer(i_def), intent(in) :: df
    integer(i_def) :: sits_on

    integer(i_def), parameter :: entity_of_middles(0:2) = [on_vertex, on_edge, on_cell]

    sits_on = entity_of_middles(count(is_middle(self%nodes(:2, df))))
  end function sits_on

  !> Return which corner (SW, SE, NE, NW) or side (W, S, E, N) a dof sits on; 1 for the cell.
  pure function place_of(self, df) result(place)
    class(element_type), intent(in) :: self
    integer(i_def), intent(in) :: df
    integer(i_def) :: place

    logical :: east, north

    east = self%nodes(1, df) > middle
    north = self%nodes(2, df) > middle
    select case (self%sits_on(df))
    case (on_vertex)
      place = merge(merge(3, 4, east), merge(2, 1, east), north)
    case (on_edge)
      place = merge(merge(4, 2, north), merge(3, 1, east), is_middle(self%nodes(1, df)))
    case default
      place = 1
    end select
  end function place_of

  !> Return whether a dof sits within its layer, not at its bottom or top.
  pure function is_upright(self, df)
    class(element_type), intent(in) :: self
    integer(i_def), intent(in) :: df
    logical :: is_upright

    is_upright = is_middle(self%nodes(3, df))
  end function is_upright

  !> Return whether a dof sits at the top of its layer.
  pure function is_on_top(self, df)
    class(element_type), intent(in) :: self
    integer(i_def), intent(in) :: df
    logical :: is_on_top

    is_on_top = self%nodes(3, df) > middle .and. .not. self%is_upright(df)
  end function is_on_top

  !> Return whether a dof is shared with the cell below or above.
  pure function is_shared(self, df)
    class(element_type), intent(in) :: self
    integer(i_def), intent(in) :: df
    logical :: is_shared

    is_shared = .not. (self%broken .or. self%is_upright(df))
  end function is_shared

  !> Return whether a coordinate is in the middle of the cell.
  elemental function is_middle(coordinate)
    real(r_def), intent(in) :: coordinate
    logical :: is_middle

    is_middle = abs(coordinate - middle) < 0.25_r_def
  end function is_middle

  !> Return the value of the basis function of a dof at a point, (dim_space).
  pure function evaluate(self, df, xi) result(value)
    class(element_type), intent(in) :: self
    integer(i_def), intent(in) :: df
    real(r_def), intent(in) :: xi(3)
    real(r_def) :: value(self%dim_space)

    value = product(factor(self%nodes(:, df), xi))
    if (self%dim_space == 3) value = value * self%directions(:, df)
  end function evaluate

  !> Return the derivative of the basis function of a dof at a point, (dim_space_diff): the
  !> gradient of a scalar, the curl on W1, the divergence on the W2 spaces.
  pure function evaluate_diff(self, df, xi) result(value)
    class(element_type), intent(in) :: self
    integer(i_def), intent(in) :: df
    real(r_def), intent(in) :: xi(3)
    real(r_def) :: value(self%dim_space_diff)

    real(r_def) :: slope(3), direction(3)

    slope = self%gradient(df, xi)
    value = 0.0_r_def
    if (self%dim_space == 1) then
      value = slope
      return
    end if
    direction = self%directions(:, df)
    if (self%dim_space_diff == 1) then
      value = dot_product(slope, direction)
    else
      value = cshift(slope, 1) * cshift(direction, 2) - cshift(slope, 2) * cshift(direction, 1)
    end if
  end function evaluate_diff

  !> Return the gradient of the scalar part of a basis function.
  pure function gradient(self, df, xi)
    class(element_type), intent(in) :: self
    integer(i_def), intent(in) :: df
    real(r_def), intent(in) :: xi(3)
    real(r_def) :: gradient(3)

    real(r_def) :: factors(3)
    integer :: axis

    do axis = 1, 3
      factors = factor(self%nodes(:, df), xi)
      factors(axis) = slope_of_factor(self%nodes(axis, df))
      gradient(axis) = product(factors)
    end do
  end function gradient

  !> Return the part of a basis function that depends on one coordinate.
  elemental function factor(node, xi)
    real(r_def), intent(in) :: node, xi
    real(r_def) :: factor

    factor = 1.0_r_def
    if (.not. is_middle(node)) factor = merge(xi, 1.0_r_def - xi, node > middle)
  end function factor

  !> Return the derivative of `factor` with respect to its coordinate.
  elemental function slope_of_factor(node) result(slope)
    real(r_def), intent(in) :: node
    real(r_def) :: slope

    slope = 0.0_r_def
    if (.not. is_middle(node)) slope = sign(1.0_r_def, node - middle)
  end function slope_of_factor

end module element_mod
