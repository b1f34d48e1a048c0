!> Owns all that this library knows of passing messages between ranks: here there is one rank.
!>
!> It stands in where there is no MPI, for the same module in ../mpi.
module message_passing_mod

  use, intrinsic :: iso_c_binding, only: c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64

  implicit none
  private

  public :: start_message_passing, stop_message_passing
  public :: use_communicator, forget_communicator
  public :: get_number_of_ranks, get_rank
  public :: reduce_sum, reduce_min, reduce_max
  public :: swap_ids, gather_numbers, broadcast_bytes
  public :: new_layout, join_layouts, free_layout
  public :: start_receiving, start_sending, start_sending_values, finish_messages

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

  !> Set what was received to the numbers of all ranks: those of the only one.
  subroutine gather_numbers(numbers, received)
    integer(int32), contiguous, intent(in) :: numbers(:)
    integer(int32), contiguous, intent(inout) :: received(:)

    received(:size(numbers)) = numbers
  end subroutine gather_numbers

  !> Give bytes of one rank to all ranks, of which there is one.
  subroutine broadcast_bytes(address, bytes, root)
    type(c_ptr), intent(in) :: address
    integer, intent(in) :: bytes
    integer, intent(in) :: root
  end subroutine broadcast_bytes

  !> Return a layout of runs of values: a rank that is alone has no use for it.
  function new_layout(first, length, bytes) result(layout)
    integer(int32), intent(in) :: first(:)
    integer(int32), intent(in) :: length(:)
    integer(int32), intent(in) :: bytes
    integer :: layout

    layout = 0
  end function new_layout

  !> Return a layout of layouts: a rank that is alone has no use for it.
  function join_layouts(layouts, away) result(layout)
    integer, intent(in) :: layouts(:)
    integer(int64), intent(in) :: away(:)
    integer :: layout

    layout = 0
  end function join_layouts

  !> Give a layout back, which is nothing.
  subroutine free_layout(layout)
    integer, intent(inout) :: layout
  end subroutine free_layout

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

  !> Start to receive what is in a layout of values from a rank. They may not be touched
  !> before the request is finished.
  subroutine start_receiving(address, layout, rank, request)
    type(c_ptr), intent(in) :: address
    integer, intent(in) :: layout
    integer, intent(in) :: rank
    integer, intent(out) :: request

    request = 0
    error stop 'start_receiving: there is no other rank'
  end subroutine start_receiving

  !> Start to send what is in a layout of values to a rank. They may not be changed
  !> before the request is finished.
  subroutine start_sending(address, layout, rank, request)
    type(c_ptr), intent(in) :: address
    integer, intent(in) :: layout
    integer, intent(in) :: rank
    integer, intent(out) :: request

    request = 0
    error stop 'start_sending: there is no other rank'
  end subroutine start_sending

  !> Start to send so many values of 4 or 8 bytes, which lie together, to a rank. They may not be
  !> changed before the request is finished.
  subroutine start_sending_values(address, number, bytes, rank, request)
    type(c_ptr), intent(in) :: address
    integer, intent(in) :: number
    integer, intent(in) :: bytes
    integer, intent(in) :: rank
    integer, intent(out) :: request

    request = 0
    error stop 'start_sending_values: there is no other rank'
  end subroutine start_sending_values

end module message_passing_mod
