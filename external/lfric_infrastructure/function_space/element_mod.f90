!> Positions of the dofs of a space in a cell, and their basis functions.
!>
!> Every basis function is a product of polynomials, one in each direction (see line_mod). Where a
!> space is continuous they have one more point than the order plus 1: the row goes from side to
!> side, and the first and the last point belong to what cells share there. In other directions all
!> points belong to the cell. Vector spaces have a set of such functions for each direction: W1
!> those that are continuous across it, W2 those that are continuous along it, times the tangent or
!> the normal. So grad W0 is in W1, curl W1 in W2, and div W2 in W3, at every order.
!>
!> Dofs are listed by what they sit on: the volume, faces, edges, vertices; there x runs fastest.
module element_mod

  use constants_mod, only: i_def, l_def, r_def
  use fs_continuity_mod, only: W0, W1, W2, W2H, W2V, W2broken, W2Hbroken, W2Htrace, W2trace, &
                               W2Vtrace, W3, Wchi, Wtheta
  use line_mod, only: high, line_type, low, points_from_side_to_side, points_within, slope_at, &
                      value_at, within
  use reference_element_mod, only: reference_element_type

  implicit none
  private

  public :: new_element
  public :: evaluate, evaluate_diff, is_on_top, is_shared, is_upright, place_of, sits_on

  ! What a dof sits on, seen from above
  integer(i_def), parameter, public :: on_vertex = 1
  integer(i_def), parameter, public :: on_edge = 2
  integer(i_def), parameter, public :: on_cell = 3

  !> A set of functions: in which directions they are continuous, where the points of the others
  !> are, and the vector that they are multiplied with.
  type :: component_type
    logical :: continuous(3) = .false.
    logical :: points_off_sides = .false.
    real(r_def) :: direction(3) = 0.0_r_def
  end type component_type

  !> The dofs of one cell: their number, size of values, nodes and directions (3, dof).
  type, public :: element_type
    integer(i_def) :: ndf = 0
    integer(i_def) :: dim_space = 1
    integer(i_def) :: dim_space_diff = 3
    !> Whether dofs belong to their cell alone.
    logical(l_def) :: broken = .false.
    !> Labels of what the dofs sit on.
    integer(i_def), allocatable :: entities(:)
    !> For each dof the first of the cell that is in the same kind of column: over vertices, edges
    !> or cells, within layers or between, and at the same place among those there.
    integer(i_def), allocatable :: families(:)
    real(r_def), allocatable :: nodes(:, :)
    real(r_def), allocatable :: directions(:, :)
    !> The polynomials of the basis functions, (direction, dof).
    type(line_type), allocatable, private :: lines(:, :)
  end type element_type

contains

  !> Return the element of a space on a cell shape, of an order in the horizontal and one in the
  !> vertical; the lowest is 0.
  function new_element(fs, order_h, order_v, shape) result(element)
    integer(i_def), intent(in) :: fs
    integer(i_def), intent(in) :: order_h
    integer(i_def), intent(in) :: order_v
    class(reference_element_type), intent(in) :: shape
    type(element_type) :: element

    type(component_type), allocatable :: components(:)
    integer(i_def) :: most

    if (min(order_h, order_v) < 0) error stop 'function_space_type: an order is below 0'
    allocate (components, source=components_of(fs))
    if (any(fs == [W1, W2, W2H, W2V, W2broken, W2Hbroken])) element%dim_space = 3
    if (any(fs == [W2, W2H, W2V, W2broken, W2Hbroken])) element%dim_space_diff = 1
    element%broken = any(fs == [W2broken, W2Hbroken, W3, Wchi])
    most = size(components, kind=i_def) * (max(order_h, order_v) + 2)**3
    call allocate_dofs(element, most)
    call add_entities(element, components, [order_h, order_h, order_v] + 1, shape, &
                      on_faces_only=any(fs == [W2trace, W2Htrace, W2Vtrace]))
    call allocate_dofs(element, element%ndf)
    call find_families(element)
  end function new_element

  !> Return the sets of functions of a space.
  pure function components_of(fs) result(components)
    integer(i_def), intent(in) :: fs
    type(component_type), allocatable :: components(:)

    logical, parameter :: along(3, 3) = reshape( &
      [.true., .false., .false., .false., .true., .false., .false., .false., .true.], [3, 3])
    ! Positive is what the normals of the reference cell call so: south in y.
    real(r_def), parameter :: normals(3, 3) = reshape( &
      real([1, 0, 0, 0, -1, 0, 0, 0, 1], r_def), [3, 3])
    integer :: axis

    select case (fs)
    case (W0)
      allocate (components(1))
      components(1)%continuous = .true.
    case (W3, Wtheta)
      allocate (components(1))
      components(1)%continuous = [.false., .false., fs == Wtheta]
      components(1)%points_off_sides = .true.
    case (Wchi)
      allocate (components(1))
    case (W1)
      components = [(component_type(.not. along(:, axis), .false., abs(normals(:, axis))), &
                     axis=1, 3)]
    case (W2H, W2Hbroken, W2Htrace)
      components = [(component_type(along(:, axis), .false., normals(:, axis)), axis=1, 2)]
    case (W2V, W2Vtrace)
      components = [component_type(along(:, 3), .false., normals(:, 3))]
    case default
      components = [(component_type(along(:, axis), .false., normals(:, axis)), axis=1, 3)]
    end select
  end function components_of

  !> Add the dofs of all entities of a cell, or of its faces only, for so many points in each
  !> direction where the space is not continuous.
  subroutine add_entities(element, components, numbers, shape, on_faces_only)
    type(element_type), intent(inout) :: element
    type(component_type), intent(in) :: components(:)
    integer(i_def), intent(in) :: numbers(3)
    class(reference_element_type), intent(in) :: shape
    logical, intent(in) :: on_faces_only

    real(r_def), allocatable :: centres(:, :)
    integer(i_def) :: n

    if (.not. on_faces_only) then
      call shape%get_volume_centre_coordinates(centres)
      call add_dofs(element, components, numbers, centres(1, :), 1_i_def)
    end if
    call shape%get_face_centre_coordinates(centres)
    do n = 1, size(centres, 1, i_def)
      call add_dofs(element, components, numbers, centres(n, :), shape%get_face_entity(n))
    end do
    if (on_faces_only) return
    call shape%get_edge_centre_coordinates(centres)
    do n = 1, size(centres, 1, i_def)
      call add_dofs(element, components, numbers, centres(n, :), shape%get_edge_entity(n))
    end do
    call shape%get_vertex_coordinates(centres)
    do n = 1, size(centres, 1, i_def)
      call add_dofs(element, components, numbers, centres(n, :), shape%get_vertex_entity(n))
    end do
  end subroutine add_entities

  !> Add the dofs that sit on the entity with this centre, direction x fastest.
  subroutine add_dofs(self, components, numbers, centre, label)
    type(element_type), intent(inout) :: self
    type(component_type), intent(in) :: components(:)
    integer(i_def), intent(in) :: numbers(3)
    real(r_def), intent(in) :: centre(:)
    integer(i_def), intent(in) :: label

    type(line_type), allocatable :: x_lines(:), y_lines(:), z_lines(:)
    integer(i_def) :: seat(3)
    integer :: n, x, y, z

    seat = nint(2.0_r_def * centre - 1.0_r_def, i_def)
    do n = 1, size(components)
      associate (component => components(n))
        if (any(seat /= within .and. .not. component%continuous)) cycle
        x_lines = lines_of(component, 1, numbers(1), seat(1))
        y_lines = lines_of(component, 2, numbers(2), seat(2))
        z_lines = lines_of(component, 3, numbers(3), seat(3))
        do z = 1, size(z_lines)
          do y = 1, size(y_lines)
            do x = 1, size(x_lines)
              self%ndf = self%ndf + 1
              self%entities(self%ndf) = label
              self%directions(:, self%ndf) = component%direction
              self%lines(1, self%ndf) = x_lines(x)
              self%lines(2, self%ndf) = y_lines(y)
              self%lines(3, self%ndf) = z_lines(z)
              self%nodes(:, self%ndf) = self%lines(:, self%ndf)%node
            end do
          end do
        end do
      end associate
    end do
  end subroutine add_dofs

  !> Return the polynomials along an axis of functions that sit at one side of a cell or within.
  pure function lines_of(component, axis, number, seat) result(lines)
    type(component_type), intent(in) :: component
    integer, intent(in) :: axis
    integer(i_def), intent(in) :: number
    integer(i_def), intent(in) :: seat
    type(line_type), allocatable :: lines(:)

    real(r_def), allocatable :: points(:)
    integer(i_def) :: first, last, n

    first = 1
    last = number
    if (component%continuous(axis)) then
      allocate (points, source=points_from_side_to_side(number + 1))
      if (seat == within) first = 2
      if (seat == low) last = 1
      if (seat == high) first = number + 1
      if (seat == high) last = number + 1
    else if (component%points_off_sides .or. number == 1) then
      allocate (points, source=points_within(number))
    else
      allocate (points, source=points_from_side_to_side(number))
    end if
    allocate (lines(last - first + 1))
    do n = first, last
      lines(n - first + 1) = line_type(points, n, seat)
    end do
  end function lines_of

  !> Make room for a number of dofs, and keep those that are there.
  subroutine allocate_dofs(self, number)
    type(element_type), intent(inout) :: self
    integer(i_def), intent(in) :: number

    type(element_type) :: old
    integer(i_def) :: df

    if (allocated(self%entities)) then
      call move_alloc(self%entities, old%entities)
      call move_alloc(self%nodes, old%nodes)
      call move_alloc(self%directions, old%directions)
      call move_alloc(self%lines, old%lines)
    end if
    allocate (self%entities(number), self%nodes(3, number), self%directions(3, number))
    allocate (self%lines(3, number))
    do df = 1, self%ndf
      self%entities(df) = old%entities(df)
      self%nodes(:, df) = old%nodes(:, df)
      self%directions(:, df) = old%directions(:, df)
      self%lines(:, df) = old%lines(:, df)
    end do
  end subroutine allocate_dofs

  !> Set the families. In a broken space each dof has one of its own.
  subroutine find_families(self)
    type(element_type), intent(inout) :: self

    integer(i_def) :: df, family, rank_on_entity(self%ndf)

    allocate (self%families(self%ndf))
    do df = 1, self%ndf
      rank_on_entity(df) = count(self%entities(:df) == self%entities(df), kind=i_def)
      do family = 1, df
        if (family == df) exit
        if (self%broken) cycle
        if (sits_on(self, family) == sits_on(self, df) .and. &
            (is_upright(self, family) .eqv. is_upright(self, df)) .and. &
            rank_on_entity(family) == rank_on_entity(df)) exit
      end do
      self%families(df) = family
    end do
  end subroutine find_families

  !> Return what a dof sits on, seen from above: on_vertex, on_edge or on_cell.
  pure function sits_on(self, df)
    type(element_type), intent(in) :: self
    integer(i_def), intent(in) :: df
    integer(i_def) :: sits_on

    integer(i_def), parameter :: entity_of_middles(0:2) = [on_vertex, on_edge, on_cell]

    sits_on = entity_of_middles(count(self%lines(:2, df)%seat == within))
  end function sits_on

  !> Return which corner (SW, SE, NE, NW) or side (W, S, E, N) a dof sits on; 1 for the cell.
  pure function place_of(self, df) result(place)
    type(element_type), intent(in) :: self
    integer(i_def), intent(in) :: df
    integer(i_def) :: place

    logical :: east, north

    east = self%lines(1, df)%seat == high
    north = self%lines(2, df)%seat == high
    select case (sits_on(self, df))
    case (on_vertex)
      place = merge(merge(3, 4, east), merge(2, 1, east), north)
    case (on_edge)
      place = merge(merge(4, 2, north), merge(3, 1, east), self%lines(1, df)%seat == within)
    case default
      place = 1
    end select
  end function place_of

  !> Return whether a dof sits within its layer, not at its bottom or top.
  pure function is_upright(self, df)
    type(element_type), intent(in) :: self
    integer(i_def), intent(in) :: df
    logical :: is_upright

    is_upright = self%lines(3, df)%seat == within
  end function is_upright

  !> Return whether a dof sits at the top of its layer.
  pure function is_on_top(self, df)
    type(element_type), intent(in) :: self
    integer(i_def), intent(in) :: df
    logical :: is_on_top

    is_on_top = self%lines(3, df)%seat == high
  end function is_on_top

  !> Return whether a dof is shared with the cell below or above.
  pure function is_shared(self, df)
    type(element_type), intent(in) :: self
    integer(i_def), intent(in) :: df
    logical :: is_shared

    is_shared = .not. (self%broken .or. is_upright(self, df))
  end function is_shared

  !> Return the value of the basis function of a dof at a point, (dim_space).
  pure function evaluate(self, df, xi) result(value)
    type(element_type), intent(in) :: self
    integer(i_def), intent(in) :: df
    real(r_def), intent(in) :: xi(3)
    real(r_def) :: value(self%dim_space)

    integer :: axis

    value = 1.0_r_def
    if (self%dim_space == 3) value = self%directions(:, df)
    do axis = 1, 3
      value = value * value_at(self%lines(axis, df), xi(axis))
    end do
  end function evaluate

  !> Return the derivative of the basis function of a dof at a point, (dim_space_diff): the
  !> gradient of a scalar, the curl on W1, the divergence on the W2 spaces.
  pure function evaluate_diff(self, df, xi) result(value)
    type(element_type), intent(in) :: self
    integer(i_def), intent(in) :: df
    real(r_def), intent(in) :: xi(3)
    real(r_def) :: value(self%dim_space_diff)

    real(r_def) :: slope(3), direction(3)

    slope = gradient(self, df, xi)
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
    type(element_type), intent(in) :: self
    integer(i_def), intent(in) :: df
    real(r_def), intent(in) :: xi(3)
    real(r_def) :: gradient(3)

    real(r_def) :: values(3), factors(3)
    integer :: axis

    do axis = 1, 3
      values(axis) = value_at(self%lines(axis, df), xi(axis))
    end do
    do axis = 1, 3
      factors = values
      factors(axis) = slope_at(self%lines(axis, df), xi(axis))
      gradient(axis) = product(factors)
    end do
  end function gradient

end module element_mod
