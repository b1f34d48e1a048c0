!> Owns the storage of the values of a field or of an operator, which knows where they are current.
!>
!> Generated code acquires and releases values, on the host or on a device. Whoever reads `data` of
!> a proxy looks at what the host has: that is good between an acquire there and its release, behind
!> `bring_to_host`, and always where host and device are one memory.
module stored_values_mod

  use, intrinsic :: iso_c_binding, only: c_int
  use field_storage_mod, only: field_storage_type
  use storage_words_mod, only: access_read, space_host

  implicit none
  private

  !> A storage, and how often it is held once more by somebody who has it under another name.
  type, public :: stored_values_type
    type(field_storage_type), public :: storage
    integer, private :: shares = 0
  contains
    procedure, public :: acquire
    procedure, public :: release
    procedure, public :: prefetch
    procedure, public :: bring_to_host
    procedure, public :: wrote_on_host
  end type stored_values_type

contains

  !> Begin to use the values in a space. One who `may_share` has maybe acquired them already, for
  !> the same and under another name: then there is nothing to do. The flags of the halo stay: they
  !> are for the caller to set, who knows what a loop leaves of it.
  subroutine acquire(self, space, access, may_share)
    class(stored_values_type), intent(inout) :: self
    integer(c_int), intent(in) :: space
    integer(c_int), intent(in) :: access
    logical, optional, intent(in) :: may_share

    integer(c_int) :: clean_depth

    if (present(may_share) .and. access /= access_read) then
      if (may_share .and. self%storage%is_written(space)) then
        self%shares = self%shares + 1
        return
      end if
    end if
    clean_depth = self%storage%get_clean_depth()
    call self%storage%acquire(space, access)
    if (access /= access_read .and. clean_depth > 0) call self%storage%set_clean(clean_depth)
  end subroutine acquire

  !> End the use of the values in a space that began last.
  subroutine release(self, space)
    class(stored_values_type), intent(inout) :: self
    integer(c_int), intent(in) :: space

    if (self%shares > 0) then
      self%shares = self%shares - 1
    else
      call self%storage%release(space)
    end if
  end subroutine release

  !> Begin to bring the values to a space, where they will be acquired later. Somebody who still
  !> has them under another name keeps them: then they are brought when they are acquired.
  subroutine prefetch(self, space)
    class(stored_values_type), intent(inout) :: self
    integer(c_int), intent(in) :: space

    if (self%storage%is_written()) return
    call self%storage%acquire(space, access_read, queue=1)
    call self%storage%release(space, queue=1)
  end subroutine prefetch

  !> Make the host have the latest values.
  subroutine bring_to_host(self)
    class(stored_values_type), intent(inout) :: self

    call self%storage%acquire(space_host, access_read)
    call self%storage%release(space_host)
  end subroutine bring_to_host

  !> Note that all values of the host are new; the halo is dirty to all its depths.
  subroutine wrote_on_host(self)
    class(stored_values_type), intent(inout) :: self

    call self%storage%touch(space_host)
  end subroutine wrote_on_host

end module stored_values_mod
