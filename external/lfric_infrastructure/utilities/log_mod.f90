!> Logging: levels, the scratch space for messages, and the event that can stop a run.
!>
!> Messages below the current level are dropped; an error is written to the alert stream and stops
!> the program.
module log_mod

  use, intrinsic :: iso_fortran_env, only: error_unit, output_unit
  use constants_mod, only: i_def, i_timestep, str_long, str_max_filename

  implicit none
  private

  public :: initialise_logging, finalise_logging
  public :: log_event, log_at_level, log_level, log_set_level
  public :: log_set_info_stream, log_set_alert_stream
  public :: log_set_timestep, log_forget_timestep

  integer, parameter, public :: LOG_LEVEL_ALWAYS = 100000
  integer, parameter, public :: LOG_LEVEL_ERROR = 200
  integer, parameter, public :: LOG_LEVEL_WARNING = 150
  integer, parameter, public :: LOG_LEVEL_INFO = 100
  integer, parameter, public :: LOG_LEVEL_DEBUG = 50
  integer, parameter, public :: LOG_LEVEL_TRACE = 0

  !> Room in which a caller composes a message.
  character(str_long + str_max_filename), public :: log_scratch_space

  integer :: least_level = LOG_LEVEL_INFO
  integer :: info_unit = output_unit
  integer :: alert_unit = error_unit
  integer(i_timestep), allocatable :: timestep

contains

  !> Start logging; the communicator and the file name are ignored on one rank.
  subroutine initialise_logging(communicator, file_name, trace_on_warnings, log_to_rank_zero_only)
    integer(i_def), intent(in) :: communicator
    character(*), intent(in) :: file_name
    logical, optional, intent(in) :: trace_on_warnings
    logical, optional, intent(in) :: log_to_rank_zero_only

    least_level = LOG_LEVEL_INFO
  end subroutine initialise_logging

  !> Stop logging: flush all output.
  subroutine finalise_logging()
    flush (info_unit)
    flush (alert_unit)
  end subroutine finalise_logging

  !> Log a message at a level; a level of at least LOG_LEVEL_ERROR stops the program, except
  !> LOG_LEVEL_ALWAYS, which is written whatever level is set.
  subroutine log_event(message, level)
    character(*), intent(in) :: message
    integer, intent(in) :: level

    if (.not. log_at_level(level)) return
    if (level >= LOG_LEVEL_WARNING .and. level /= LOG_LEVEL_ALWAYS) then
      call write_message(alert_unit)
    else
      call write_message(info_unit)
    end if
    if (level >= LOG_LEVEL_ERROR .and. level /= LOG_LEVEL_ALWAYS) error stop 1

  contains

    subroutine write_message(unit)
      integer, intent(in) :: unit

      if (allocated(timestep)) then
        write (unit, '(a, a, i0, 2a)') level_name(level), ' [step ', timestep, '] ', trim(message)
      else
        write (unit, '(3a)') level_name(level), ' ', trim(message)
      end if
    end subroutine write_message

  end subroutine log_event

  !> Return the word that a level is written as.
  pure function level_name(level) result(name)
    integer, intent(in) :: level
    character(:), allocatable :: name

    select case (level)
    case (LOG_LEVEL_ALWAYS)
      name = 'ALWAYS'
    case (LOG_LEVEL_ERROR:LOG_LEVEL_ALWAYS - 1)
      name = 'ERROR'
    case (LOG_LEVEL_WARNING:LOG_LEVEL_ERROR - 1)
      name = 'WARNING'
    case (LOG_LEVEL_INFO:LOG_LEVEL_WARNING - 1)
      name = 'INFO'
    case (LOG_LEVEL_DEBUG:LOG_LEVEL_INFO - 1)
      name = 'DEBUG'
    case default
      name = 'TRACE'
    end select
  end function level_name

  !> Return whether a message of this level would be written.
  function log_at_level(level)
    integer, intent(in) :: level
    logical :: log_at_level

    log_at_level = level >= least_level
  end function log_at_level

  !> Return the lowest level that is written.
  function log_level()
    integer :: log_level

    log_level = least_level
  end function log_level

  !> Set the lowest level that is written.
  subroutine log_set_level(level)
    integer, intent(in) :: level

    least_level = level
  end subroutine log_set_level

  !> Set the unit of messages below a warning.
  subroutine log_set_info_stream(unit)
    integer, intent(in) :: unit

    info_unit = unit
  end subroutine log_set_info_stream

  !> Set the unit of warnings and errors.
  subroutine log_set_alert_stream(unit)
    integer, intent(in) :: unit

    alert_unit = unit
  end subroutine log_set_alert_stream

  !> Name a timestep in every later message.
  subroutine log_set_timestep(new_timestep)
    integer(i_timestep), intent(in) :: new_timestep

    timestep = new_timestep
  end subroutine log_set_timestep

  !> Name no timestep in later messages.
  subroutine log_forget_timestep()
    if (allocated(timestep)) deallocate (timestep)
  end subroutine log_forget_timestep

end module log_mod
