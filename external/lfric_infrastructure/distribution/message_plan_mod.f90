!> Number of values that each rank sends to each other rank in one exchange.
module message_plan_mod

  use constants_mod, only: i_def

  implicit none
  private

  public :: join_plans, place_of_rank

  !> The messages of one rank. Values are sent from one array and received into another, in the
  !> order of the other ranks: the n-th of these has the values `first(n)` to `first(n + 1) - 1`.
  type, public :: message_plan_type
    integer(i_def), allocatable :: receivers(:)
    integer(i_def), allocatable :: first_sent(:)
    integer(i_def), allocatable :: senders(:)
    integer(i_def), allocatable :: first_received(:)
  contains
    procedure, non_overridable, public :: count_sent
  end type message_plan_type

  interface message_plan_type
    module procedure new_message_plan
  end interface message_plan_type

contains

  !> Return the plan in which each rank, from 0, is sent and sends this many values; ranks with
  !> none get no message.
  pure function new_message_plan(sent, received) result(self)
    integer(i_def), intent(in) :: sent(0:)
    integer(i_def), intent(in) :: received(0:)
    type(message_plan_type) :: self

    call select_ranks(sent, self%receivers, self%first_sent)
    call select_ranks(received, self%senders, self%first_received)
  end function new_message_plan

  !> Set the ranks that have values, and where in the order of ranks their values begin.
  pure subroutine select_ranks(counts, ranks, first)
    integer(i_def), intent(in) :: counts(0:)
    integer(i_def), allocatable, intent(out) :: ranks(:)
    integer(i_def), allocatable, intent(out) :: first(:)

    integer(i_def) :: n, rank

    ranks = pack([(rank, rank=0, size(counts, kind=i_def) - 1)], counts > 0)
    allocate (first(size(ranks) + 1))
    first(1) = 1
    do n = 1, size(ranks, kind=i_def)
      first(n + 1) = first(n) + counts(ranks(n))
    end do
  end subroutine select_ranks

  !> Return the number of values that this rank sends.
  pure function count_sent(self)
    class(message_plan_type), intent(in) :: self
    integer(i_def) :: count_sent

    count_sent = self%first_sent(size(self%first_sent)) - 1
  end function count_sent

  !> Return the plan of exchanges that are executed together: all values for one rank are in one
  !> message.
  pure function join_plans(plans) result(joint)
    type(message_plan_type), intent(in) :: plans(:)
    type(message_plan_type) :: joint

    integer(i_def) :: n

    joint = plans(1)
    do n = 2, size(plans, kind=i_def)
      call add_messages(joint%receivers, joint%first_sent, plans(n)%receivers, plans(n)%first_sent)
      call add_messages(joint%senders, joint%first_received, plans(n)%senders, &
                        plans(n)%first_received)
    end do
  end function join_plans

  !> Add values to messages, and messages to those ranks, which ascend, that had none.
  pure subroutine add_messages(ranks, first, other_ranks, other_first)
    integer(i_def), allocatable, intent(inout) :: ranks(:)
    integer(i_def), allocatable, intent(inout) :: first(:)
    integer(i_def), intent(in) :: other_ranks(:)
    integer(i_def), intent(in) :: other_first(:)

    integer(i_def) :: n, place

    do n = 1, size(other_ranks, kind=i_def)
      place = count(ranks < other_ranks(n), kind=i_def) + 1
      if (place_of_rank(ranks, other_ranks(n)) == 0) then
        ranks = [ranks(:place - 1), other_ranks(n), ranks(place:)]
        first = [first(:place), first(place:)]
      end if
      first(place + 1:) = first(place + 1:) + other_first(n + 1) - other_first(n)
    end do
  end subroutine add_messages

  !> Return the place of a rank among others; 0 if it is not there.
  pure function place_of_rank(ranks, rank) result(place)
    integer(i_def), intent(in) :: ranks(:)
    integer(i_def), intent(in) :: rank
    integer(i_def) :: place

    do place = size(ranks, kind=i_def), 1, -1
      if (ranks(place) == rank) return
    end do
  end function place_of_rank

end module message_plan_mod
