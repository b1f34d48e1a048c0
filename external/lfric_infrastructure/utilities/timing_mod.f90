!> The timing calls; they do nothing here.
!>
!> LPROF is false, so that code that tests it skips the calls.
module timing_mod

  use constants_mod, only: i_def

  implicit none
  private

  public :: start_timing, stop_timing

  !> The kind of the handle of a timed section.
  integer, parameter, public :: tik = i_def

  !> Whether sections are timed.
  logical, parameter, public :: LPROF = .false.

contains

  !> Start a timed section and set its handle.
  subroutine start_timing(timing_section_handle, timing_section_name)
    integer(tik), intent(out) :: timing_section_handle
    character(*), intent(in) :: timing_section_name

    timing_section_handle = 0
  end subroutine start_timing

  !> Stop a timed section.
  subroutine stop_timing(timing_section_handle)
    integer(tik), intent(in) :: timing_section_handle
  end subroutine stop_timing

end module timing_mod
