!> The names of the library that LFRic's exchanges go through, over plain MPI, for small programs.
!>
!> Values that are asked for in an exchange that is started come when it is waited for.
module yaxt

  use mpi
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64

  implicit none
  private

  public :: xt_initialize, xt_finalize, xt_idxvec_new, xt_xmap_dist_dir_new, xt_redist_p2p_off_new
  public :: xt_redist_delete, xt_idxlist_delete, xt_xmap_delete
  public :: xt_redist_s_exchange, xt_redist_a_exchange, xt_request_wait

  type, public :: xt_idxlist
    integer(int64), allocatable :: ids(:)
  end type xt_idxlist

  !> What goes to each rank and comes from each: places in the two lists of ids, rank after rank.
  type, public :: xt_xmap
    integer, allocatable :: sent(:), received(:), sent_counts(:), received_counts(:)
    integer :: communicator = mpi_comm_null
  end type xt_xmap

  type, public :: xt_redist
    type(xt_xmap) :: map
  end type xt_redist

  !> An exchange that was started.
  type, public :: xt_request
    type(xt_redist), pointer :: redist => null()
    real(real64), pointer :: real64s(:) => null()
    real(real32), pointer :: real32s(:) => null()
    integer(int32), pointer :: int32s(:) => null()
  end type xt_request

  interface xt_idxvec_new
    module procedure list_of_int32, list_of_int64
  end interface xt_idxvec_new

  interface xt_redist_s_exchange
    module procedure exchange_real64, exchange_real32, exchange_int32
  end interface xt_redist_s_exchange

  interface xt_redist_a_exchange
    module procedure start_real64, start_real32, start_int32
  end interface xt_redist_a_exchange

contains

  subroutine xt_initialize(communicator)
    integer, intent(in) :: communicator
  end subroutine xt_initialize

  subroutine xt_finalize()
  end subroutine xt_finalize

  function list_of_int32(ids, number) result(list)
    integer(int32), intent(in) :: ids(:)
    integer, intent(in) :: number
    type(xt_idxlist) :: list

    list%ids = int(ids(:number), int64)
  end function list_of_int32

  function list_of_int64(ids, number) result(list)
    integer(int64), intent(in) :: ids(:)
    integer, intent(in) :: number
    type(xt_idxlist) :: list

    list%ids = ids(:number)
  end function list_of_int64

  !> Return who sends what to whom, so that each has the ids that it wants. All ranks know all for a
  !> while.
  function xt_xmap_dist_dir_new(owned, wanted, communicator) result(map)
    type(xt_idxlist), intent(in) :: owned, wanted
    integer, intent(in) :: communicator
    type(xt_xmap) :: map

    integer, allocatable :: counts(:), first(:), owner(:), place(:), places(:)
    integer(int64), allocatable :: all_ids(:)
    integer :: code, n, rank, ranks

    call mpi_comm_size(communicator, ranks, code)
    allocate (counts(0:ranks - 1), first(0:ranks - 1), map%sent_counts(0:ranks - 1))
    call mpi_allgather(size(owned%ids), 1, mpi_integer, counts, 1, mpi_integer, communicator, code)
    first = [(sum(counts(:rank - 1)), rank=0, ranks - 1)]
    allocate (all_ids(sum(counts)))
    call mpi_allgatherv(owned%ids, size(owned%ids), mpi_integer8, all_ids, counts, first, &
                        mpi_integer8, communicator, code)
    allocate (owner(0:maxval(all_ids)), place(0:maxval(all_ids)))
    do rank = 0, ranks - 1
      do n = 1, counts(rank)
        owner(all_ids(first(rank) + n)) = rank
        place(all_ids(first(rank) + n)) = n
      end do
    end do
    map%communicator = communicator
    allocate (map%received_counts(0:ranks - 1), map%received(0), places(0))
    do rank = 0, ranks - 1
      map%received_counts(rank) = count(owner(wanted%ids) == rank)
      map%received = [map%received, pack([(n, n=1, size(wanted%ids))], owner(wanted%ids) == rank)]
    end do
    places = place(wanted%ids(map%received))
    call mpi_alltoall(map%received_counts, 1, mpi_integer, map%sent_counts, 1, mpi_integer, &
                      communicator, code)
    allocate (map%sent(sum(map%sent_counts)))
    call mpi_alltoallv(places, map%received_counts, first_of(map%received_counts), mpi_integer, &
                       map%sent, map%sent_counts, first_of(map%sent_counts), mpi_integer, &
                       communicator, code)
  end function xt_xmap_dist_dir_new

  !> Return where the values of each rank begin.
  pure function first_of(counts) result(first)
    integer, intent(in) :: counts(:)
    integer :: first(size(counts))

    integer :: n

    first = [(sum(counts(:n - 1)), n=1, size(counts))]
  end function first_of

  !> Return the same with places in an array, for values of a type.
  function xt_redist_p2p_off_new(map, sent, received, datatype) result(redist)
    type(xt_xmap), intent(in) :: map
    integer(int32), intent(in) :: sent(:), received(:)
    integer, intent(in) :: datatype
    type(xt_redist) :: redist

    redist%map = map
    redist%map%sent = sent(map%sent) + 1
    redist%map%received = received(map%received) + 1
  end function xt_redist_p2p_off_new

  subroutine xt_redist_delete(redist)
    type(xt_redist), intent(inout) :: redist

    redist%map = xt_xmap()
  end subroutine xt_redist_delete

  subroutine xt_idxlist_delete(list)
    type(xt_idxlist), intent(inout) :: list

    deallocate (list%ids)
  end subroutine xt_idxlist_delete

  subroutine xt_xmap_delete(map)
    type(xt_xmap), intent(inout) :: map

    map = xt_xmap()
  end subroutine xt_xmap_delete

  subroutine exchange_real64(redist, from, to)
    type(xt_redist), intent(in) :: redist
    real(real64) :: from(:), to(:)
    real(real64), allocatable :: out(:), in(:)
    integer :: code

    associate (map => redist%map)
      out = from(map%sent)
      allocate (in(size(map%received)))
      call mpi_alltoallv(out, map%sent_counts, first_of(map%sent_counts), mpi_double_precision, &
                         in, map%received_counts, first_of(map%received_counts), &
                         mpi_double_precision, map%communicator, code)
      to(map%received) = in
    end associate
  end subroutine exchange_real64

  subroutine exchange_real32(redist, from, to)
    type(xt_redist), intent(in) :: redist
    real(real32) :: from(:), to(:)
    real(real32), allocatable :: out(:), in(:)
    integer :: code

    associate (map => redist%map)
      out = from(map%sent)
      allocate (in(size(map%received)))
      call mpi_alltoallv(out, map%sent_counts, first_of(map%sent_counts), mpi_real, in, &
                         map%received_counts, first_of(map%received_counts), mpi_real, &
                         map%communicator, code)
      to(map%received) = in
    end associate
  end subroutine exchange_real32

  subroutine exchange_int32(redist, from, to)
    type(xt_redist), intent(in) :: redist
    integer(int32) :: from(:), to(:)
    integer(int32), allocatable :: out(:), in(:)
    integer :: code

    associate (map => redist%map)
      out = from(map%sent)
      allocate (in(size(map%received)))
      call mpi_alltoallv(out, map%sent_counts, first_of(map%sent_counts), mpi_integer, in, &
                         map%received_counts, first_of(map%received_counts), mpi_integer, &
                         map%communicator, code)
      to(map%received) = in
    end associate
  end subroutine exchange_int32

  subroutine start_real64(redist, from, to, request)
    type(xt_redist), target, intent(in) :: redist
    real(real64), target :: from(:), to(:)
    type(xt_request), intent(out) :: request

    request%redist => redist
    request%real64s => to
  end subroutine start_real64

  subroutine start_real32(redist, from, to, request)
    type(xt_redist), target, intent(in) :: redist
    real(real32), target :: from(:), to(:)
    type(xt_request), intent(out) :: request

    request%redist => redist
    request%real32s => to
  end subroutine start_real32

  subroutine start_int32(redist, from, to, request)
    type(xt_redist), target, intent(in) :: redist
    integer(int32), target :: from(:), to(:)
    type(xt_request), intent(out) :: request

    request%redist => redist
    request%int32s => to
  end subroutine start_int32

  subroutine xt_request_wait(request)
    type(xt_request), intent(inout) :: request

    associate (redist => request%redist)
      if (associated(request%real64s)) &
        call exchange_real64(redist, request%real64s, request%real64s)
      if (associated(request%real32s)) &
        call exchange_real32(redist, request%real32s, request%real32s)
      if (associated(request%int32s)) &
        call exchange_int32(redist, request%int32s, request%int32s)
    end associate
  end subroutine xt_request_wait

end module yaxt
