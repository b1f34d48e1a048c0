!> Transfer of halo points between ranks: packing, messages, unpacking.
!>
!> Each neighbour gets one message for all arrays. The values of a single array are received in
!> place, and sent in place unless their rows are short; all others pass through buffers, which are
!> reused by the next exchange.
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

  !> Messages in progress and their buffers.
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
    integer :: n, done, last, senders

    senders = size(plan%received)
    call prepare(messages, plan, size(arrays))
    done = 0
    do n = 1, senders
      associate (message => plan%received(n), request => messages%requests(n))
        last = done + message%points * size(arrays)
        if (size(arrays) == 1) then
          call start_receiving(values_of(arrays(1)), message%rank, request, message%layout)
        else
          call start_receiving(messages%received(done + 1:last), message%rank, request)
        end if
        done = last
      end associate
    end do
    done = 0
    do n = 1, size(plan%sent)
      associate (message => plan%sent(n), request => messages%requests(senders + n))
        last = done + message%points * size(arrays)
        if (size(arrays) == 1 .and. .not. message%has_short_rows) then
          call start_sending(values_of(arrays(1)), message%rank, request, message%layout)
        else
          call pack_message(message, arrays, messages%sent(done + 1:last))
          call start_sending(messages%sent(done + 1:last), message%rank, request)
        end if
        done = last
      end associate
    end do
    call copy_own(plan, arrays)
    call count_exchange(size(arrays), size(plan%sent), done * storage_size(1.0_go_wp) / 8)
  end subroutine start_exchange

  !> Finish the exchange that was started with these arguments.
  subroutine finish_exchange(plan, arrays, messages)
    type(halo_plan_type), intent(in) :: plan
    type(array_type), intent(in) :: arrays(:)
    type(halo_messages_type), intent(inout) :: messages
    integer :: n, done, last

    call finish_messages(messages%requests(:size(plan%received) + size(plan%sent)))
    if (size(arrays) == 1) return
    done = 0
    do n = 1, size(plan%received)
      associate (message => plan%received(n))
        last = done + message%points * size(arrays)
        call unpack_message(message, messages%received(done + 1:last), arrays)
        done = last
      end associate
    end do
  end subroutine finish_exchange

  !> Return all values of an array.
  function values_of(array) result(values)
    type(array_type), intent(in) :: array
    real(go_wp), pointer, contiguous :: values(:)

    values(1:size(array%data)) => array%data
  end function values_of

  !> Allocate buffers for the messages of this number of arrays, or reuse existing ones.
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

  !> Grow a buffer to at least this number of values.
  subroutine make_room(buffer, values)
    real(go_wp), allocatable, intent(inout) :: buffer(:)
    integer, intent(in) :: values

    if (allocated(buffer)) then
      if (size(buffer) >= values) return
      deallocate (buffer)
    end if
    allocate (buffer(values))
  end subroutine make_room

  !> Copy the points of a message to a buffer: array by array, region by region.
  subroutine pack_message(message, arrays, buffer)
    type(message_type), intent(in) :: message
    type(array_type), intent(in) :: arrays(:)
    real(go_wp), contiguous, intent(inout) :: buffer(:)
    integer :: a, next, r

    next = 1
    do a = 1, size(arrays)
      do r = 1, size(message%regions)
        call pack_region(arrays(a)%data, message%regions(r), buffer(next:))
        next = next + message%regions(r)%nx * message%regions(r)%ny
      end do
    end do
  end subroutine pack_message

  !> Copy the points of a message from a buffer, in the order in which they were packed.
  subroutine unpack_message(message, buffer, arrays)
    type(message_type), intent(in) :: message
    real(go_wp), contiguous, intent(in) :: buffer(:)
    type(array_type), intent(in) :: arrays(:)
    integer :: a, next, r

    next = 1
    do a = 1, size(arrays)
      do r = 1, size(message%regions)
        call unpack_region(buffer(next:), message%regions(r), arrays(a)%data)
        next = next + message%regions(r)%nx * message%regions(r)%ny
      end do
    end do
  end subroutine unpack_message

  !> Copy a region to the beginning of a buffer, row by row.
  pure subroutine pack_region(data, region, buffer)
    real(go_wp), contiguous, intent(in) :: data(:, :)
    type(region_type), intent(in) :: region
    real(go_wp), contiguous, intent(inout) :: buffer(:)
    integer :: i, j, next

    next = 1
    do j = region%ystart, region%ystop
      do i = region%xstart, region%xstop
        buffer(next) = data(i, j)
        next = next + 1
      end do
    end do
  end subroutine pack_region

  !> Copy a region from the beginning of a buffer, row by row.
  pure subroutine unpack_region(buffer, region, data)
    real(go_wp), contiguous, intent(in) :: buffer(:)
    type(region_type), intent(in) :: region
    real(go_wp), contiguous, intent(inout) :: data(:, :)
    integer :: i, j, next

    next = 1
    do j = region%ystart, region%ystop
      do i = region%xstart, region%xstop
        data(i, j) = buffer(next)
        next = next + 1
      end do
    end do
  end subroutine unpack_region

  !> Copy the points of a periodic halo that the rank itself owns, for every array.
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
