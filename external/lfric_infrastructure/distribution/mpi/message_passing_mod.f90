!> Owns all that this library knows of passing messages between ranks: here by MPI.
!>
!> Until a communicator is given, a rank is alone. The same module in ../serial does without MPI.
module message_passing_mod

  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use message_plan_mod, only: message_plan_type
  use mpi, only: mpi_allreduce, mpi_alltoall, mpi_alltoallv, mpi_comm_rank, mpi_comm_size, &
                 mpi_comm_world, mpi_finalize, mpi_init, mpi_initialized, mpi_integer4, &
                 mpi_integer8, mpi_irecv, mpi_isend, mpi_max, mpi_min, mpi_real4, mpi_real8, &
                 mpi_statuses_ignore, mpi_sum, mpi_waitall

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

  !> What the messages of a halo exchange are marked with.
  integer, parameter :: halo_tag = 1

  integer, save :: communicator = mpi_comm_world
  logical, save :: alone = .true.

contains

  !> Start MPI unless the program has, and set the communicator of all ranks.
  subroutine start_message_passing(all_ranks)
    integer, intent(out) :: all_ranks

    logical :: started
    integer :: error

    call mpi_initialized(started, error)
    if (.not. started) call mpi_init(error)
    all_ranks = mpi_comm_world
  end subroutine start_message_passing

  !> Stop MPI.
  subroutine stop_message_passing()
    integer :: error

    call forget_communicator()
    call mpi_finalize(error)
  end subroutine stop_message_passing

  !> Pass messages between the ranks of a communicator from now on.
  subroutine use_communicator(new_communicator)
    integer, intent(in) :: new_communicator

    communicator = new_communicator
    alone = .false.
  end subroutine use_communicator

  !> Be alone again.
  subroutine forget_communicator()
    alone = .true.
  end subroutine forget_communicator

  !> Return the number of ranks.
  function get_number_of_ranks() result(ranks)
    integer :: ranks

    integer :: error

    ranks = 1
    if (.not. alone) call mpi_comm_size(communicator, ranks, error)
  end function get_number_of_ranks

  !> Return the number of this rank, from 0.
  function get_rank() result(rank)
    integer :: rank

    integer :: error

    rank = 0
    if (.not. alone) call mpi_comm_rank(communicator, rank, error)
  end function get_rank

  !> Send every rank, from 0, `counts` ids, which are in the order of ranks; set what was received.
  subroutine swap_ids(ids, counts, received, received_counts)
    integer(int64), intent(in) :: ids(:)
    integer(int32), intent(in) :: counts(0:)
    integer(int64), allocatable, intent(out) :: received(:)
    integer(int32), intent(out) :: received_counts(0:)

    integer :: error

    if (alone) then
      allocate (received, source=ids)
      received_counts = counts
      return
    end if
    call mpi_alltoall(counts, 1, mpi_integer4, received_counts, 1, mpi_integer4, communicator, &
                      error)
    allocate (received(sum(received_counts)))
    call mpi_alltoallv(ids, counts, displacements(counts), mpi_integer8, received, &
                       received_counts, displacements(received_counts), mpi_integer8, &
                       communicator, error)
  end subroutine swap_ids

  !> Return where the values of each rank begin, from 0.
  pure function displacements(counts)
    integer(int32), intent(in) :: counts(0:)
    integer(int32) :: displacements(0:size(counts) - 1)

    integer :: rank

    displacements = [(sum(counts(:rank - 1)), rank=0, size(counts) - 1)]
  end function displacements

  !> Make an array of this many requests, unless it is there.
  subroutine make_room(requests, number)
    integer, allocatable, intent(inout) :: requests(:)
    integer, intent(in) :: number

    if (allocated(requests)) then
      if (size(requests) == number) return
      deallocate (requests)
    end if
    allocate (requests(number))
  end subroutine make_room

  !> Wait for messages; there may be none.
  subroutine finish_messages(requests)
    integer, contiguous, intent(inout) :: requests(:)

    integer :: error

    call mpi_waitall(size(requests), requests, mpi_statuses_ignore, error)
  end subroutine finish_messages

  !> Return the sum over all ranks.
  function reduce_sum_int32(value) result(answer)
    integer(int32), intent(in) :: value
    integer(int32) :: answer

    integer :: error

    answer = value
    if (alone) return
    call mpi_allreduce(value, answer, 1, mpi_integer4, mpi_sum, communicator, error)
  end function reduce_sum_int32

  !> Return the sums over all ranks of the values at each place.
  function reduce_sum_int64s(values) result(answers)
    integer(int64), intent(in) :: values(:)
    integer(int64) :: answers(size(values))

    integer :: error

    answers = values
    if (alone) return
    call mpi_allreduce(values, answers, size(values), mpi_integer8, mpi_sum, communicator, error)
  end function reduce_sum_int64s

  !> Return the sum over all ranks.
  function reduce_sum_real32(value) result(answer)
    real(real32), intent(in) :: value
    real(real32) :: answer

    integer :: error

    answer = value
    if (alone) return
    call mpi_allreduce(value, answer, 1, mpi_real4, mpi_sum, communicator, error)
  end function reduce_sum_real32

  !> Return the sum over all ranks.
  function reduce_sum_real64(value) result(answer)
    real(real64), intent(in) :: value
    real(real64) :: answer

    integer :: error

    answer = value
    if (alone) return
    call mpi_allreduce(value, answer, 1, mpi_real8, mpi_sum, communicator, error)
  end function reduce_sum_real64

  !> Return the least value over all ranks.
  function reduce_min_int32(value) result(answer)
    integer(int32), intent(in) :: value
    integer(int32) :: answer

    integer :: error

    answer = value
    if (alone) return
    call mpi_allreduce(value, answer, 1, mpi_integer4, mpi_min, communicator, error)
  end function reduce_min_int32

  !> Return the least value over all ranks.
  function reduce_min_real32(value) result(answer)
    real(real32), intent(in) :: value
    real(real32) :: answer

    integer :: error

    answer = value
    if (alone) return
    call mpi_allreduce(value, answer, 1, mpi_real4, mpi_min, communicator, error)
  end function reduce_min_real32

  !> Return the least value over all ranks.
  function reduce_min_real64(value) result(answer)
    real(real64), intent(in) :: value
    real(real64) :: answer

    integer :: error

    answer = value
    if (alone) return
    call mpi_allreduce(value, answer, 1, mpi_real8, mpi_min, communicator, error)
  end function reduce_min_real64

  !> Return the greatest value over all ranks.
  function reduce_max_int32(value) result(answer)
    integer(int32), intent(in) :: value
    integer(int32) :: answer

    integer :: error

    answer = value
    if (alone) return
    call mpi_allreduce(value, answer, 1, mpi_integer4, mpi_max, communicator, error)
  end function reduce_max_int32

  !> Return the greatest value over all ranks.
  function reduce_max_real32(value) result(answer)
    real(real32), intent(in) :: value
    real(real32) :: answer

    integer :: error

    answer = value
    if (alone) return
    call mpi_allreduce(value, answer, 1, mpi_real4, mpi_max, communicator, error)
  end function reduce_max_real32

  !> Return the greatest value over all ranks.
  function reduce_max_real64(value) result(answer)
    real(real64), intent(in) :: value
    real(real64) :: answer

    integer :: error

    answer = value
    if (alone) return
    call mpi_allreduce(value, answer, 1, mpi_real8, mpi_max, communicator, error)
  end function reduce_max_real64

  !> Start the messages of a plan.
  subroutine start_messages_int32(plan, sent, received, requests)
    type(message_plan_type), intent(in) :: plan
    integer(int32), contiguous, intent(in) :: sent(:)
    integer(int32), contiguous, intent(inout) :: received(:)
    integer, allocatable, intent(inout) :: requests(:)

    integer :: error, n, senders

    senders = size(plan%senders)
    call make_room(requests, senders + size(plan%receivers))
    do n = 1, senders
      call mpi_irecv(received(plan%first_received(n)), &
                     plan%first_received(n + 1) - plan%first_received(n), mpi_integer4, &
                     plan%senders(n), halo_tag, communicator, requests(n), error)
    end do
    do n = 1, size(plan%receivers)
      call mpi_isend(sent(plan%first_sent(n)), plan%first_sent(n + 1) - plan%first_sent(n), &
                     mpi_integer4, plan%receivers(n), halo_tag, communicator, &
                     requests(senders + n), error)
    end do
  end subroutine start_messages_int32

  !> Start the messages of a plan.
  subroutine start_messages_real32(plan, sent, received, requests)
    type(message_plan_type), intent(in) :: plan
    real(real32), contiguous, intent(in) :: sent(:)
    real(real32), contiguous, intent(inout) :: received(:)
    integer, allocatable, intent(inout) :: requests(:)

    integer :: error, n, senders

    senders = size(plan%senders)
    call make_room(requests, senders + size(plan%receivers))
    do n = 1, senders
      call mpi_irecv(received(plan%first_received(n)), &
                     plan%first_received(n + 1) - plan%first_received(n), mpi_real4, &
                     plan%senders(n), halo_tag, communicator, requests(n), error)
    end do
    do n = 1, size(plan%receivers)
      call mpi_isend(sent(plan%first_sent(n)), plan%first_sent(n + 1) - plan%first_sent(n), &
                     mpi_real4, plan%receivers(n), halo_tag, communicator, &
                     requests(senders + n), error)
    end do
  end subroutine start_messages_real32

  !> Start the messages of a plan.
  subroutine start_messages_real64(plan, sent, received, requests)
    type(message_plan_type), intent(in) :: plan
    real(real64), contiguous, intent(in) :: sent(:)
    real(real64), contiguous, intent(inout) :: received(:)
    integer, allocatable, intent(inout) :: requests(:)

    integer :: error, n, senders

    senders = size(plan%senders)
    call make_room(requests, senders + size(plan%receivers))
    do n = 1, senders
      call mpi_irecv(received(plan%first_received(n)), &
                     plan%first_received(n + 1) - plan%first_received(n), mpi_real8, &
                     plan%senders(n), halo_tag, communicator, requests(n), error)
    end do
    do n = 1, size(plan%receivers)
      call mpi_isend(sent(plan%first_sent(n)), plan%first_sent(n + 1) - plan%first_sent(n), &
                     mpi_real8, plan%receivers(n), halo_tag, communicator, &
                     requests(senders + n), error)
    end do
  end subroutine start_messages_real64

end module message_passing_mod
