!> Times halo exchanges beside the bare messages that they are compared with, on two ranks.
!>
!> What an exchange moves is found by looking: each rank marks its values with their places and
!> its number, exchanges once, and sees which values came from where. So the bare messages are as
!> long as the exchange's, and the copies beside them move the same values, whatever the
!> infrastructure knows of either.
module bare_mod

  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi

  implicit none
  private

  public :: exchange_interface, get_interface, put_interface, report, most_bytes

  !> How many times an exchange is done for one measurement, and how many measurements there are:
  !> the fastest counts, because nothing makes an exchange faster than it is.
  integer, parameter :: repeats = 20, measurements = 80

  !> Bytes of messages that are timed.
  integer(int64), parameter :: least_bytes = 2048, most_bytes = 65536

  !> Values that lie together, run after run.
  type :: runs_type
    integer, allocatable :: first(:)
    integer, allocatable :: length(:)
  end type runs_type

  !> What a rank sends and receives, and the memory of the bare messages.
  type :: messages_type
    integer :: other = 0
    type(runs_type) :: from, to
    real(real64), allocatable :: values(:), sent(:), received(:)
  end type messages_type

  abstract interface
    !> Exchange once.
    subroutine exchange_interface()
    end subroutine exchange_interface

    !> Set the values of all fields, one field after the other.
    subroutine put_interface(values)
      import :: real64
      real(real64), contiguous, intent(in) :: values(:)
    end subroutine put_interface

    !> Return the values of all fields, one field after the other.
    function get_interface() result(values)
      import :: real64
      real(real64), allocatable :: values(:)
    end function get_interface
  end interface

contains

  !> Time `exchange`, bare messages, and bare messages with copies, in turn; the first rank prints
  !> the name, the bytes of the longer message, the three times in microseconds, and that of
  !> `apart`, another way to exchange the same, or 0. `get` and `put` reach the values. Messages
  !> that are too short or too long are not timed.
  subroutine report(name, bytes, exchange, get, put, apart)
    character(*), intent(in) :: name
    integer(int64), intent(out) :: bytes
    procedure(exchange_interface) :: exchange
    procedure(get_interface) :: get
    procedure(put_interface) :: put
    procedure(exchange_interface), optional :: apart
    type(messages_type) :: messages
    real(real64) :: seconds(4), best(4)
    integer :: error, measurement, rank

    call mpi_comm_rank(mpi_comm_world, rank, error)
    call find_messages(messages, 1 - rank, exchange, get, put)
    bytes = 8 * max(size(messages%sent), size(messages%received))
    call mpi_allreduce(mpi_in_place, bytes, 1, mpi_integer8, mpi_max, mpi_comm_world, error)
    if (bytes < least_bytes .or. bytes > most_bytes) return
    best = huge(best)
    seconds = 0.0_real64
    do measurement = 1, measurements
      seconds(1) = time_of(exchange)
      seconds(2) = time_bare(messages, copies=.false.)
      seconds(3) = time_bare(messages, copies=.true.)
      if (present(apart)) seconds(4) = time_of(apart)
      call mpi_allreduce(mpi_in_place, seconds, 4, mpi_double_precision, mpi_max, &
          mpi_comm_world, error)
      best = min(best, seconds)
    end do
    if (rank == 0) print '(a, i8, 4f12.4)', name, bytes, best * 1.0e6_real64 / repeats
  end subroutine report

  !> Find what an exchange moves.
  subroutine find_messages(messages, other, exchange, get, put)
    type(messages_type), intent(out) :: messages
    integer, intent(in) :: other
    procedure(exchange_interface) :: exchange
    procedure(get_interface) :: get
    procedure(put_interface) :: put
    real(real64), allocatable :: marks(:), seen(:)
    integer, allocatable :: asked(:), wanted(:)
    integer :: error, n, number

    seen = get()
    marks = [(real(merge(n, -n, other == 1), real64), n=1, size(seen))]
    call put(marks)
    call exchange()
    seen = get()
    wanted = pack([(n, n=1, size(seen))], abs(seen - marks) > 0.5_real64)
    if (any(seen(wanted) * marks(1) > 0.0_real64)) error stop 'a rank exchanges with itself'
    messages%to = runs_of(wanted)
    call mpi_sendrecv(size(wanted), 1, mpi_integer, other, 0, number, 1, mpi_integer, other, 0, &
        mpi_comm_world, mpi_status_ignore, error)
    allocate (asked(number))
    call mpi_sendrecv(nint(abs(seen(wanted))), size(wanted), mpi_integer, other, 0, asked, number, &
        mpi_integer, other, 0, mpi_comm_world, mpi_status_ignore, error)
    messages%from = runs_of(asked)
    messages%other = other
    messages%values = marks
    allocate (messages%sent(number), messages%received(size(wanted)), source=1.0_real64)
  end subroutine find_messages

  !> Return places as runs that are as long as can be.
  function runs_of(places) result(runs)
    integer, intent(in) :: places(:)
    type(runs_type) :: runs
    integer :: n
    integer, allocatable :: begins(:)

    begins = pack([(n, n=1, size(places))], [.true., places(2:) /= places(:size(places) - 1) + 1])
    runs%first = places(begins)
    runs%length = [begins(2:), size(places) + 1] - begins
  end function runs_of

  !> Return the seconds that some bare messages take, with the copies to and from them or without.
  function time_bare(messages, copies) result(seconds)
    type(messages_type), intent(inout) :: messages
    logical, intent(in) :: copies
    real(real64) :: seconds
    integer :: error, n

    call mpi_barrier(mpi_comm_world, error)
    seconds = mpi_wtime()
    do n = 1, repeats
      if (copies) call pack_values(messages%from, messages%values, messages%sent)
      call mpi_sendrecv(messages%sent, size(messages%sent), mpi_double_precision, &
          messages%other, 0, messages%received, size(messages%received), mpi_double_precision, &
          messages%other, 0, mpi_comm_world, mpi_status_ignore, error)
      if (copies) call unpack_values(messages%to, messages%received, messages%values)
    end do
    seconds = mpi_wtime() - seconds
  end function time_bare

  !> Copy runs to a buffer.
  subroutine pack_values(runs, values, buffer)
    type(runs_type), intent(in) :: runs
    real(real64), contiguous, intent(in) :: values(:)
    real(real64), contiguous, intent(inout) :: buffer(:)
    integer :: n, next

    next = 1
    do n = 1, size(runs%first)
      buffer(next:next + runs%length(n) - 1) = &
          values(runs%first(n):runs%first(n) + runs%length(n) - 1)
      next = next + runs%length(n)
    end do
  end subroutine pack_values

  !> Copy runs from a buffer.
  subroutine unpack_values(runs, buffer, values)
    type(runs_type), intent(in) :: runs
    real(real64), contiguous, intent(in) :: buffer(:)
    real(real64), contiguous, intent(inout) :: values(:)
    integer :: n, next

    next = 1
    do n = 1, size(runs%first)
      values(runs%first(n):runs%first(n) + runs%length(n) - 1) = &
          buffer(next:next + runs%length(n) - 1)
      next = next + runs%length(n)
    end do
  end subroutine unpack_values

  !> Return the seconds that some exchanges take.
  function time_of(exchange) result(seconds)
    procedure(exchange_interface) :: exchange
    real(real64) :: seconds
    integer :: error, n

    call mpi_barrier(mpi_comm_world, error)
    seconds = mpi_wtime()
    do n = 1, repeats
      call exchange()
    end do
    seconds = mpi_wtime() - seconds
  end function time_of

end module bare_mod
