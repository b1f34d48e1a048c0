!> Message passing by the caller of the library.
!>
!> The caller sets the rank, and exchanges integers between ranks on request. No MPI is used here,
!> so that the caller can use any. The caller owns the values of fields; they are not exchanged
!> here.
module message_passing_mod

  use, intrinsic :: iso_c_binding, only: c_associated, c_f_pointer, c_f_procpointer, c_funptr, &
                                         c_int, c_int32_t, c_int64_t, c_loc, c_null_ptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, int64

  implicit none
  private

  public :: use_ranks_of_caller, swapping_failed
  public :: get_number_of_ranks, get_rank
  public :: swap_ids
  public :: new_layout

  abstract interface
    !> Send every rank `counts` ids, which are in the order of ranks; set how many each has sent,
    !> and where they are until the next call. Return 0, or something else if that failed.
    function swap_interface(ids, counts, received_counts, received) bind(c) result(status)
      import :: c_int, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: ids
      type(c_ptr), value :: counts
      type(c_ptr), value :: received_counts
      type(c_ptr), intent(out) :: received
      integer(c_int) :: status
    end function swap_interface
  end interface

  integer, save :: rank_of_caller = 0
  integer, save :: ranks_of_caller = 1
  logical, save :: failed = .false.
  procedure(swap_interface), pointer, save :: swap => null()

contains

  !> Set the rank (from 0), the number of ranks, and the function that exchanges integers between
  !> them.
  subroutine use_ranks_of_caller(rank, ranks, swap_function)
    integer, intent(in) :: rank
    integer, intent(in) :: ranks
    type(c_funptr), intent(in) :: swap_function

    rank_of_caller = rank
    ranks_of_caller = ranks
    call c_f_procpointer(swap_function, swap)
    failed = .false.
  end subroutine use_ranks_of_caller

  !> Return whether numbers could not be swapped since `use_ranks_of_caller`.
  function swapping_failed()
    logical :: swapping_failed

    swapping_failed = failed
  end function swapping_failed

  !> Return the number of ranks.
  function get_number_of_ranks() result(ranks)
    integer :: ranks

    ranks = ranks_of_caller
  end function get_number_of_ranks

  !> Return the number of this rank, from 0.
  function get_rank() result(rank)
    integer :: rank

    rank = rank_of_caller
  end function get_rank

  !> Send `counts` ids to each rank, in the order of ranks (from 0), and return the received ones;
  !> an empty array after a failure.
  subroutine swap_ids(ids, counts, received, received_counts)
    integer(int64), target, contiguous, intent(in) :: ids(:)
    integer(int32), target, contiguous, intent(in) :: counts(0:)
    integer(int64), allocatable, intent(out) :: received(:)
    integer(int32), target, contiguous, intent(out) :: received_counts(0:)

    integer(int64), pointer :: swapped(:)
    type(c_ptr) :: address, of_ids

    if (ranks_of_caller == 1) then
      allocate (received, source=ids)
      received_counts = counts
      return
    end if
    of_ids = c_null_ptr
    if (size(ids) > 0) of_ids = c_loc(ids)
    if (swap(of_ids, c_loc(counts), c_loc(received_counts), address) /= 0) then
      failed = .true.
      received_counts = 0
    end if
    allocate (received(sum(received_counts)))
    if (size(received) == 0 .or. .not. c_associated(address)) return
    call c_f_pointer(address, swapped, [size(received)])
    received = swapped
  end subroutine swap_ids

  !> Return a layout of runs of values, which the caller has no use for.
  function new_layout(first, length, bytes) result(layout)
    integer(int32), intent(in) :: first(:)
    integer(int32), intent(in) :: length(:)
    integer(int32), intent(in) :: bytes
    integer :: layout

    layout = 0
  end function new_layout

end module message_passing_mod
