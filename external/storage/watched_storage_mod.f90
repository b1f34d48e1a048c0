!> Owns storages of memory that others may write or free without a word, and notices that.
!>
!> What is stale on the host carries marks, and what is current on both sides has a digest of the
!> host's while nobody uses it: all of it beside an emulated device, a few words beside others. What
!> the host has overwritten altogether is new, and current there.
module watched_storage_mod

  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_null_ptr, c_ptr, c_size_t
  use field_storage_mod, only: field_storage_type
  use storage_device_mod, only: device_has_memory, home_of
  use storage_errors_mod, only: last_error, report_error
  use storage_watch_mod, only: count_marks, digest_of, mark_host
  use storage_words_mod, only: access_read, error_access_conflict, error_lost_values, no_error, &
                               space_device, space_host

  implicit none
  private

  !> A storage of bytes at an address. The digest is that of values which are current on both sides
  !> while nobody uses them, if the storage still has the version that it was made for.
  type, public :: watched_storage_type
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
  end type watched_storage_type

contains

  !> Look whether the host has written values that it has not told of, before old ones are used. If
  !> the host `takes_over`, what is on both sides now is going to be stale on the device anyway.
  !>
  !> Stops with 200 if the host has written some of the values that are current on the device alone,
  !> or has changed some that are current on both sides.
  subroutine notice_changes(self, takes_over)
    class(watched_storage_type), intent(inout) :: self
    logical, intent(in) :: takes_over

    integer(c_size_t) :: left, all_marks

    if (.not. device_has_memory) return
    if (self%is_used() .or. .not. self%storage%is_valid_on_a_device()) return
    if (.not. is_in_two_memories(self)) return
    if (self%storage%is_valid(space_host)) then
      if (takes_over .or. self%digested_version /= self%storage%get_version()) return
      if (digest_of(self%address, self%bytes) == self%digest) return
      call self%stop_at(error_lost_values, 'The host has written an array that the device ' // &
                        'has, too, and has not told so: call wrote_on_host behind, or ' // &
                        'release_storage before an array is freed, release_tables before a ' // &
                        'map is; for fields with storages set_data or set_dirty says it.')
    end if
    call self%storage%wait()
    call count_marks(self%address, self%bytes, left, all_marks)
    if (left == all_marks) return
    if (left == 0) then
      call self%storage%touch(space_host)
      return
    end if
    call self%stop_at(error_lost_values, 'The host has written a part of an array of which ' // &
                      'only the device has the values: call bring_to_host before, and ' // &
                      'wrote_on_host behind, or release_storage before an array is freed; for ' // &
                      'fields with storages get_data brings and set_dirty says it.')
  end subroutine notice_changes

  !> Stop with 201 if directives keep an array on a device that has a storage, or is to have one.
  subroutine check_one_contract(self)
    class(watched_storage_type), intent(in) :: self

    if (.not. device_has_memory .or. self%is_used()) return
    if (.not. self%storage%state%replicas%is_kept_by_others(home_of(space_device))) return
    call self%stop_at(error_access_conflict, 'Directives and a storage would both keep an ' // &
                      'array on a device: make all layers that use it with "enter data", or ' // &
                      'all for storages, or let "exit data" stand between them.')
  end subroutine check_one_contract

  !> Let directives find the copies on devices, before these are used, or moved to the host.
  subroutine show_copies(self)
    class(watched_storage_type), intent(inout) :: self

    if (.not. device_has_memory .or. self%is_used()) return
    if (.not. self%storage%has_device_memory()) return
    call self%check_one_contract()
    call self%storage%state%replicas%show()
  end subroutine show_copies

  !> Let no directive find a copy that nobody uses: `enter data` is going to make another one, which
  !> is noticed.
  subroutine hide_copies(self)
    class(watched_storage_type), intent(inout) :: self

    if (device_has_memory .and. .not. self%is_used()) call self%storage%state%replicas%hide()
  end subroutine hide_copies

  !> Begin to watch what nobody uses any more, and what is on a device.
  subroutine watch(self)
    class(watched_storage_type), intent(inout) :: self

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

  !> Watch no longer what is on both sides: values are under way to the host.
  subroutine forget_digest(self)
    class(watched_storage_type), intent(inout) :: self

    self%digested_version = -1
  end subroutine forget_digest

  !> Bring values that nobody uses to the host, and take what a device has for stale: nobody will
  !> tell what the host does with them.
  subroutine bring_home(self)
    class(watched_storage_type), intent(inout) :: self

    if (.not. is_in_two_memories(self)) return
    if (self%is_used()) return
    if (self%is_on_device_alone()) then
      call self%show_copies()
      call self%storage%acquire(space_host, access_read)
      call self%storage%release(space_host)
    end if
    call self%assume_host_alone()
  end subroutine bring_home

  !> Say whether the host has old values only, and has written none of them: all marks are there.
  function has_old_values(self)
    class(watched_storage_type), intent(inout) :: self
    logical :: has_old_values

    integer(c_size_t) :: left, all_marks

    has_old_values = self%is_on_device_alone()
    if (.not. has_old_values) return
    call self%storage%wait()
    call count_marks(self%address, self%bytes, left, all_marks)
    has_old_values = left == all_marks
  end function has_old_values

  !> Look whether the host has overwritten all of its old values, if it says that it wrote `all`.
  !>
  !> Stops with 200 if only the device has some values.
  subroutine check_all_written(self, all)
    class(watched_storage_type), intent(inout) :: self
    logical, intent(in) :: all

    integer(c_size_t) :: left, all_marks

    if (.not. all .or. .not. self%is_on_device_alone()) return
    call self%storage%wait()
    call count_marks(self%address, self%bytes, left, all_marks)
    if (left == 0) return
    call self%stop_at(error_lost_values, 'The host has written a part of an array of which ' // &
                      'only the device has the values: call bring_to_host before that, or ' // &
                      'get_data for a field with a storage.')
  end subroutine check_all_written

  !> Say whether a device has values elsewhere than the host: there are programs for devices that
  !> run on the host, and devices that share its memory.
  function is_in_two_memories(self)
    class(watched_storage_type), intent(in) :: self
    logical :: is_in_two_memories

    is_in_two_memories = device_has_memory .and. self%bytes > 0
    if (.not. is_in_two_memories) return
    is_in_two_memories = self%storage%has_memory_elsewhere()
  end function is_in_two_memories

  !> Say whether the device alone has the current values.
  function is_on_device_alone(self)
    class(watched_storage_type), intent(in) :: self
    logical :: is_on_device_alone

    is_on_device_alone = is_in_two_memories(self)
    if (is_on_device_alone) is_on_device_alone = self%storage%is_valid_on_a_device() .and. .not. &
                                                 self%storage%is_valid(space_host)
  end function is_on_device_alone

  !> Take what a device has of an array that nobody uses for stale.
  subroutine assume_host_alone(self)
    class(watched_storage_type), intent(inout) :: self

    if (self%is_used()) return
    if (self%storage%is_valid_on_a_device()) call self%storage%assume_valid([space_host])
  end subroutine assume_host_alone

  !> Say whether somebody has access, or exchanges.
  function is_used(self)
    class(watched_storage_type), intent(in) :: self
    logical :: is_used

    is_used = self%storage%state%coherence%is_used()
  end function is_used

  ! -- errors --------------------------------------------------------------------------------------

  !> Stop with a sentence, and say which array it is about.
  subroutine stop_at(self, code, sentence)
    class(watched_storage_type), intent(in) :: self
    integer(c_int), intent(in) :: code
    character(*), intent(in) :: sentence

    call report_error(code, sentence // ' It is "' // self%storage%get_name() // '".')
  end subroutine stop_at

  !> Stop if a storage has refused something, and say what to do.
  subroutine stop_unless_done(self, status)
    class(watched_storage_type), intent(in) :: self
    integer(c_int), intent(in) :: status

    if (status == no_error) return
    if (status /= error_access_conflict) call report_error(status, last_error())
    call report_error(status, last_error() // ' One array, under one name or two, is read by ' // &
                      'several or written by one: pass another field, or copy it before.')
  end subroutine stop_unless_done

end module watched_storage_mod
