!> The extent of a mesh in the horizontal and the vertical.
module domain_mod

  use constants_mod, only: i_def, l_def, r_def

  implicit none
  private

  !> The corners of a mesh, in metres or in radians of longitude and latitude. The third axis is the
  !> height above the bottom. The base height is the radius of a sphere, 0 on a plane.
  type, public :: domain_type
    private
    real(r_def) :: minimum(3) = 0.0_r_def
    real(r_def) :: maximum(3) = 0.0_r_def
    real(r_def) :: base_height = 0.0_r_def
    logical(l_def) :: ll_coords = .false.
  contains
    procedure, non_overridable, public :: minimum_lonlat
    procedure, non_overridable, public :: maximum_lonlat
    procedure, non_overridable, public :: minimum_xy
    procedure, non_overridable, public :: maximum_xy
    procedure, non_overridable, public :: get_base_height
    procedure, non_overridable, public :: is_lonlat
  end type domain_type

  interface domain_type
    module procedure new_domain
  end interface domain_type

contains

  !> Return the domain around horizontal points, (axis, point), from a base height up to a depth.
  function new_domain(horizontal_extents, base_height, depth, ll_coords) result(self)
    real(r_def), intent(in) :: horizontal_extents(:, :)
    real(r_def), intent(in) :: base_height
    real(r_def), intent(in) :: depth
    logical(l_def), intent(in) :: ll_coords
    type(domain_type) :: self

    self%minimum(:2) = minval(horizontal_extents, 2)
    self%maximum(:2) = maxval(horizontal_extents, 2)
    self%maximum(3) = depth
    self%base_height = merge(base_height, 0.0_r_def, ll_coords)
    self%ll_coords = ll_coords
  end function new_domain

  !> Return the least coordinate of a domain in longitude and latitude.
  function minimum_lonlat(self, axis) result(axis_min_coordinate)
    class(domain_type), intent(in) :: self
    integer(i_def), intent(in) :: axis
    real(r_def) :: axis_min_coordinate

    if (.not. self%ll_coords .and. axis < 3) &
      error stop 'minimum_lonlat: the domain is in x and y'
    axis_min_coordinate = self%minimum(axis)
  end function minimum_lonlat

  !> Return the greatest coordinate of a domain in longitude and latitude.
  function maximum_lonlat(self, axis) result(axis_max_coordinate)
    class(domain_type), intent(in) :: self
    integer(i_def), intent(in) :: axis
    real(r_def) :: axis_max_coordinate

    if (.not. self%ll_coords .and. axis < 3) &
      error stop 'maximum_lonlat: the domain is in x and y'
    axis_max_coordinate = self%maximum(axis)
  end function maximum_lonlat

  !> Return the least coordinate of a domain in x and y.
  function minimum_xy(self, axis) result(axis_min_coordinate)
    class(domain_type), intent(in) :: self
    integer(i_def), intent(in) :: axis
    real(r_def) :: axis_min_coordinate

    if (self%ll_coords .and. axis < 3) &
      error stop 'minimum_xy: the domain is in longitude and latitude'
    axis_min_coordinate = self%minimum(axis)
  end function minimum_xy

  !> Return the greatest coordinate of a domain in x and y.
  function maximum_xy(self, axis) result(axis_max_coordinate)
    class(domain_type), intent(in) :: self
    integer(i_def), intent(in) :: axis
    real(r_def) :: axis_max_coordinate

    if (self%ll_coords .and. axis < 3) &
      error stop 'maximum_xy: the domain is in longitude and latitude'
    axis_max_coordinate = self%maximum(axis)
  end function maximum_xy

  !> Return the radius of a sphere, 0 for a plane.
  function get_base_height(self) result(base_height)
    class(domain_type), intent(in) :: self
    real(r_def) :: base_height

    base_height = self%base_height
  end function get_base_height

  !> Return whether the horizontal coordinates are longitude and latitude.
  function is_lonlat(self) result(answer)
    class(domain_type), intent(in) :: self
    logical :: answer

    answer = self%ll_coords
  end function is_lonlat

end module domain_mod
