!> Transfer of values to the halos of other ranks.
!>
!> Each neighbour gets one message for all fields. All values are received in place, by derived MPI
!> types. The values of a single field are sent in place, unless they consist of many short runs;
!> these, and the values of several fields, pass through a buffer, which the next exchange reuses.
!> The module is independent of the kind of the fields.
module halo_exchange_mod

  use, intrinsic :: iso_c_binding, only: c_loc
  use, intrinsic :: iso_fortran_env, only: int32
  use constants_mod, only: i_def, l_def
  use dof_runs_mod, only: pack_runs
  use joint_plan_mod, only: joint_plan_type, part_type
  use message_passing_mod, only: finish_messages, start_receiving, start_sending, &
                                 start_sending_values
  use message_plan_mod, only: message_plan_type, place_of_rank

  implicit none
  private

  public :: start_exchange, finish_exchange

  !> Messages of an exchange in progress to this depth, 0 without one; and buffers for the next one.
  type, public :: halo_messages_type
    integer(i_def) :: depth = 0
    integer, allocatable :: requests(:)
    integer(int32), allocatable :: buffer(:)
    type(joint_plan_type) :: joint
  end type halo_messages_type

contains

  !> Start an exchange of all parts, whose values have the same size. Until it is finished, halos
  !> may not be used and owned values may not be changed.
  subroutine start_exchange(parts, messages)
    type(part_type), intent(in) :: parts(:)
    type(halo_messages_type), target, intent(inout) :: messages

    if (size(parts) == 1) then
      associate (routing => parts(1)%routing)
        call make_room(messages, routing%plan, &
                       merge(parts(1)%bytes / 4, 0_i_def, any(routing%is_packed)))
        call start_messages(parts, routing%plan, routing%received(:, parts(1)%bytes / 4), &
                            routing%is_packed, messages)
      end associate
    else
      call messages%joint%set(parts)
      associate (plan => messages%joint%plan)
        call make_room(messages, plan, parts(1)%bytes / 4)
        call start_messages(parts, plan, messages%joint%received, &
                            spread(.true._l_def, 1, size(plan%receivers)), messages)
      end associate
    end if
  end subroutine start_exchange

  !> Finish the exchange that was started with these messages.
  subroutine finish_exchange(messages)
    type(halo_messages_type), intent(inout) :: messages

    call finish_messages(messages%requests)
  end subroutine finish_exchange

  !> Allocate the requests of a plan, and this number of words for each value that is sent.
  subroutine make_room(messages, plan, words)
    type(halo_messages_type), intent(inout) :: messages
    type(message_plan_type), intent(in) :: plan
    integer(i_def), intent(in) :: words

    integer :: requests

    requests = size(plan%senders) + size(plan%receivers)
    if (allocated(messages%requests)) then
      if (size(messages%requests) /= requests) deallocate (messages%requests)
    end if
    if (.not. allocated(messages%requests)) allocate (messages%requests(requests))
    if (allocated(messages%buffer)) then
      if (size(messages%buffer) < plan%count_sent() * words) deallocate (messages%buffer)
    end if
    if (.not. allocated(messages%buffer)) &
      allocate (messages%buffer(plan%count_sent() * words))
  end subroutine make_room

  !> Start the messages of a plan. The layouts of received values are relative to the first part;
  !> sent values are packed, or use the layouts of the only part.
  subroutine start_messages(parts, plan, received, is_packed, messages)
    use halo_statistics_mod, only: count_exchange

    type(part_type), intent(in) :: parts(:)
    type(message_plan_type), intent(in) :: plan
    integer, contiguous, intent(in) :: received(:)
    logical(l_def), intent(in) :: is_packed(:)
    type(halo_messages_type), target, intent(inout) :: messages

    integer(i_def) :: bytes, first, n, senders

    bytes = parts(1)%bytes
    senders = size(plan%senders, kind=i_def)
    do n = 1, senders
      call start_receiving(parts(1)%address, received(n), plan%senders(n), messages%requests(n))
    end do
    do n = 1, size(plan%receivers, kind=i_def)
      associate (rank => plan%receivers(n), request => messages%requests(senders + n))
        if (is_packed(n)) then
          first = plan%first_sent(n)
          call pack_message(parts, rank, messages%buffer, first)
          call start_sending_values(c_loc(messages%buffer((first - 1) * bytes / 4 + 1)), &
                                    plan%first_sent(n + 1) - first, bytes, rank, request)
        else
          call start_sending(parts(1)%address, parts(1)%routing%sent(n, bytes / 4), rank, request)
        end if
      end associate
    end do
    call count_exchange(size(parts, kind=i_def), size(plan%receivers, kind=i_def), &
                        plan%count_sent() * bytes)
  end subroutine start_messages

  !> Copy the values for a rank to a buffer, part by part, beginning at the value with the number
  !> `first`.
  subroutine pack_message(parts, rank, buffer, first)
    type(part_type), intent(in) :: parts(:)
    integer(i_def), intent(in) :: rank
    integer(int32), target, contiguous, intent(inout) :: buffer(:)
    integer(i_def), intent(in) :: first

    integer(i_def) :: message, n, value

    value = first
    do n = 1, size(parts, kind=i_def)
      associate (routing => parts(n)%routing, bytes => parts(n)%bytes)
        message = place_of_rank(routing%plan%receivers, rank)
        if (message == 0) cycle
        call pack_runs(routing%sent_runs, message, bytes, parts(n)%address, &
                       c_loc(buffer((value - 1) * bytes / 4 + 1)))
        value = value + routing%plan%first_sent(message + 1) - routing%plan%first_sent(message)
      end associate
    end do
  end subroutine pack_message

end module halo_exchange_mod
