!> Owns the way of halo points between ranks: packing, messages, unpacking.
!>
!> There is one message for each neighbour, whatever the number of arrays. Points of a single array
!> that lie one after the other in memory are sent from there and received there; all others pass
!> through buffers, which are kept for the next exchange.
module halo_exchange_mod

  use halo_plan_mod, only: halo_plan_type, message_type
  use halo_statistics_mod, only: count_exchange
  use kind_params_mod, only: go_wp
  use parallel_utils_mod, only: finish_messages, start_receiving, start_sending
  use region_mod, only: region_type

  implicit none
  private

  public :: start_exchange, finish_exchange

  !> The values of one field.
  type, public :: array_type
    real(go_wp), pointer, contiguous :: data(:, :) => null()
  end type array_type

  !> Messages on their way, and the memory that they pass through.
  type, public :: halo_messages_type
    integer, allocatable :: requests(:)
    real(go_wp), allocatable :: sent(:)
    real(go_wp), allocatable :: received(:)
  end type halo_messages_type

contains

  !> Start an exchange of all arrays. Until it is finished their halos may not be used and their
  !> other points may not be changed.
  subroutine start_exchange(plan, arrays, messages)
    type(halo_plan_type), intent(in) :: plan
    type(array_type), intent(in) :: arrays(:)
    type(halo_messages_type), target, intent(inout) :: messages
    real(go_wp), pointer, contiguous :: values(:)
    integer :: n, done, senders

    senders = size(plan%received)
    call prepare(messages, plan, size(arrays))
    done = 0
    do n = 1, senders
      values => place_of(plan%received(n), arrays, messages%received(done + 1:))
      call start_receiving(values, plan%received(n)%rank, messages%requests(n))
      done = done + size(values)
    end do
    done = 0
    do n = 1, size(plan%sent)
      values => place_of(plan%sent(n), arrays, messages%sent(done + 1:))
      if (.not. is_direct(plan%sent(n), arrays)) call pack_message(plan%sent(n), arrays, values)
      call start_sending(values, plan%sent(n)%rank, messages%requests(senders + n))
      done = done + size(values)
    end do
    call copy_own(plan, arrays)
    call count_exchange(size(arrays), size(plan%sent), done * storage_size(1.0_go_wp) / 8)
  end subroutine start_exchange

  !> Finish the exchange that was started with these arguments.
  subroutine finish_exchange(plan, arrays, messages)
    type(halo_plan_type), intent(in) :: plan
    type(array_type), intent(in) :: arrays(:)
    type(halo_messages_type), target, intent(inout) :: messages
    real(go_wp), pointer, contiguous :: values(:)
    integer :: n, done

    call finish_messages(messages%requests(:size(plan%received) + size(plan%sent)))
    done = 0
    do n = 1, size(plan%received)
      values => place_of(plan%received(n), arrays, messages%received(done + 1:))
      if (.not. is_direct(plan%received(n), arrays)) then
        call unpack_message(plan%received(n), values, arrays)
      end if
      done = done + size(values)
    end do
  end subroutine finish_exchange

  !> Return the memory that a message is sent from or received into: that of the array itself if
  !> it can be, else the beginning of `buffer`.
  function place_of(message, arrays, buffer) result(values)
    type(message_type), intent(in) :: message
    type(array_type), intent(in) :: arrays(:)
    real(go_wp), target, contiguous, intent(inout) :: buffer(:)
    real(go_wp), pointer, contiguous :: values(:)
    integer :: first

    if (is_direct(message, arrays)) then
      associate (region => message%regions(1))
        first = region%xstart + (region%ystart - 1) * size(arrays(1)%data, 1)
      end associate
      values(1:size(arrays(1)%data)) => arrays(1)%data
      values => values(first:first + message%points - 1)
    else
      values => buffer(:message%points * size(arrays))
    end if
  end function place_of

  !> Make room for the messages of so many arrays; room that is there is kept.
  subroutine prepare(messages, plan, arrays)
    type(halo_messages_type), intent(inout) :: messages
    type(halo_plan_type), intent(in) :: plan
    integer, intent(in) :: arrays
    integer :: requests

    requests = size(plan%received) + size(plan%sent)
    if (allocated(messages%requests)) then
      if (size(messages%requests) < requests) deallocate (messages%requests)
    end if
    if (.not. allocated(messages%requests)) allocate (messages%requests(requests))
    call make_room(messages%sent, plan%count_sent() * arrays)
    call make_room(messages%received, plan%count_received() * arrays)
  end subroutine prepare

  !> Make a buffer hold at least so many values.
  subroutine make_room(buffer, values)
    real(go_wp), allocatable, intent(inout) :: buffer(:)
    integer, intent(in) :: values

    if (allocated(buffer)) then
      if (size(buffer) >= values) return
      deallocate (buffer)
    end if
    allocate (buffer(values))
  end subroutine make_room

  !> Return whether all points of a message lie one after the other in memory.
  pure function is_direct(message, arrays)
    type(message_type), intent(in) :: message
    type(array_type), intent(in) :: arrays(:)
    logical :: is_direct

    is_direct = size(arrays) == 1 .and. size(message%regions) == 1
    if (.not. is_direct) return
    associate (region => message%regions(1))
      is_direct = region%ny == 1 .or. region%nx == size(arrays(1)%data, 1)
    end associate
  end function is_direct

  !> Copy the points of a message to a buffer: array by array, region by region.
  subroutine pack_message(message, arrays, buffer)
    type(message_type), intent(in) :: message
    type(array_type), intent(in) :: arrays(:)
    real(go_wp), contiguous, intent(inout) :: buffer(:)
    integer :: a, j, next, r

    next = 1
    do a = 1, size(arrays)
      do r = 1, size(message%regions)
        associate (region => message%regions(r), data => arrays(a)%data)
          do j = region%ystart, region%ystop
            buffer(next:next + region%nx - 1) = data(region%xstart:region%xstop, j)
            next = next + region%nx
          end do
        end associate
      end do
    end do
  end subroutine pack_message

  !> Copy the points of a message from a buffer, in the order in which they were packed.
  subroutine unpack_message(message, buffer, arrays)
    type(message_type), intent(in) :: message
    real(go_wp), contiguous, intent(in) :: buffer(:)
    type(array_type), intent(in) :: arrays(:)
    integer :: a, j, next, r

    next = 1
    do a = 1, size(arrays)
      do r = 1, size(message%regions)
        associate (region => message%regions(r), data => arrays(a)%data)
          do j = region%ystart, region%ystop
            data(region%xstart:region%xstop, j) = buffer(next:next + region%nx - 1)
            next = next + region%nx
          end do
        end associate
      end do
    end do
  end subroutine unpack_message

  !> Copy what a rank needs of its own points, in every array.
  subroutine copy_own(plan, arrays)
    type(halo_plan_type), intent(in) :: plan
    type(array_type), intent(in) :: arrays(:)
    integer :: a, r

    do a = 1, size(arrays)
      do r = 1, size(plan%copied_to%regions)
        associate (to => plan%copied_to%regions(r), from => plan%copied_from%regions(r), &
            data => arrays(a)%data)
          data(to%xstart:to%xstop, to%ystart:to%ystop) = &
              data(from%xstart:from%xstop, from%ystart:from%ystop)
        end associate
      end do
    end do
  end subroutine copy_own

end module halo_exchange_mod
