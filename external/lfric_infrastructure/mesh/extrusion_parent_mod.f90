!> Base type of all extrusions of a mesh. The extrusions are in another module, on which meshes do
!> not depend.
module extrusion_parent_mod

  use constants_mod, only: i_def, r_def

  implicit none
  private

  ! What an extruded mesh is for
  integer(i_def), parameter, public :: PRIME_EXTRUSION = 1
  integer(i_def), parameter, public :: TWOD = 2
  integer(i_def), parameter, public :: SHIFTED = 3
  integer(i_def), parameter, public :: DOUBLE_LEVEL = 4

  !> Layers between the bottom and the top of the atmosphere. The top is a height above the bottom,
  !> which is the radius of a sphere.
  type, abstract, public :: extrusion_type
    private
    real(r_def) :: atmosphere_bottom = 0.0_r_def
    real(r_def) :: atmosphere_top = 1.0_r_def
    integer(i_def) :: number_of_layers = 1
    integer(i_def) :: extrusion_id = PRIME_EXTRUSION
  contains
    procedure, public :: extrusion_constructor
    procedure, public :: get_atmosphere_bottom
    procedure, public :: get_atmosphere_top
    procedure, public :: get_number_of_layers
    procedure, public :: get_id
    procedure(extrude_method), public, deferred :: extrude
  end type extrusion_type

  abstract interface
    !> Set the heights of the levels, scaled to 0 at the bottom and 1 at the top.
    subroutine extrude_method(this, eta)
      import :: extrusion_type, r_def
      class(extrusion_type), intent(in) :: this
      real(r_def), intent(out) :: eta(0:)
    end subroutine extrude_method
  end interface

contains

  !> Set the range, the number of layers and the purpose of an extrusion.
  subroutine extrusion_constructor(this, atmosphere_bottom, atmosphere_top, number_of_layers, &
                                   extrusion_id)
    class(extrusion_type), intent(inout) :: this
    real(r_def), intent(in) :: atmosphere_bottom
    real(r_def), intent(in) :: atmosphere_top
    integer(i_def), intent(in) :: number_of_layers
    integer(i_def), intent(in) :: extrusion_id

    this%atmosphere_bottom = atmosphere_bottom
    this%atmosphere_top = atmosphere_top
    this%number_of_layers = number_of_layers
    this%extrusion_id = extrusion_id
  end subroutine extrusion_constructor

  !> Return the height of the bottom.
  function get_atmosphere_bottom(this) result(bottom)
    class(extrusion_type), intent(in) :: this
    real(r_def) :: bottom

    bottom = this%atmosphere_bottom
  end function get_atmosphere_bottom

  !> Return the height of the top above the bottom.
  function get_atmosphere_top(this) result(top)
    class(extrusion_type), intent(in) :: this
    real(r_def) :: top

    top = this%atmosphere_top
  end function get_atmosphere_top

  !> Return the number of layers.
  function get_number_of_layers(this) result(layers)
    class(extrusion_type), intent(in) :: this
    integer(i_def) :: layers

    layers = this%number_of_layers
  end function get_number_of_layers

  !> Return what the extrusion is for.
  function get_id(this) result(extrusion_id)
    class(extrusion_type), intent(in) :: this
    integer(i_def) :: extrusion_id

    extrusion_id = this%extrusion_id
  end function get_id

end module extrusion_parent_mod
