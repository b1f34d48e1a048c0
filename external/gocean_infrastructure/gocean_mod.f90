!> The start, the end and the log of a model.
module gocean_mod

  use, intrinsic :: iso_fortran_env, only: output_unit
  use kind_params_mod, only: go_wp
  use parallel_mod, only: on_master, parallel_abort, parallel_finalise, parallel_init

  implicit none
  private

  public :: gocean_initialise, gocean_finalise, gocean_stop
  public :: model_write_log

  !> Write a formatted line with one real number, one integer, both, or one text.
  interface model_write_log
    module procedure write_log_real, write_log_integer, write_log_both, write_log_text
  end interface model_write_log

contains

  !> Start the infrastructure; must be called before any other use of it.
  subroutine gocean_initialise()
    call parallel_init()
  end subroutine gocean_initialise

  !> End the infrastructure; it may not be used afterwards.
  subroutine gocean_finalise()
    call parallel_finalise()
  end subroutine gocean_finalise

  !> Stop the model with a message.
  subroutine gocean_stop(msg)
    character(len=*), intent(in) :: msg

    call parallel_abort(msg)
  end subroutine gocean_stop

  !> Write `fvar` with the format `fmtstr`, from one rank unless `all_ranks`.
  subroutine write_log_real(fmtstr, fvar, all_ranks)
    character(len=*), intent(in) :: fmtstr
    real(go_wp), intent(in) :: fvar
    logical, optional, intent(in) :: all_ranks

    if (speaks(all_ranks)) write (output_unit, fmtstr) fvar
  end subroutine write_log_real

  !> Write `ivar` with the format `fmtstr`, from one rank unless `all_ranks`.
  subroutine write_log_integer(fmtstr, ivar, all_ranks)
    character(len=*), intent(in) :: fmtstr
    integer, intent(in) :: ivar
    logical, optional, intent(in) :: all_ranks

    if (speaks(all_ranks)) write (output_unit, fmtstr) ivar
  end subroutine write_log_integer

  !> Write `istep` and `fvar` with the format `fmtstr`, from one rank unless `all_ranks`.
  subroutine write_log_both(fmtstr, istep, fvar, all_ranks)
    character(len=*), intent(in) :: fmtstr
    integer, intent(in) :: istep
    real(go_wp), intent(in) :: fvar
    logical, optional, intent(in) :: all_ranks

    if (speaks(all_ranks)) write (output_unit, fmtstr) istep, fvar
  end subroutine write_log_both

  !> Write `msg` with the format `fmtstr`, from one rank unless `all_ranks`.
  subroutine write_log_text(fmtstr, msg, all_ranks)
    character(len=*), intent(in) :: fmtstr
    character(len=*), intent(in) :: msg
    logical, optional, intent(in) :: all_ranks

    if (speaks(all_ranks)) write (output_unit, fmtstr) msg
  end subroutine write_log_text

  !> Return whether this rank writes to the log.
  function speaks(all_ranks)
    logical, optional, intent(in) :: all_ranks
    logical :: speaks

    speaks = on_master()
    if (present(all_ranks)) speaks = speaks .or. all_ranks
  end function speaks

end module gocean_mod
