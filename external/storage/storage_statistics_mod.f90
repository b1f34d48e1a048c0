!> Statistics of coherence: transfers and halo exchanges.
module storage_statistics_mod

  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_size_t
  use, intrinsic :: iso_fortran_env, only: output_unit
  use storage_constants_mod, only: space_host

  implicit none
  private

  public :: count_transfer, count_avoided, count_exchange
  public :: get_total_statistics, reset_total_statistics
  public :: print_statistics, set_quiet

  !> Totals. A transfer is avoided if the field has memory on both sides and an access needs no
  !> copy, because the values are current or will be overwritten.
  type, bind(c), public :: storage_statistics_type
    integer(c_int64_t) :: to_device = 0
    integer(c_int64_t) :: to_device_bytes = 0
    integer(c_int64_t) :: to_host = 0
    integer(c_int64_t) :: to_host_bytes = 0
    integer(c_int64_t) :: avoided = 0
    integer(c_int64_t) :: exchanges = 0
    integer(c_int64_t) :: messages = 0
    integer(c_int64_t) :: message_bytes = 0
  end type storage_statistics_type

  !> Totals of all fields, including those that have ended.
  type(storage_statistics_type), save :: total
  integer(c_int), save :: lock_word = 0
  logical, save :: is_quiet = .false.

contains

  !> Count one transfer to `space`, for a field and in the totals.
  subroutine count_transfer(done, space, bytes)
    type(storage_statistics_type), intent(inout) :: done
    integer(c_int), intent(in) :: space
    integer(c_size_t), intent(in) :: bytes

    call add_transfer(done, space, bytes)
    call acquire_lock(lock_word)
    call add_transfer(total, space, bytes)
    call release_lock(lock_word)
  end subroutine count_transfer

  !> Count one transfer that was not needed.
  subroutine count_avoided(done)
    type(storage_statistics_type), intent(inout) :: done

    !$omp atomic
    done%avoided = done%avoided + 1
    !$omp atomic
    total%avoided = total%avoided + 1
  end subroutine count_avoided

  !> Count one halo exchange, and what this rank sent in it.
  subroutine count_exchange(done, messages, bytes)
    type(storage_statistics_type), intent(inout) :: done
    integer(c_int64_t), intent(in) :: messages
    integer(c_int64_t), intent(in) :: bytes

    call add_exchange(done, messages, bytes)
    call acquire_lock(lock_word)
    call add_exchange(total, messages, bytes)
    call release_lock(lock_word)
  end subroutine count_exchange

  !> Return the totals of all fields since the start or the last reset.
  function get_total_statistics() result(statistics)
    type(storage_statistics_type) :: statistics

    statistics = total
  end function get_total_statistics

  !> Reset the totals of all fields; the counts of each field remain.
  subroutine reset_total_statistics()
    total = storage_statistics_type()
  end subroutine reset_total_statistics

  !> Print statistics under a title, by default the totals of all fields; nothing if printing is
  !> disabled.
  subroutine print_statistics(title, statistics)
    character(*), intent(in) :: title
    type(storage_statistics_type), optional, intent(in) :: statistics

    type(storage_statistics_type) :: shown

    if (is_quiet) return
    shown = total
    if (present(statistics)) shown = statistics
    write (output_unit, '(2a, 3(i0, a), 2(i0, a))') title, ': ', &
      shown%to_device, ' transfers to the device (', shown%to_device_bytes, ' B), ', &
      shown%to_host, ' to the host (', shown%to_host_bytes, ' B), ', shown%avoided, ' avoided'
    write (output_unit, '(2a, 3(i0, a))') title, ': ', shown%exchanges, ' exchanges, ', &
      shown%messages, ' messages (', shown%message_bytes, ' B)'
  end subroutine print_statistics

  !> Disable or enable the output of `print_statistics`.
  subroutine set_quiet(quiet)
    logical, intent(in) :: quiet

    is_quiet = quiet
  end subroutine set_quiet

  include 'lock_procedures.inc'

  !> Add one transfer to statistics.
  pure subroutine add_transfer(sums, space, bytes)
    type(storage_statistics_type), intent(inout) :: sums
    integer(c_int), intent(in) :: space
    integer(c_size_t), intent(in) :: bytes

    if (space /= space_host) then
      sums%to_device = sums%to_device + 1
      sums%to_device_bytes = sums%to_device_bytes + int(bytes, c_int64_t)
    else
      sums%to_host = sums%to_host + 1
      sums%to_host_bytes = sums%to_host_bytes + int(bytes, c_int64_t)
    end if
  end subroutine add_transfer

  !> Add one exchange to statistics.
  pure subroutine add_exchange(sums, messages, bytes)
    type(storage_statistics_type), intent(inout) :: sums
    integer(c_int64_t), intent(in) :: messages
    integer(c_int64_t), intent(in) :: bytes

    sums%exchanges = sums%exchanges + 1
    sums%messages = sums%messages + messages
    sums%message_bytes = sums%message_bytes + bytes
  end subroutine add_exchange

end module storage_statistics_mod
