!> Storages of arrays in host memory that other code may write or free without notice; this module
!> detects that.
!>
!> Stale host memory is filled with a pattern. If both sides are current and the array is not in
!> use, a digest of the host memory is stored. With an emulated device, all words are checked,
!> otherwise a few. If the host has overwritten all values, its copy becomes the current one.
module monitored_storage_mod

  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_null_ptr, c_ptr, c_size_t
  use field_storage_mod, only: field_storage_type
  use storage_device_mod, only: device_has_memory, home_of
  use storage_errors_mod, only: last_error, report_error
  use write_detection_mod, only: count_marks, digest_of, mark_host
  use storage_constants_mod, only: access_read, error_access_conflict, error_lost_values, &
                                   no_error, space_device, space_host

  implicit none
  private

  !> Storage of the bytes at an address. The digest is of values that are current on both sides and
  !> not in use; it is valid if the storage still has the version for which it was computed.
  type, public :: monitored_storage_type
    type(field_storage_type), public :: storage
    type(c_ptr), public :: address = c_null_ptr
    integer(c_size_t), public :: bytes = 0
    integer(c_int64_t), private :: digest = 0
    integer(c_int64_t), private :: digested_version = -1
  contains
    procedure, non_overridable, public :: notice_changes
    procedure, non_overridable, public :: check_one_contract
    procedure, non_overridable, public :: show_copies
    procedure, non_overridable, public :: hide_copies
    procedure, non_overridable, public :: watch
    procedure, non_overridable, public :: forget_digest
    procedure, non_overridable, public :: bring_home
    procedure, non_overridable, public :: has_old_values
    procedure, non_overridable, public :: check_all_written
    procedure, non_overridable, public :: is_on_device_alone
    procedure, non_overridable, public :: is_used
    procedure, non_overridable, public :: assume_host_alone
    procedure, non_overridable, public :: stop_at
    procedure, non_overridable, public :: stop_unless_done
    procedure, non_overridable, private :: is_in_two_memories
  end type monitored_storage_type

contains

  !> Detect unreported writes by the host, before old values are used. With `takes_over`, an access
  !> of the host follows that makes the device stale anyway.
  !>
  !> Stops with 200 if the host wrote some of the values that are current only on the device, or
  !> changed values that are current on both sides.
  subroutine notice_changes(self, takes_over)
    class(monitored_storage_type), intent(inout) :: self
    logical, intent(in) :: takes_over

    integer(c_size_t) :: left, all_marks

    if (.not. device_has_memory) return
    if (self%is_used() .or. .not. self%storage%is_valid_on_a_device()) return
    if (.not. is_in_two_memories(self)) return
    if (self%storage%is_valid(space_host)) then
      if (takes_over .or. self%digested_version /= self%storage%get_version()) return
      if (digest_of(self%address, self%bytes) == self%digest) return
      call self%stop_at(error_lost_values, 'The host has written an array that is current ' // &
                        'on the device, without a report: call wrote_on_host after the write, ' // &
                        'release_storage before an array is freed, or release_tables before a ' // &
                        'map is freed; for fields with storages, call set_data or set_dirty.')
    end if
    call self%storage%wait()
    call count_marks(self%address, self%bytes, left, all_marks)
    if (left == all_marks) return
    if (left == 0) then
      call self%storage%touch(space_host)
      return
    end if
    call self%stop_at(error_lost_values, 'The host has written a part of an array that is ' // &
                      'current only on the device: call bring_to_host before the write ' // &
                      'and wrote_on_host after it, or release_storage before an array is ' // &
                      'freed; for fields with storages, call get_data before and set_dirty after.')
  end subroutine notice_changes

  !> Stop with 201 if both directives and a storage would keep the array on a device.
  subroutine check_one_contract(self)
    class(monitored_storage_type), intent(in) :: self

    if (.not. device_has_memory .or. self%is_used()) return
    if (.not. self%storage%state%replicas%is_kept_by_others(home_of(space_device))) return
    call self%stop_at(error_access_conflict, 'Both directives and a storage would keep an ' // &
                      'array on a device: generate all layers that use it with "enter data", ' // &
                      'or all for storages, or insert "exit data" between them.')
  end subroutine check_one_contract

  !> Make the copies on devices visible to directives, before they are used or moved to the host.
  subroutine show_copies(self)
    class(monitored_storage_type), intent(inout) :: self

    if (.not. device_has_memory .or. self%is_used()) return
    if (.not. self%storage%has_device_memory()) return
    call self%check_one_contract()
    call self%storage%state%replicas%show()
  end subroutine show_copies

  !> Hide copies that are not in use from directives: an `enter data` then creates another copy,
  !> which is detected.
  subroutine hide_copies(self)
    class(monitored_storage_type), intent(inout) :: self

    if (device_has_memory .and. .not. self%is_used()) call self%storage%state%replicas%hide()
  end subroutine hide_copies

  !> Start to monitor an array that is no longer in use and has a copy on a device.
  subroutine watch(self)
    class(monitored_storage_type), intent(inout) :: self

    integer(c_size_t) :: left, all_marks

    if (.not. is_in_two_memories(self)) return
    if (self%is_used()) return
    if (self%is_on_device_alone()) then
      call self%storage%wait()
      call count_marks(self%address, self%bytes, left, all_marks)
      if (left < all_marks) call mark_host(self%address, self%bytes)
    else if (self%storage%is_valid_on_a_device()) then
      self%digest = digest_of(self%address, self%bytes)
      self%digested_version = self%storage%get_version()
    end if
  end subroutine watch

  !> Stop to monitor an array that is current on both sides, because a transfer to the host has
  !> started.
  subroutine forget_digest(self)
    class(monitored_storage_type), intent(inout) :: self

    self%digested_version = -1
  end subroutine forget_digest

  !> Copy values that are not in use to the host and mark the copies on devices as stale, because
  !> writes of the host will not be reported.
  subroutine bring_home(self)
    class(monitored_storage_type), intent(inout) :: self

    if (.not. is_in_two_memories(self)) return
    if (self%is_used()) return
    if (self%is_on_device_alone()) then
      call self%show_copies()
      call self%storage%acquire(space_host, access_read)
      call self%storage%release(space_host)
    end if
    call self%assume_host_alone()
  end subroutine bring_home

  !> Return whether the host copy is stale and unchanged: all words have the pattern.
  function has_old_values(self)
    class(monitored_storage_type), intent(inout) :: self
    logical :: has_old_values

    integer(c_size_t) :: left, all_marks

    has_old_values = self%is_on_device_alone()
    if (.not. has_old_values) return
    call self%storage%wait()
    call count_marks(self%address, self%bytes, left, all_marks)
    has_old_values = left == all_marks
  end function has_old_values

  !> Check that the host has overwritten all stale values, if it reports that it wrote `all`.
  !>
  !> Stops with 200 if only the device has some of the values.
  subroutine check_all_written(self, all)
    class(monitored_storage_type), intent(inout) :: self
    logical, intent(in) :: all

    integer(c_size_t) :: left, all_marks

    if (.not. all .or. .not. self%is_on_device_alone()) return
    call self%storage%wait()
    call count_marks(self%address, self%bytes, left, all_marks)
    if (left == 0) return
    call self%stop_at(error_lost_values, 'The host has written a part of an array that is ' // &
                      'current only on the device: call bring_to_host before the write, or ' // &
                      'get_data for a field with a storage.')
  end subroutine check_all_written

  !> Return whether a device has memory that is distinct from the host's: some devices share it, and
  !> code for devices can run on the host.
  function is_in_two_memories(self)
    class(monitored_storage_type), intent(in) :: self
    logical :: is_in_two_memories

    is_in_two_memories = device_has_memory .and. self%bytes > 0
    if (.not. is_in_two_memories) return
    is_in_two_memories = self%storage%has_memory_elsewhere()
  end function is_in_two_memories

  !> Return whether only devices have the current values.
  function is_on_device_alone(self)
    class(monitored_storage_type), intent(in) :: self
    logical :: is_on_device_alone

    is_on_device_alone = is_in_two_memories(self)
    if (is_on_device_alone) is_on_device_alone = self%storage%is_valid_on_a_device() .and. .not. &
                                                 self%storage%is_valid(space_host)
  end function is_on_device_alone

  !> Mark the copies on devices as stale if the array is not in use.
  subroutine assume_host_alone(self)
    class(monitored_storage_type), intent(inout) :: self

    if (self%is_used()) return
    if (self%storage%is_valid_on_a_device()) call self%storage%assume_valid([space_host])
  end subroutine assume_host_alone

  !> Return whether an access or an exchange is in progress.
  function is_used(self)
    class(monitored_storage_type), intent(in) :: self
    logical :: is_used

    is_used = self%storage%state%coherence%is_used()
  end function is_used

  ! -- errors --------------------------------------------------------------------------------------

  !> Stop with a message, followed by the name of the array.
  subroutine stop_at(self, code, sentence)
    class(monitored_storage_type), intent(in) :: self
    integer(c_int), intent(in) :: code
    character(*), intent(in) :: sentence

    call report_error(code, sentence // ' It is "' // self%storage%get_name() // '".')
  end subroutine stop_at

  !> Stop if a storage has refused a call, with a remedy.
  subroutine stop_unless_done(self, status)
    class(monitored_storage_type), intent(in) :: self
    integer(c_int), intent(in) :: status

    if (status == no_error) return
    if (status /= error_access_conflict) call report_error(status, last_error())
    call report_error(status, last_error() // ' An array, also under two names, can have ' // &
                      'several readers or one writer: pass another field, or copy it before.')
  end subroutine stop_unless_done

end module monitored_storage_mod
