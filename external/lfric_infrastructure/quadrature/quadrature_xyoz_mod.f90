!> Quadrature over the volume of a cell, as a product of horizontal and vertical points.
module quadrature_xyoz_mod

  use constants_mod, only: i_def, r_def
  use function_space_mod, only: function_space_type
  use quadrature_mod, only: quadrature_type
  use quadrature_rule_mod, only: quadrature_rule_type

  implicit none
  private

  !> Horizontal points, (point, xy), y fastest, and vertical ones, with their weights.
  type, extends(quadrature_type), public :: quadrature_xyoz_type
    private
    real(r_def), allocatable :: points_xy(:, :)
    real(r_def), allocatable :: points_z(:)
    real(r_def), allocatable :: weights_xy(:)
    real(r_def), allocatable :: weights_z(:)
    integer(i_def) :: np_xy = 0
    integer(i_def) :: np_z = 0
  contains
    procedure, non_overridable, public :: get_quadrature_proxy
    procedure, non_overridable, public :: compute_function
    procedure, non_overridable, public :: quadrature_final
  end type quadrature_xyoz_type

  interface quadrature_xyoz_type
    module procedure new_quadrature
    module procedure new_quadrature_one_size
  end interface quadrature_xyoz_type

  !> Access to the points and weights.
  type, public :: quadrature_xyoz_proxy_type
    private
    real(r_def), pointer, public :: points_xy(:, :) => null()
    real(r_def), pointer, public :: points_z(:) => null()
    real(r_def), pointer, public :: weights_xy(:) => null()
    real(r_def), pointer, public :: weights_z(:) => null()
    integer(i_def), public :: np_xy = 0
    integer(i_def), public :: np_z = 0
  end type quadrature_xyoz_proxy_type

contains

  !> Return the quadrature of np_x by np_y by np_z points of a rule.
  function new_quadrature(np_x, np_y, np_z, rule) result(self)
    integer(i_def), intent(in) :: np_x, np_y, np_z
    class(quadrature_rule_type), intent(in) :: rule
    type(quadrature_xyoz_type) :: self

    real(r_def) :: x(np_x, 2), y(np_y, 2), z(np_z, 2)
    integer(i_def) :: i, j, point

    x = rule%quadrature_rule(np_x)
    y = rule%quadrature_rule(np_y)
    z = rule%quadrature_rule(np_z)
    self%np_xy = np_x * np_y
    self%np_z = np_z
    allocate (self%points_z, source=z(:, 1))
    allocate (self%weights_z, source=z(:, 2))
    allocate (self%points_xy(self%np_xy, 2), self%weights_xy(self%np_xy))
    do i = 1, np_x
      do j = 1, np_y
        point = j + (i - 1) * np_y
        self%points_xy(point, :) = [x(i, 1), y(j, 1)]
        self%weights_xy(point) = x(i, 2) * y(j, 2)
      end do
    end do
  end function new_quadrature

  !> Return the quadrature of np points of a rule in each direction.
  function new_quadrature_one_size(np, rule) result(self)
    integer(i_def), intent(in) :: np
    class(quadrature_rule_type), intent(in) :: rule
    type(quadrature_xyoz_type) :: self

    self = new_quadrature(np, np, np, rule)
  end function new_quadrature_one_size

  !> Return access to the points and weights.
  function get_quadrature_proxy(self) result(proxy)
    class(quadrature_xyoz_type), target, intent(in) :: self
    type(quadrature_xyoz_proxy_type) :: proxy

    proxy%points_xy => self%points_xy
    proxy%points_z => self%points_z
    proxy%weights_xy => self%weights_xy
    proxy%weights_z => self%weights_z
    proxy%np_xy = self%np_xy
    proxy%np_z = self%np_z
  end function get_quadrature_proxy

  !> Set the basis functions of a space, or their derivatives, at the points:
  !> (size, dof, horizontal point, vertical point).
  subroutine compute_function(self, function_to_call, function_space, fspace_dim, ndf, basis)
    class(quadrature_xyoz_type), intent(in) :: self
    integer(i_def), intent(in) :: function_to_call
    type(function_space_type), intent(in) :: function_space
    integer(i_def), intent(in) :: fspace_dim
    integer(i_def), intent(in) :: ndf
    real(r_def), intent(out) :: basis(fspace_dim, ndf, self%np_xy, self%np_z)

    integer(i_def) :: df, i, k

    do k = 1, self%np_z
      do i = 1, self%np_xy
        do df = 1, ndf
          basis(:, df, i, k) = function_space%call_function( &
            function_to_call, df, [self%points_xy(i, :), self%points_z(k)])
        end do
      end do
    end do
  end subroutine compute_function

  !> Give the memory back.
  subroutine quadrature_final(self)
    class(quadrature_xyoz_type), intent(inout) :: self

    if (allocated(self%points_xy)) deallocate (self%points_xy)
    if (allocated(self%points_z)) deallocate (self%points_z)
    if (allocated(self%weights_xy)) deallocate (self%weights_xy)
    if (allocated(self%weights_z)) deallocate (self%weights_z)
    self%np_xy = 0
    self%np_z = 0
  end subroutine quadrature_final

end module quadrature_xyoz_mod
