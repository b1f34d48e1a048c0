!> The storage of the values of a field or of an operator, which knows where they are current.
!>
!> Generated code acquires and releases values, on the host or on a device. Whoever reads `data` of
!> a proxy looks at what the host has: that is good between an acquire there and its release, behind
!> `bring_to_host`, and always where host and device are one memory.
module stored_values_mod

  use, intrinsic :: iso_c_binding, only: c_int, c_ptr
  use opaque_mod, only: opaque_type
  use storage_parts_mod, only: box_type

  implicit none
  private

  !> A storage. What is `held` is for held_storage_mod.
  type, public :: stored_values_type
    class(opaque_type), allocatable, public :: held
  contains
    procedure, non_overridable, public :: make_storage
    procedure, non_overridable, public :: enter_table
    procedure, non_overridable, public :: leave_table
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

  !> Let all who ask for the storage of the array find this one, which has been set up for memory of
  !> the owner or for memory that somebody has `lent`; nobody asks for one without all values. Two
  !> that are lent the same memory, for the same `layout`, use one storage.
  subroutine enter_table(self, lent, is_whole, layout)
    use held_storage_mod, only: enter_field, own_array_of

    class(stored_values_type), target, intent(inout) :: self
    logical, intent(in) :: lent
    logical, optional, intent(in) :: is_whole
    type(c_ptr), optional, intent(in) :: layout

    call enter_field(own_array_of(self%held), lent, is_whole, layout)
  end subroutine enter_table

  !> Let nobody find it any more, before its memory is freed.
  subroutine leave_table(self)
    use held_storage_mod, only: leave_field, own_array_of

    class(stored_values_type), target, intent(inout) :: self

    call leave_field(own_array_of(self%held))
  end subroutine leave_table

  !> Begin to use the values in a space. One who `may_share` has maybe acquired them already, for
  !> the same and under another name: then there is nothing to do. The flags of the halo stay: they
  !> are for the caller to set, who knows what a loop leaves of it.
  subroutine acquire(self, space, access, may_share)
    use held_storage_mod, only: array_of, wrapped_array_type
    use storage_constants_mod, only: access_read

    class(stored_values_type), target, intent(inout) :: self
    integer(c_int), intent(in) :: space
    integer(c_int), intent(in) :: access
    logical, optional, intent(in) :: may_share

    type(wrapped_array_type), pointer :: array
    integer(c_int) :: clean_depth

    array => array_of(self%held)
    clean_depth = array%storage%get_clean_depth()
    call array%begin_use(space, access, may_share)
    if (access /= access_read .and. clean_depth > 0) call array%storage%set_clean(clean_depth)
  end subroutine acquire

  !> End the use of the values in a space that began last.
  subroutine release(self, space)
    use held_storage_mod, only: array_of, wrapped_array_type

    class(stored_values_type), target, intent(inout) :: self
    integer(c_int), intent(in) :: space

    type(wrapped_array_type), pointer :: array

    array => array_of(self%held)
    call array%release(space, stay=.true.)
  end subroutine release

  !> Begin to bring the values to a space, where they will be acquired later. Somebody who still
  !> has them under another name keeps them: then they are brought when they are acquired.
  subroutine prefetch(self, space)
    use held_storage_mod, only: array_of, wrapped_array_type

    class(stored_values_type), target, intent(inout) :: self
    integer(c_int), intent(in) :: space

    type(wrapped_array_type), pointer :: array

    array => array_of(self%held)
    call array%prefetch(space, stay=.true.)
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
    use held_storage_mod, only: array_of, wrapped_array_type
    use storage_constants_mod, only: access_read, space_host

    class(stored_values_type), target, intent(inout) :: self

    type(wrapped_array_type), pointer :: array

    array => array_of(self%held)
    call array%begin_use(space_host, access_read, looks=.true.)
    call array%release(space_host, stay=.true.)
  end subroutine bring_to_host

  !> Note that the host has written values; the halo is dirty to all its depths.
  subroutine wrote_on_host(self)
    use held_storage_mod, only: array_of, wrapped_array_type

    class(stored_values_type), target, intent(inout) :: self

    type(wrapped_array_type), pointer :: array

    array => array_of(self%held)
    call array%touch_host()
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
    use held_storage_mod, only: array_of, wrapped_array_type

    class(stored_values_type), target, intent(inout) :: self
    integer(c_int), intent(in) :: depth
    type(box_type), optional, intent(in) :: sent(:)
    type(box_type), optional, intent(in) :: received(:)

    type(wrapped_array_type), pointer :: array

    array => array_of(self%held)
    call array%begin_exchange_of_parts(depth, sent, received, within=.true.)
  end subroutine begin_exchange

  !> Note that the exchange which was begun has filled the halo.
  subroutine end_exchange(self)
    use held_storage_mod, only: array_of, wrapped_array_type

    class(stored_values_type), target, intent(inout) :: self

    type(wrapped_array_type), pointer :: array

    array => array_of(self%held)
    call array%end_exchange(stay=.true.)
  end subroutine end_exchange

end module stored_values_mod
