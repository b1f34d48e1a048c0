!> Statistics of halo exchanges on this rank.
module halo_statistics_mod

  use, intrinsic :: iso_fortran_env, only: int64

  implicit none
  private

  public :: count_exchange, get_halo_statistics, reset_halo_statistics

  !> Counts of exchanges of a field, and of the messages and bytes that this rank sent in them. Each
  !> field of a joint exchange counts; their messages are shared.
  type, public :: halo_statistics_type
    integer(int64) :: exchanges = 0
    integer(int64) :: messages = 0
    integer(int64) :: bytes = 0
  end type halo_statistics_type

  type(halo_statistics_type), save :: done

contains

  !> Count the joint exchange of some fields.
  subroutine count_exchange(fields, messages, bytes)
    integer, intent(in) :: fields
    integer, intent(in) :: messages
    integer, intent(in) :: bytes

    done%exchanges = done%exchanges + fields
    done%messages = done%messages + messages
    done%bytes = done%bytes + bytes
  end subroutine count_exchange

  !> Return the counts since the start of the program or the last reset.
  function get_halo_statistics() result(statistics)
    type(halo_statistics_type) :: statistics

    statistics = done
  end function get_halo_statistics

  !> Reset the counts.
  subroutine reset_halo_statistics()
    done = halo_statistics_type()
  end subroutine reset_halo_statistics

end module halo_statistics_mod
