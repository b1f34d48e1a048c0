!> Times the bare exchange that halo exchanges are compared with, and prints the answers.
module bare_mod

  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi

  implicit none
  private

  public :: exchange_interface, report

  !> How many times an exchange is done for one measurement, and how many measurements there are:
  !> the fastest counts, because nothing makes an exchange faster than it is.
  integer, parameter :: repeats = 100, measurements = 20

  abstract interface
    !> Exchange once.
    subroutine exchange_interface()
    end subroutine exchange_interface
  end interface

contains

  !> Time `exchange` and a bare MPI_Sendrecv of as many bytes, in turn, on two ranks; the first
  !> prints what is exchanged, its bytes, and both times in microseconds.
  !>
  !> Values of the bare exchange lie `stride` values apart in memory: one after the other if it is
  !> absent.
  subroutine report(name, bytes, exchange, stride)
    character(*), intent(in) :: name
    integer(int64), intent(in) :: bytes
    procedure(exchange_interface) :: exchange
    integer, optional, intent(in) :: stride
    real(real64) :: seconds(2), best(2)
    real(real64), allocatable :: sent(:), received(:)
    integer :: apart, error, measurement, rank, values

    apart = 1
    if (present(stride)) apart = stride
    call mpi_type_vector(int(bytes / 8), 1, apart, mpi_double_precision, values, error)
    call mpi_type_commit(values, error)
    allocate (sent(bytes / 8 * apart), source=1.0_real64)
    allocate (received(bytes / 8 * apart), source=0.0_real64)
    call mpi_comm_rank(mpi_comm_world, rank, error)
    best = huge(best)
    do measurement = 1, measurements
      seconds(1) = time_bare(sent, received, values, 1 - rank)
      seconds(2) = time_of(exchange)
      call mpi_allreduce(mpi_in_place, seconds, 2, mpi_double_precision, mpi_max, &
          mpi_comm_world, error)
      best = min(best, seconds)
    end do
    call mpi_type_free(values, error)
    if (rank == 0) print '(a, i8, 2f12.4)', name, bytes, best * 1.0e6_real64 / repeats
  end subroutine report

  !> Return the seconds that some bare exchanges take, of one value of type `values`.
  function time_bare(sent, received, values, other) result(seconds)
    real(real64), contiguous, intent(in) :: sent(:)
    real(real64), contiguous, intent(inout) :: received(:)
    integer, intent(in) :: values, other
    real(real64) :: seconds
    integer :: error, n

    call mpi_barrier(mpi_comm_world, error)
    seconds = mpi_wtime()
    do n = 1, repeats
      call mpi_sendrecv(sent, 1, values, other, 0, received, 1, values, other, 0, mpi_comm_world, &
          mpi_status_ignore, error)
    end do
    seconds = mpi_wtime() - seconds
  end function time_bare

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
