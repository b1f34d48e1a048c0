!> The process as one of several ranks. Here it is the only one.
module parallel_utils_mod

  use, intrinsic :: iso_fortran_env, only: error_unit
  use kind_params_mod, only: go_wp

  implicit none
  private

  public :: parallel_init, parallel_finalise, parallel_abort
  public :: get_rank, get_num_ranks, global_sum

  !> Whether messages can be sent between ranks.
  logical, public, parameter :: dist_mem_enabled = .false.

contains

  !> Start what ranks need before they communicate: nothing.
  subroutine parallel_init()
  end subroutine parallel_init

  !> End what `parallel_init` has started: nothing.
  subroutine parallel_finalise()
  end subroutine parallel_finalise

  !> Stop the program with a message.
  subroutine parallel_abort(msg)
    character(len=*), intent(in) :: msg

    write (error_unit, '(a)') msg
    error stop 1
  end subroutine parallel_abort

  !> Return the number of this rank; the first is 1.
  function get_rank() result(rank)
    integer :: rank

    rank = 1
  end function get_rank

  !> Return how many ranks there are.
  function get_num_ranks() result(num)
    integer :: num

    num = 1
  end function get_num_ranks

  !> Replace `var` by its sum over all ranks. On one rank it is that already.
  subroutine global_sum(var)
    real(go_wp), intent(inout) :: var
  end subroutine global_sum

end module parallel_utils_mod
