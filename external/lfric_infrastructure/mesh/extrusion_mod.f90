!> Extrusion of a horizontal mesh to columns of layers: the heights of their levels.
module extrusion_mod

  use constants_mod, only: i_def, r_def
  use extrusion_parent_mod, only: DOUBLE_LEVEL, extrusion_type, PRIME_EXTRUSION, SHIFTED, TWOD

  implicit none
  private

  public :: extrusion_type
  public :: PRIME_EXTRUSION, TWOD, SHIFTED, DOUBLE_LEVEL

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

  !> Set levels at equal distances.
  subroutine uniform_extrude(this, eta)
    class(uniform_extrusion_type), intent(in) :: this
    real(r_def), intent(out) :: eta(0:)

    eta = even_levels(this%get_number_of_layers())
  end subroutine uniform_extrude

  !> Set levels at the squares of equal distances.
  subroutine quadratic_extrude(this, eta)
    class(quadratic_extrusion_type), intent(in) :: this
    real(r_def), intent(out) :: eta(0:)

    eta = even_levels(this%get_number_of_layers())**2
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

end module extrusion_mod
