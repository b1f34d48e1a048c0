!> Owns how a horizontal mesh becomes columns of layers: the heights of their levels.
module extrusion_mod

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

  !> Layers of equal thickness.
  type, extends(extrusion_type), public :: uniform_extrusion_type
  contains
    procedure, public :: extrude => uniform_extrude
  end type uniform_extrusion_type

  interface uniform_extrusion_type
    module procedure new_uniform_extrusion
  end interface uniform_extrusion_type

  !> Layers whose thickness grows in proportion to height.
  type, extends(extrusion_type), public :: quadratic_extrusion_type
  contains
    procedure, public :: extrude => quadratic_extrude
  end type quadratic_extrusion_type

  interface quadratic_extrusion_type
    module procedure new_quadratic_extrusion
  end interface quadratic_extrusion_type

  !> Layers between given levels.
  type, extends(extrusion_type), public :: user_extrusion_type
    private
    real(r_def), allocatable :: levels(:)
  contains
    procedure, public :: extrude => user_extrude
  end type user_extrusion_type

  interface user_extrusion_type
    module procedure new_user_extrusion
  end interface user_extrusion_type

contains

  !> Return layers of equal thickness.
  function new_uniform_extrusion(atmosphere_bottom, atmosphere_top, number_of_layers, &
                                 extrusion_id) result(new)
    real(r_def), intent(in) :: atmosphere_bottom
    real(r_def), intent(in) :: atmosphere_top
    integer(i_def), intent(in) :: number_of_layers
    integer(i_def), intent(in) :: extrusion_id
    type(uniform_extrusion_type) :: new

    call new%extrusion_constructor(atmosphere_bottom, atmosphere_top, number_of_layers, &
                                   extrusion_id)
  end function new_uniform_extrusion

  !> Return layers whose thickness grows with height.
  function new_quadratic_extrusion(atmosphere_bottom, atmosphere_top, number_of_layers, &
                                   extrusion_id) result(new)
    real(r_def), intent(in) :: atmosphere_bottom
    real(r_def), intent(in) :: atmosphere_top
    integer(i_def), intent(in) :: number_of_layers
    integer(i_def), intent(in) :: extrusion_id
    type(quadratic_extrusion_type) :: new

    call new%extrusion_constructor(atmosphere_bottom, atmosphere_top, number_of_layers, &
                                   extrusion_id)
  end function new_quadratic_extrusion

  !> Return layers between given levels, scaled to 0 at the bottom and 1 at the top.
  function new_user_extrusion(atmosphere_bottom, atmosphere_top, levels, extrusion_id) result(new)
    real(r_def), intent(in) :: atmosphere_bottom
    real(r_def), intent(in) :: atmosphere_top
    real(r_def), intent(in) :: levels(:)
    integer, intent(in) :: extrusion_id
    type(user_extrusion_type) :: new

    call new%extrusion_constructor(atmosphere_bottom, atmosphere_top, &
                                   size(levels, kind=i_def) - 1_i_def, extrusion_id)
    allocate (new%levels, source=levels)
  end function new_user_extrusion

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

  !> Set levels at equal distances.
  subroutine uniform_extrude(this, eta)
    class(uniform_extrusion_type), intent(in) :: this
    real(r_def), intent(out) :: eta(0:)

    eta = even_levels(this%number_of_layers)
  end subroutine uniform_extrude

  !> Set levels at the squares of equal distances.
  subroutine quadratic_extrude(this, eta)
    class(quadratic_extrusion_type), intent(in) :: this
    real(r_def), intent(out) :: eta(0:)

    eta = even_levels(this%number_of_layers)**2
  end subroutine quadratic_extrude

  !> Set the given levels.
  subroutine user_extrude(this, eta)
    class(user_extrusion_type), intent(in) :: this
    real(r_def), intent(out) :: eta(0:)

    eta = this%levels
  end subroutine user_extrude

  !> Return the levels of `number_of_layers` equal layers between 0 and 1.
  pure function even_levels(number_of_layers) result(levels)
    integer(i_def), intent(in) :: number_of_layers
    real(r_def) :: levels(0:number_of_layers)

    integer(i_def) :: k

    levels = [(real(k, r_def) / real(number_of_layers, r_def), k=0, number_of_layers)]
  end function even_levels

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

end module extrusion_mod
