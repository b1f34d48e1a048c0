!> Communication between ranks by MPI.
!>
!> Until `parallel_init` is called, there is one rank. The same module in ../serial works without
!> MPI.
module parallel_utils_mod

  use, intrinsic :: iso_fortran_env, only: error_unit
  use kind_params_mod, only: go_wp
  use mpi, only: mpi_abort, mpi_address_kind, mpi_allreduce, mpi_comm_dup, mpi_comm_rank, &
      mpi_comm_size, mpi_comm_world, mpi_double_precision, mpi_finalize, mpi_gather, &
      mpi_in_place, mpi_init, mpi_initialized, mpi_irecv, mpi_isend, mpi_max, mpi_min, &
      mpi_statuses_ignore, mpi_sum, mpi_type_commit, mpi_type_create_struct, mpi_type_free, &
      mpi_type_vector, mpi_waitall

  implicit none
  private

  public :: parallel_init, parallel_finalise, parallel_abort
  public :: get_rank, get_num_ranks
  public :: global_sum, global_min, global_max, gather
  public :: new_layout, start_receiving, start_sending, finish_messages

  !> Whether messages can be sent between ranks.
  logical, public, parameter :: dist_mem_enabled = .true.

  !> MPI tag of halo messages.
  integer, parameter :: halo_tag = 1

  integer, save :: communicator = mpi_comm_world
  integer, save :: number_of_ranks = 1
  integer, save :: this_rank = 1

contains

  !> Start MPI unless the program has, and number the ranks.
  subroutine parallel_init()
    logical :: started
    integer :: error

    call mpi_initialized(started, error)
    if (.not. started) call mpi_init(error)
    call mpi_comm_dup(mpi_comm_world, communicator, error)
    call mpi_comm_size(communicator, number_of_ranks, error)
    call mpi_comm_rank(communicator, this_rank, error)
    this_rank = this_rank + 1
  end subroutine parallel_init

  !> Stop MPI.
  subroutine parallel_finalise()
    integer :: error

    call mpi_finalize(error)
  end subroutine parallel_finalise

  !> Stop the program on all ranks with a message.
  subroutine parallel_abort(msg)
    character(len=*), intent(in) :: msg
    logical :: started
    integer :: error

    write (error_unit, '(a)') msg
    call mpi_initialized(started, error)
    if (started) call mpi_abort(communicator, 1, error)
    error stop 1
  end subroutine parallel_abort

  !> Return the number of this rank; the first is 1.
  function get_rank() result(rank)
    integer :: rank

    rank = this_rank
  end function get_rank

  !> Return the number of ranks.
  function get_num_ranks() result(num)
    integer :: num

    num = number_of_ranks
  end function get_num_ranks

  !> Replace `var` by its sum over all ranks. Each rank contributes one partial sum, so the last
  !> digits depend on the number of ranks.
  subroutine global_sum(var)
    real(go_wp), intent(inout) :: var

    call reduce(var, mpi_sum)
  end subroutine global_sum

  !> Replace `var` by its minimum over all ranks.
  subroutine global_min(var)
    real(go_wp), intent(inout) :: var

    call reduce(var, mpi_min)
  end subroutine global_min

  !> Replace `var` by its maximum over all ranks.
  subroutine global_max(var)
    real(go_wp), intent(inout) :: var

    call reduce(var, mpi_max)
  end subroutine global_max

  !> Replace `var` by the result of an operation on its values on all ranks.
  subroutine reduce(var, operation)
    real(go_wp), intent(inout) :: var
    integer, intent(in) :: operation
    integer :: error

    if (number_of_ranks == 1) return
    call mpi_allreduce(mpi_in_place, var, 1, mpi_double_precision, operation, communicator, error)
  end subroutine reduce

  !> Set `recv_buffer` on the first rank to the values of all ranks in order; all ranks send the
  !> same number of values.
  subroutine gather(send_buffer, recv_buffer)
    real(go_wp), contiguous, intent(in) :: send_buffer(:)
    real(go_wp), contiguous, intent(inout) :: recv_buffer(:)
    integer :: error

    if (number_of_ranks == 1) then
      recv_buffer(:size(send_buffer)) = send_buffer
      return
    end if
    call mpi_gather(send_buffer, size(send_buffer), mpi_double_precision, recv_buffer, &
        size(send_buffer), mpi_double_precision, 0, communicator, error)
  end subroutine gather

  !> Return a layout that selects regions of an array with rows of `length_of_all` values. Region n
  !> begins at value `first(n)`, counted through all rows from 1, and has `rows(n)` rows of
  !> `length(n)` values.
  function new_layout(length, rows, first, length_of_all) result(layout)
    integer, intent(in) :: length(:), rows(:), first(:), length_of_all
    integer :: layout, error, n, regions(size(length))

    do n = 1, size(length)
      call mpi_type_vector(rows(n), length(n), length_of_all, mpi_double_precision, regions(n), &
          error)
    end do
    call mpi_type_create_struct(size(length), [(1, n=1, size(length))], &
        (int(first, mpi_address_kind) - 1) * storage_size(1.0_go_wp) / 8, regions, layout, error)
    call mpi_type_commit(layout, error)
    do n = 1, size(length)
      call mpi_type_free(regions(n), error)
    end do
  end function new_layout

  !> Start to receive values from a rank: all of `values`, or those in a layout. They may not be
  !> used before `request` is finished.
  subroutine start_receiving(values, rank, request, layout)
    real(go_wp), contiguous, intent(inout) :: values(:)
    integer, intent(in) :: rank
    integer, intent(out) :: request
    integer, optional, intent(in) :: layout
    integer :: error

    if (present(layout)) then
      call mpi_irecv(values, 1, layout, rank - 1, halo_tag, communicator, request, error)
    else
      call mpi_irecv(values, size(values), mpi_double_precision, rank - 1, halo_tag, &
          communicator, request, error)
    end if
  end subroutine start_receiving

  !> Start to send values to a rank: all of `values`, or those in a layout. They may not be changed
  !> before `request` is finished.
  subroutine start_sending(values, rank, request, layout)
    real(go_wp), contiguous, intent(in) :: values(:)
    integer, intent(in) :: rank
    integer, intent(out) :: request
    integer, optional, intent(in) :: layout
    integer :: error

    if (present(layout)) then
      call mpi_isend(values, 1, layout, rank - 1, halo_tag, communicator, request, error)
    else
      call mpi_isend(values, size(values), mpi_double_precision, rank - 1, halo_tag, &
          communicator, request, error)
    end if
  end subroutine start_sending

  !> Wait for messages; there may be none.
  subroutine finish_messages(requests)
    integer, contiguous, intent(inout) :: requests(:)
    integer :: error

    call mpi_waitall(size(requests), requests, mpi_statuses_ignore, error)
  end subroutine finish_messages

end module parallel_utils_mod
