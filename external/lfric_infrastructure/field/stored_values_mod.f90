!> Owns the storage of the values of a field or of an operator, which knows where they are current.
!>
!> Generated code acquires and releases values, on the host or on a device. Whoever reads `data` of
!> a proxy looks at what the host has: that is good between an acquire there and its release, behind
!> `bring_to_host`, and always where host and device are one memory.
module stored_values_mod

  use, intrinsic :: iso_c_binding, only: c_int
  use opaque_mod, only: opaque_type
  use storage_parts_mod, only: box_type

  implicit none
  private

  !> A storage, and how often it is held once more by somebody who has it under another name. What
  !> is `held` is for held_storage_mod.
  type, public :: stored_values_type
    class(opaque_type), allocatable, public :: held
    integer, private :: shares = 0
  contains
    procedure, non_overridable, public :: make_storage
    procedure, non_overridable, public :: acquire
    procedure, non_overridable, public :: release
    procedure, non_overridable, public :: prefetch
    procedure, non_overridable, public :: is_written
    procedure, non_overridable, public :: bring_to_host
    procedure, non_overridable, public :: wrote_on_host
    procedure, non_overridable, public :: get_halo_depth
    procedure, non_overridable, public :: get_clean_depth
    procedure, non_overridable, public :: is_dirty
    procedure, non_overridable, public :: set_dirty
    procedure, non_overridable, public :: set_clean
    procedure, non_overridable, public :: has_device_memory
    procedure, non_overridable, public :: begin_exchange
    procedure, non_overridable, public :: end_exchange
  end type stored_values_type

contains

  !> Make a storage that holds nothing yet.
  subroutine make_storage(self)
    use held_storage_mod, only: held_storage_type

    class(stored_values_type), intent(inout) :: self

    allocate (held_storage_type :: self%held)
  end subroutine make_storage

  !> Begin to use the values in a space. One who `may_share` has maybe acquired them already, for
  !> the same and under another name: then there is nothing to do. The flags of the halo stay: they
  !> are for the caller to set, who knows what a loop leaves of it.
  subroutine acquire(self, space, access, may_share)
    use held_storage_mod, only: field_storage_type, storage_of
    use storage_words_mod, only: access_read

    class(stored_values_type), target, intent(inout) :: self
    integer(c_int), intent(in) :: space
    integer(c_int), intent(in) :: access
    logical, optional, intent(in) :: may_share

    type(field_storage_type), pointer :: storage
    integer(c_int) :: clean_depth

    storage => storage_of(self%held)
    if (present(may_share) .and. access /= access_read) then
      if (may_share .and. storage%is_written(space)) then
        self%shares = self%shares + 1
        return
      end if
    end if
    clean_depth = storage%get_clean_depth()
    call storage%acquire(space, access)
    if (access /= access_read .and. clean_depth > 0) call storage%set_clean(clean_depth)
  end subroutine acquire

  !> End the use of the values in a space that began last.
  subroutine release(self, space)
    use held_storage_mod, only: field_storage_type, storage_of

    class(stored_values_type), target, intent(inout) :: self
    integer(c_int), intent(in) :: space

    type(field_storage_type), pointer :: storage

    if (self%shares > 0) then
      self%shares = self%shares - 1
    else
      storage => storage_of(self%held)
      call storage%release(space)
    end if
  end subroutine release

  !> Begin to bring the values to a space, where they will be acquired later. Somebody who still
  !> has them under another name keeps them: then they are brought when they are acquired.
  subroutine prefetch(self, space)
    use held_storage_mod, only: field_storage_type, storage_of
    use storage_words_mod, only: access_read

    class(stored_values_type), target, intent(inout) :: self
    integer(c_int), intent(in) :: space

    type(field_storage_type), pointer :: storage

    if (self%is_written()) return
    storage => storage_of(self%held)
    call storage%acquire(space, access_read, queue=1)
    call storage%release(space, queue=1)
  end subroutine prefetch

  !> Return whether somebody writes the values.
  function is_written(self) result(answer)
    use held_storage_mod, only: field_storage_type, storage_of

    class(stored_values_type), target, intent(in) :: self
    logical :: answer

    type(field_storage_type), pointer :: storage

    storage => storage_of(self%held)
    answer = storage%is_written()
  end function is_written

  !> Make the host have the latest values.
  subroutine bring_to_host(self)
    use held_storage_mod, only: field_storage_type, storage_of
    use storage_words_mod, only: access_read, space_host

    class(stored_values_type), target, intent(inout) :: self

    type(field_storage_type), pointer :: storage

    storage => storage_of(self%held)
    call storage%acquire(space_host, access_read)
    call storage%release(space_host)
  end subroutine bring_to_host

  !> Note that all values of the host are new; the halo is dirty to all its depths.
  subroutine wrote_on_host(self)
    use held_storage_mod, only: field_storage_type, storage_of
    use storage_words_mod, only: space_host

    class(stored_values_type), target, intent(inout) :: self

    type(field_storage_type), pointer :: storage

    storage => storage_of(self%held)
    call storage%touch(space_host)
  end subroutine wrote_on_host

  !> Return the depth of the halo.
  function get_halo_depth(self) result(depth)
    use held_storage_mod, only: field_storage_type, storage_of

    class(stored_values_type), target, intent(in) :: self
    integer(c_int) :: depth

    type(field_storage_type), pointer :: storage

    storage => storage_of(self%held)
    depth = storage%get_halo_depth()
  end function get_halo_depth

  !> Return to which depth the halo is up to date.
  function get_clean_depth(self) result(depth)
    use held_storage_mod, only: field_storage_type, storage_of

    class(stored_values_type), target, intent(in) :: self
    integer(c_int) :: depth

    type(field_storage_type), pointer :: storage

    storage => storage_of(self%held)
    depth = storage%get_clean_depth()
  end function get_clean_depth

  !> Return whether the halo is out of date at one depth.
  function is_dirty(self, depth) result(answer)
    use held_storage_mod, only: field_storage_type, storage_of

    class(stored_values_type), target, intent(in) :: self
    integer(c_int), intent(in) :: depth
    logical :: answer

    type(field_storage_type), pointer :: storage

    storage => storage_of(self%held)
    answer = storage%is_dirty(depth)
  end function is_dirty

  !> Mark the halo as out of date at every depth.
  subroutine set_dirty(self)
    use held_storage_mod, only: field_storage_type, storage_of

    class(stored_values_type), target, intent(inout) :: self

    type(field_storage_type), pointer :: storage

    storage => storage_of(self%held)
    call storage%set_dirty()
  end subroutine set_dirty

  !> Mark the halo as up to date to a depth.
  subroutine set_clean(self, depth)
    use held_storage_mod, only: field_storage_type, storage_of

    class(stored_values_type), target, intent(inout) :: self
    integer(c_int), intent(in) :: depth

    type(field_storage_type), pointer :: storage

    storage => storage_of(self%held)
    call storage%set_clean(depth)
  end subroutine set_clean

  !> Return whether there are values on a device.
  function has_device_memory(self) result(answer)
    use held_storage_mod, only: field_storage_type, storage_of

    class(stored_values_type), target, intent(in) :: self
    logical :: answer

    type(field_storage_type), pointer :: storage

    storage => storage_of(self%held)
    answer = storage%has_device_memory()
  end function has_device_memory

  !> Begin to exchange the halo of the values of the host to a depth. With what is `sent` and
  !> `received`, no more than that is brought, and a copy on a device stays as current as it is.
  subroutine begin_exchange(self, depth, sent, received)
    use held_storage_mod, only: field_storage_type, storage_of
    use storage_words_mod, only: space_host

    class(stored_values_type), target, intent(inout) :: self
    integer(c_int), intent(in) :: depth
    type(box_type), optional, intent(in) :: sent(:)
    type(box_type), optional, intent(in) :: received(:)

    type(field_storage_type), pointer :: storage

    storage => storage_of(self%held)
    if (present(sent) .and. present(received)) then
      call storage%begin_exchange_of_parts(space_host, depth, sent, received)
    else
      call storage%begin_exchange(space_host, depth)
    end if
  end subroutine begin_exchange

  !> Note that the exchange which was begun has filled the halo.
  subroutine end_exchange(self)
    use, intrinsic :: iso_c_binding, only: c_int64_t
    use held_storage_mod, only: field_storage_type, storage_of

    class(stored_values_type), target, intent(inout) :: self

    type(field_storage_type), pointer :: storage

    storage => storage_of(self%held)
    call storage%end_exchange(0_c_int64_t, 0_c_int64_t)
  end subroutine end_exchange

end module stored_values_mod
