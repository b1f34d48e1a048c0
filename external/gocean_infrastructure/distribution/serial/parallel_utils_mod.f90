!> Communication between ranks in a build for one rank.
!>
!> The same module in ../mpi uses MPI.
module parallel_utils_mod

  use, intrinsic :: iso_fortran_env, only: error_unit
  use kind_params_mod, only: go_wp

  implicit none
  private

  public :: parallel_init, parallel_finalise, parallel_abort
  public :: get_rank, get_num_ranks
  public :: global_sum, global_min, global_max, gather
  public :: new_layout, start_receiving, start_sending, finish_messages

  !> Whether messages can be sent between ranks.
  logical, public, parameter :: dist_mem_enabled = .false.

contains

  !> Do nothing: one rank needs no communication.
  subroutine parallel_init()
  end subroutine parallel_init

  !> Do nothing: one rank needs no communication.
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

  !> Return `var` unchanged: its sum over one rank.
  subroutine global_sum(var)
    real(go_wp), intent(inout) :: var
  end subroutine global_sum

  !> Return `var` unchanged: its minimum over one rank.
  subroutine global_min(var)
    real(go_wp), intent(inout) :: var
  end subroutine global_min

  !> Return `var` unchanged: its maximum over one rank.
  subroutine global_max(var)
    real(go_wp), intent(inout) :: var
  end subroutine global_max

  !> Set `recv_buffer` on the first rank to the values of all ranks, one after the other.
  subroutine gather(send_buffer, recv_buffer)
    real(go_wp), contiguous, intent(in) :: send_buffer(:)
    real(go_wp), contiguous, intent(inout) :: recv_buffer(:)

    recv_buffer(:size(send_buffer)) = send_buffer
  end subroutine gather

  !> Return a layout that selects regions of an array with rows of `length_of_all` values. Region n
  !> begins at value `first(n)`, counted through all rows from 1, and has `rows(n)` rows of
  !> `length(n)` values. One rank sends no messages, so the layout is empty.
  function new_layout(length, rows, first, length_of_all) result(layout)
    integer, intent(in) :: length(:), rows(:), first(:), length_of_all
    integer :: layout

    layout = 0
  end function new_layout

  !> Do nothing: one rank receives nothing.
  subroutine start_receiving(values, rank, request, layout)
    real(go_wp), contiguous, intent(inout) :: values(:)
    integer, intent(in) :: rank
    integer, intent(out) :: request
    integer, optional, intent(in) :: layout

    request = 0
    call parallel_abort('There is no other rank to receive from.')
  end subroutine start_receiving

  !> Do nothing: one rank sends nothing.
  subroutine start_sending(values, rank, request, layout)
    real(go_wp), contiguous, intent(in) :: values(:)
    integer, intent(in) :: rank
    integer, intent(out) :: request
    integer, optional, intent(in) :: layout

    request = 0
    call parallel_abort('There is no other rank to send to.')
  end subroutine start_sending

  !> Wait for messages; there are none.
  subroutine finish_messages(requests)
    integer, contiguous, intent(inout) :: requests(:)
  end subroutine finish_messages

end module parallel_utils_mod
