!> The clock of a model: from a first to a last timestep, with a time of spinning up.
module model_clock_mod

  use clock_mod, only: clock_type
  use constants_mod, only: i_timestep, r_def, r_second

  implicit none
  private

  !> A clock that is before its first step until it ticks.
  type, extends(clock_type), public :: model_clock_type
    private
    integer(i_timestep) :: first_step = 1
    integer(i_timestep) :: current_step = 1
    integer(i_timestep) :: last_step = 1
    real(r_second) :: seconds_per_step = 1.0_r_second
    real(r_second) :: spinup_period = 0.0_r_second
    logical :: started = .false.
  contains
    procedure, public :: get_first_step
    procedure, public :: get_step
    procedure, public :: get_last_step
    procedure, public :: get_seconds_per_step
    procedure, public :: tick
    procedure, public :: seconds_from_steps
    procedure, public :: steps_from_seconds
    procedure, public :: get_spinup_fraction
    procedure, public :: is_initialisation
    procedure, public :: is_running
    procedure, public :: is_spinning_up
  end type model_clock_type

  interface model_clock_type
    module procedure new_model_clock
  end interface model_clock_type

contains

  !> Return a clock; the spin-up period is in seconds from the first step.
  function new_model_clock(first, last, seconds_per_step, spinup_period) result(new_clock)
    integer(i_timestep), intent(in) :: first
    integer(i_timestep), intent(in) :: last
    real(r_second), intent(in) :: seconds_per_step
    real(r_second), intent(in) :: spinup_period
    type(model_clock_type) :: new_clock

    if (last < first) error stop 'model_clock_type: the last step precedes the first'
    if (seconds_per_step <= 0.0_r_second) error stop 'model_clock_type: a step takes no time'
    new_clock%first_step = first
    new_clock%current_step = first
    new_clock%last_step = last
    new_clock%seconds_per_step = seconds_per_step
    new_clock%spinup_period = spinup_period
  end function new_model_clock

  !> Go to the next timestep, the first one at first, and return whether it is to be run.
  function tick(this)
    class(model_clock_type), intent(inout) :: this
    logical :: tick

    if (this%started) this%current_step = this%current_step + 1
    this%started = .true.
    tick = this%is_running()
  end function tick

  !> Return how much of the spin-up period has passed, from 0 to 1.
  function get_spinup_fraction(this)
    class(model_clock_type), intent(in) :: this
    real(r_def) :: get_spinup_fraction

    get_spinup_fraction = 1.0_r_def
    if (.not. this%is_spinning_up()) return
    get_spinup_fraction = real(this%seconds_from_steps(this%current_step - this%first_step) / &
                               this%spinup_period, r_def)
  end function get_spinup_fraction

  !> Return whether the clock has not ticked yet.
  function is_initialisation(this)
    class(model_clock_type), intent(in) :: this
    logical :: is_initialisation

    is_initialisation = .not. this%started
  end function is_initialisation

  !> Return whether the clock has not run out.
  function is_running(this)
    class(model_clock_type), intent(in) :: this
    logical :: is_running

    is_running = this%current_step <= this%last_step
  end function is_running

  !> Return whether the spin-up period has not passed.
  function is_spinning_up(this)
    class(model_clock_type), intent(in) :: this
    logical :: is_spinning_up

    is_spinning_up = &
      this%seconds_from_steps(this%current_step - this%first_step) < this%spinup_period
  end function is_spinning_up

  !> Return the first timestep.
  function get_first_step(this)
    class(model_clock_type), intent(in) :: this
    integer(i_timestep) :: get_first_step

    get_first_step = this%first_step
  end function get_first_step

  !> Return the current timestep.
  function get_step(this)
    class(model_clock_type), intent(in) :: this
    integer(i_timestep) :: get_step

    get_step = this%current_step
  end function get_step

  !> Return the last timestep.
  function get_last_step(this)
    class(model_clock_type), intent(in) :: this
    integer(i_timestep) :: get_last_step

    get_last_step = this%last_step
  end function get_last_step

  !> Return the length of a timestep.
  function get_seconds_per_step(this)
    class(model_clock_type), intent(in) :: this
    real(r_second) :: get_seconds_per_step

    get_seconds_per_step = this%seconds_per_step
  end function get_seconds_per_step

  !> Return the seconds that a number of timesteps take.
  function seconds_from_steps(this, period)
    class(model_clock_type), intent(in) :: this
    integer(i_timestep), intent(in) :: period
    real(r_second) :: seconds_from_steps

    seconds_from_steps = real(period, r_second) * this%seconds_per_step
  end function seconds_from_steps

  !> Return the number of timesteps that cover a number of seconds.
  function steps_from_seconds(this, seconds)
    class(model_clock_type), intent(in) :: this
    real(r_second), intent(in) :: seconds
    integer(i_timestep) :: steps_from_seconds

    steps_from_seconds = ceiling(seconds / this%seconds_per_step, i_timestep)
  end function steps_from_seconds

end module model_clock_mod
