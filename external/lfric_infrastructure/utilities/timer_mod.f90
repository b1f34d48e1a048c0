!> The older timing call; it does nothing here.
module timer_mod

  implicit none
  private

  public :: init_timer, timer, output_timer

contains

  !> Get ready to time.
  subroutine init_timer(timer_output_path)
    character(*), optional, intent(in) :: timer_output_path
  end subroutine init_timer

  !> Start the section of this name, or stop it if it has been started.
  subroutine timer(cname)
    character(*), intent(in) :: cname
  end subroutine timer

  !> Write the times.
  subroutine output_timer()
  end subroutine output_timer

end module timer_mod
