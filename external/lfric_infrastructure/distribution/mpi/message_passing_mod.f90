!> Owns all that this library knows of passing messages between ranks: here by MPI.
!>
!> Until a communicator is given, a rank is alone. The same module in ../serial does without MPI.
module message_passing_mod

  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_int8_t, c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use mpi, only: mpi_address_kind, mpi_allgather, mpi_allreduce, mpi_alltoall, mpi_alltoallv, &
                 mpi_bcast, mpi_byte, mpi_comm_rank, mpi_comm_size, mpi_comm_world, &
                 mpi_finalize, mpi_finalized, mpi_init, mpi_initialized, mpi_integer4, &
                 mpi_integer8, mpi_irecv, mpi_isend, mpi_max, mpi_min, mpi_real4, mpi_real8, &
                 mpi_statuses_ignore, mpi_sum, mpi_type_commit, mpi_type_create_struct, &
                 mpi_type_free, mpi_type_indexed, mpi_waitall

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

  !> Set what was received to the numbers of all ranks, rank by rank, of which each sends as many.
  subroutine gather_numbers(numbers, received)
    integer(int32), contiguous, intent(in) :: numbers(:)
    integer(int32), contiguous, intent(inout) :: received(:)

    integer :: error

    if (alone) then
      received(:size(numbers)) = numbers
      return
    end if
    call mpi_allgather(numbers, size(numbers), mpi_integer4, received, size(numbers), &
                       mpi_integer4, communicator, error)
  end subroutine gather_numbers

  !> Give so many bytes at an address of one rank, from 0, to all ranks.
  subroutine broadcast_bytes(address, bytes, root)
    type(c_ptr), intent(in) :: address
    integer, intent(in) :: bytes
    integer, intent(in) :: root

    integer(c_int8_t), pointer, contiguous :: values(:)
    integer :: error

    if (alone) return
    call c_f_pointer(address, values, [bytes])
    call mpi_bcast(values, bytes, mpi_byte, root, communicator, error)
  end subroutine broadcast_bytes

  !> Return the layout of runs of values: run n begins at value `first(n)`, from 1, and has
  !> `length(n)` values of 4 or 8 bytes. Numbers are moved faster than as many bytes.
  function new_layout(first, length, bytes) result(layout)
    integer(int32), intent(in) :: first(:)
    integer(int32), intent(in) :: length(:)
    integer(int32), intent(in) :: bytes
    integer :: layout

    integer :: error

    call mpi_type_indexed(size(first), length, first - 1, &
                          merge(mpi_integer4, mpi_integer8, bytes == 4), layout, error)
    call mpi_type_commit(layout, error)
  end function new_layout

  !> Return the layout that has one layout after the other, each of values so many bytes away.
  function join_layouts(layouts, away) result(layout)
    integer, intent(in) :: layouts(:)
    integer(int64), intent(in) :: away(:)
    integer :: layout

    integer :: error, n

    call mpi_type_create_struct(size(layouts), [(1, n=1, size(layouts))], &
                                int(away, mpi_address_kind), layouts, layout, error)
    call mpi_type_commit(layout, error)
  end function join_layouts

  !> Give a layout back; after the end of message passing there is none.
  subroutine free_layout(layout)
    integer, intent(inout) :: layout

    logical :: stopped
    integer :: error

    call mpi_finalized(stopped, error)
    if (.not. stopped) call mpi_type_free(layout, error)
  end subroutine free_layout

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

  !> Start to receive what is in a layout of values from a rank. They may not be touched
  !> before the request is finished.
  subroutine start_receiving(address, layout, rank, request)
    type(c_ptr), intent(in) :: address
    integer, intent(in) :: layout
    integer, intent(in) :: rank
    integer, intent(out) :: request

    integer(c_int8_t), pointer, contiguous :: values(:)
    integer :: error

    call c_f_pointer(address, values, [1])
    call mpi_irecv(values, 1, layout, rank, halo_tag, communicator, request, error)
  end subroutine start_receiving

  !> Start to send what is in a layout of values to a rank. They may not be changed
  !> before the request is finished.
  subroutine start_sending(address, layout, rank, request)
    type(c_ptr), intent(in) :: address
    integer, intent(in) :: layout
    integer, intent(in) :: rank
    integer, intent(out) :: request

    integer(c_int8_t), pointer, contiguous :: values(:)
    integer :: error

    call c_f_pointer(address, values, [1])
    call mpi_isend(values, 1, layout, rank, halo_tag, communicator, request, error)
  end subroutine start_sending

  !> Start to send so many values of 4 or 8 bytes, which lie together, to a rank. They may not be
  !> changed before the request is finished.
  subroutine start_sending_values(address, number, bytes, rank, request)
    type(c_ptr), intent(in) :: address
    integer, intent(in) :: number
    integer, intent(in) :: bytes
    integer, intent(in) :: rank
    integer, intent(out) :: request

    integer(c_int8_t), pointer, contiguous :: values(:)
    integer :: error

    call c_f_pointer(address, values, [1])
    call mpi_isend(values, number, merge(mpi_integer4, mpi_integer8, bytes == 4), rank, halo_tag, &
                   communicator, request, error)
  end subroutine start_sending_values

end module message_passing_mod
