!> Owns all that this library knows of passing messages between ranks: here there is one rank.
!>
!> It stands in where there is no MPI, for the same module in ../mpi.
module message_passing_mod

  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use message_plan_mod, only: message_plan_type

  implicit none
  private

  public :: start_message_passing, stop_message_passing
  public :: use_communicator, forget_communicator
  public :: get_number_of_ranks, get_rank
  public :: reduce_sum, reduce_min, reduce_max
  public :: swap_ids
  public :: start_messages, finish_messages

  !> Return the sum over all ranks of a value of each, or of the values at each place of an array.
  interface reduce_sum
    module procedure reduce_sum_int32
    module procedure reduce_sum_int64s
    module procedure reduce_sum_real32
    module procedure reduce_sum_real64
  end interface reduce_sum

  !> Return the least over all ranks of a value of each.
  interface reduce_min
    module procedure reduce_min_int32
    module procedure reduce_min_real32
    module procedure reduce_min_real64
  end interface reduce_min

  !> Return the greatest over all ranks of a value of each.
  interface reduce_max
    module procedure reduce_max_int32
    module procedure reduce_max_real32
    module procedure reduce_max_real64
  end interface reduce_max

  !> Send and receive the values of a plan, without waiting; neither array may be touched until
  !> the requests are finished.
  interface start_messages
    module procedure start_messages_int32
    module procedure start_messages_real32
    module procedure start_messages_real64
  end interface start_messages

contains

  !> Set a number for the communicator of all ranks.
  subroutine start_message_passing(all_ranks)
    integer, intent(out) :: all_ranks

    all_ranks = 0
  end subroutine start_message_passing

  !> Do nothing.
  subroutine stop_message_passing()
  end subroutine stop_message_passing

  !> Do nothing: the rank stays alone.
  subroutine use_communicator(new_communicator)
    integer, intent(in) :: new_communicator
  end subroutine use_communicator

  !> Do nothing.
  subroutine forget_communicator()
  end subroutine forget_communicator

  !> Return the number of ranks.
  function get_number_of_ranks() result(ranks)
    integer :: ranks

    ranks = 1
  end function get_number_of_ranks

  !> Return the number of this rank, from 0.
  function get_rank() result(rank)
    integer :: rank

    rank = 0
  end function get_rank

  !> Set what was received to what was sent: the rank talks to itself.
  subroutine swap_ids(ids, counts, received, received_counts)
    integer(int64), intent(in) :: ids(:)
    integer(int32), intent(in) :: counts(0:)
    integer(int64), allocatable, intent(out) :: received(:)
    integer(int32), intent(out) :: received_counts(0:)

    allocate (received, source=ids)
    received_counts = counts
  end subroutine swap_ids

  !> Return at once: there are no messages.
  subroutine finish_messages(requests)
    integer, contiguous, intent(inout) :: requests(:)
  end subroutine finish_messages

  !> Return the sum over all ranks.
  function reduce_sum_int32(value) result(answer)
    integer(int32), intent(in) :: value
    integer(int32) :: answer

    answer = value
  end function reduce_sum_int32

  !> Return the sums over all ranks of the values at each place.
  function reduce_sum_int64s(values) result(answers)
    integer(int64), intent(in) :: values(:)
    integer(int64) :: answers(size(values))

    answers = values
  end function reduce_sum_int64s

  !> Return the sum over all ranks.
  function reduce_sum_real32(value) result(answer)
    real(real32), intent(in) :: value
    real(real32) :: answer

    answer = value
  end function reduce_sum_real32

  !> Return the sum over all ranks.
  function reduce_sum_real64(value) result(answer)
    real(real64), intent(in) :: value
    real(real64) :: answer

    answer = value
  end function reduce_sum_real64

  !> Return the least value over all ranks.
  function reduce_min_int32(value) result(answer)
    integer(int32), intent(in) :: value
    integer(int32) :: answer

    answer = value
  end function reduce_min_int32

  !> Return the least value over all ranks.
  function reduce_min_real32(value) result(answer)
    real(real32), intent(in) :: value
    real(real32) :: answer

    answer = value
  end function reduce_min_real32

  !> Return the least value over all ranks.
  function reduce_min_real64(value) result(answer)
    real(real64), intent(in) :: value
    real(real64) :: answer

    answer = value
  end function reduce_min_real64

  !> Return the greatest value over all ranks.
  function reduce_max_int32(value) result(answer)
    integer(int32), intent(in) :: value
    integer(int32) :: answer

    answer = value
  end function reduce_max_int32

  !> Return the greatest value over all ranks.
  function reduce_max_real32(value) result(answer)
    real(real32), intent(in) :: value
    real(real32) :: answer

    answer = value
  end function reduce_max_real32

  !> Return the greatest value over all ranks.
  function reduce_max_real64(value) result(answer)
    real(real64), intent(in) :: value
    real(real64) :: answer

    answer = value
  end function reduce_max_real64

  !> Set no requests: a rank that is alone has nobody to send to.
  subroutine start_messages_int32(plan, sent, received, requests)
    type(message_plan_type), intent(in) :: plan
    integer(int32), contiguous, intent(in) :: sent(:)
    integer(int32), contiguous, intent(inout) :: received(:)
    integer, allocatable, intent(inout) :: requests(:)

    if (.not. allocated(requests)) allocate (requests(0))
  end subroutine start_messages_int32

  !> Set no requests: a rank that is alone has nobody to send to.
  subroutine start_messages_real32(plan, sent, received, requests)
    type(message_plan_type), intent(in) :: plan
    real(real32), contiguous, intent(in) :: sent(:)
    real(real32), contiguous, intent(inout) :: received(:)
    integer, allocatable, intent(inout) :: requests(:)

    if (.not. allocated(requests)) allocate (requests(0))
  end subroutine start_messages_real32

  !> Set no requests: a rank that is alone has nobody to send to.
  subroutine start_messages_real64(plan, sent, received, requests)
    type(message_plan_type), intent(in) :: plan
    real(real64), contiguous, intent(in) :: sent(:)
    real(real64), contiguous, intent(inout) :: received(:)
    integer, allocatable, intent(inout) :: requests(:)

    if (.not. allocated(requests)) allocate (requests(0))
  end subroutine start_messages_real64

end module message_passing_mod
