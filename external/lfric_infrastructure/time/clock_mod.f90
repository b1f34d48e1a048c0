!> Base type of the clocks that algorithms may receive.
module clock_mod

  use constants_mod, only: i_timestep, r_second

  implicit none
  private

  !> A clock that counts timesteps.
  type, abstract, public :: clock_type
  contains
    procedure(step_interface), public, deferred :: get_first_step
    procedure(step_interface), public, deferred :: get_step
    procedure(step_interface), public, deferred :: get_last_step
    procedure(seconds_interface), public, deferred :: get_seconds_per_step
    procedure(tick_interface), public, deferred :: tick
  end type clock_type

  abstract interface
    !> Return a timestep.
    function step_interface(this)
      import :: clock_type, i_timestep
      class(clock_type), intent(in) :: this
      integer(i_timestep) :: step_interface
    end function step_interface

    !> Return the length of a timestep.
    function seconds_interface(this)
      import :: clock_type, r_second
      class(clock_type), intent(in) :: this
      real(r_second) :: seconds_interface
    end function seconds_interface

    !> Go to the next timestep and return whether it is to be run.
    function tick_interface(this)
      import :: clock_type
      class(clock_type), intent(inout) :: this
      logical :: tick_interface
    end function tick_interface
  end interface

end module clock_mod
