!> Owns what a field storage knows of its halo: which depths of it are dirty, and the beginning and
!> the end of an exchange. Messages are somebody else's.
module halo_storage_mod

  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t
  use coherent_storage_mod, only: coherent_storage_type
  use storage_device_mod, only: home_of
  use storage_parts_mod, only: strip_type
  use storage_words_mod, only: error_access_conflict, error_halo, error_no_access, &
                               error_read_only, no_error, space_host

  implicit none
  private

  !> The bytes of a field with a halo.
  type, public, extends(coherent_storage_type) :: halo_storage_type
  contains
    procedure, public :: begin_exchange
    procedure, public :: begin_exchange_of_strips
    procedure, public :: widen_exchange
    procedure, public :: widen_exchange_by_strips
    procedure, public :: complete_exchange
    procedure, public :: end_exchange
    procedure, public :: is_dirty
    procedure, public :: set_dirty
    procedure, public :: set_clean
    procedure, public :: get_halo_depth
    procedure, public :: set_halo_depth
    procedure, public :: get_clean_depth
    procedure, private :: is_depth
  end type halo_storage_type

contains

  !> Begin to exchange the halo of the values in a space, which are current there from then on.
  !>
  !> Until `end_exchange` everybody may read, but for the halo, and nobody may write.
  !>
  !> Errors: 230 for a depth that the halo does not have, 201 if somebody writes or exchanges, 204
  !> if it is read-only, 207 without enough memory.
  subroutine begin_exchange(self, space, depth, status)
    class(halo_storage_type), intent(inout) :: self
    integer(c_int), intent(in) :: space
    integer(c_int), intent(in) :: depth
    integer(c_int), optional, intent(out) :: status

    call exchange_alone(self, space, depth, status)
  end subroutine begin_exchange

  !> Begin to exchange the halo by strips: those that are sent are current in the space from then
  !> on, and those that are received will be written by who exchanges.
  !>
  !> No copy becomes stale by that: at the end, the strips received are copied to the others
  !> that are current. Until then nobody may read a copy in the same space that is stale. Errors: as
  !> `begin_exchange`.
  subroutine begin_exchange_of_strips(self, space, depth, sent, received, status)
    class(halo_storage_type), intent(inout) :: self
    integer(c_int), intent(in) :: space
    integer(c_int), intent(in) :: depth
    type(strip_type), intent(in) :: sent(:)
    type(strip_type), intent(in) :: received(:)
    integer(c_int), optional, intent(out) :: status

    call exchange_alone(self, space, depth, status, sent, received)
  end subroutine begin_exchange_of_strips

  !> Extend the exchange in progress to all values, which are current in its space from then on. At
  !> the end copies in other spaces are stale.
  !>
  !> Errors: 206 if no exchange was begun.
  subroutine widen_exchange(self, status)
    class(halo_storage_type), intent(inout) :: self
    integer(c_int), optional, intent(out) :: status

    call widen(self, status)
  end subroutine widen_exchange

  !> Extend the exchange under way by strips that are sent and received as well. An exchange of all
  !> values includes them already.
  !>
  !> Errors: 206 if no exchange was begun.
  subroutine widen_exchange_by_strips(self, sent, received, status)
    class(halo_storage_type), intent(inout) :: self
    type(strip_type), intent(in) :: sent(:)
    type(strip_type), intent(in) :: received(:)
    integer(c_int), optional, intent(out) :: status

    call widen(self, status, sent, received)
  end subroutine widen_exchange_by_strips

  !> Extend an exchange of strips, by others or to all values.
  subroutine widen(self, status, sent, received)
    class(halo_storage_type), intent(inout) :: self
    integer(c_int), optional, intent(out) :: status
    type(strip_type), optional, intent(in) :: sent(:)
    type(strip_type), optional, intent(in) :: received(:)

    if (.not. self%is_usable(space_host, status)) return
    call self%state%coherence%lock()
    if (.not. self%state%coherence%is_exchanged()) then
      call self%refuse(error_no_access, 'widens an exchange that was not begun', status)
    else if (self%state%coherence%is_of_parts()) then
      call self%state%widen_exchange(sent, received)
    end if
    call self%state%coherence%unlock()
  end subroutine widen

  !> Begin an exchange, of all values or of strips, while no other thread is at it.
  subroutine exchange_alone(self, space, depth, status, sent, received)
    class(halo_storage_type), intent(inout) :: self
    integer(c_int), intent(in) :: space
    integer(c_int), intent(in) :: depth
    integer(c_int), optional, intent(out) :: status
    type(strip_type), optional, intent(in) :: sent(:)
    type(strip_type), optional, intent(in) :: received(:)

    if (.not. self%is_usable(space, status)) return
    if (.not. self%is_depth(depth, status)) return
    call self%state%coherence%lock()
    if (.not. self%state%coherence%may_exchange()) then
      call self%refuse(error_access_conflict, 'cannot be exchanged: there is ' // &
                       self%state%coherence%describe_users(), status)
    else if (self%read_only) then
      call self%refuse(error_read_only, 'is read-only', status)
    else if (self%has_room(home_of(space), status)) then
      call self%state%begin_exchange(home_of(space), depth, sent, received)
    end if
    call self%state%coherence%unlock()
  end subroutine exchange_alone

  !> Make all current where strips of a stale copy are exchanged, but for what is received, which
  !> nobody may read before the end. Does nothing if all is current, or nothing is exchanged.
  subroutine complete_exchange(self)
    class(halo_storage_type), intent(inout) :: self

    call self%state%coherence%lock()
    if (self%state%coherence%is_exchanged() .and. self%state%coherence%is_of_parts()) then
      if (self%state%coherence%is_stale(self%state%coherence%get_exchanged_space())) then
        call self%state%complete_exchange()
      end if
    end if
    call self%state%coherence%unlock()
  end subroutine complete_exchange

  !> End the exchange: the halo has been received, and is clean up to the depth that was begun. The
  !> copies in other spaces have the old halo, and are stale, unless strips of it are known.
  !>
  !> `messages` and `bytes` are what this rank sent. Errors: 206 if no exchange was begun, 201 if
  !> somebody reads.
  subroutine end_exchange(self, messages, bytes, status)
    class(halo_storage_type), intent(inout) :: self
    integer(c_int64_t), intent(in) :: messages
    integer(c_int64_t), intent(in) :: bytes
    integer(c_int), optional, intent(out) :: status

    if (.not. self%is_usable(space_host, status)) return
    call self%state%coherence%lock()
    if (.not. self%state%coherence%is_exchanged()) then
      call self%refuse(error_no_access, 'ends an exchange that was not begun', status)
    else if (.not. self%state%coherence%may_end_exchange()) then
      call self%refuse(error_access_conflict, 'cannot end its exchange: there is ' // &
                       self%state%coherence%describe_users(), status)
    else
      call self%state%end_exchange(messages, bytes)
    end if
    call self%state%coherence%unlock()
  end subroutine end_exchange

  !> Say whether the halo is stale at a depth. Errors: 230 for a depth that the halo does not have.
  function is_dirty(self, depth, status)
    class(halo_storage_type), intent(in) :: self
    integer(c_int), intent(in) :: depth
    integer(c_int), optional, intent(out) :: status
    logical :: is_dirty

    is_dirty = .true.
    if (self%is_depth(depth, status)) is_dirty = self%state%coherence%is_dirty(depth)
  end function is_dirty

  !> Note that the halo is stale at every depth.
  subroutine set_dirty(self)
    class(halo_storage_type), intent(inout) :: self

    call self%state%coherence%set_dirty()
  end subroutine set_dirty

  !> Note that the halo is current up to a depth, because it was computed there; beyond it stays as
  !> it is. Errors: 230 for a depth that the halo does not have.
  subroutine set_clean(self, depth, status)
    class(halo_storage_type), intent(inout) :: self
    integer(c_int), intent(in) :: depth
    integer(c_int), optional, intent(out) :: status

    if (self%is_depth(depth, status)) call self%state%coherence%set_clean(depth)
  end subroutine set_clean

  !> Return the depth of the halo.
  pure function get_halo_depth(self) result(depth)
    class(halo_storage_type), intent(in) :: self
    integer(c_int) :: depth

    depth = self%state%coherence%get_halo_depth()
  end function get_halo_depth

  !> Note how deep the halo is, of a storage that was made by somebody who did not know.
  subroutine set_halo_depth(self, depth)
    class(halo_storage_type), intent(inout) :: self
    integer(c_int), intent(in) :: depth

    call self%state%coherence%lock()
    call self%state%coherence%set_halo_depth(depth)
    call self%state%coherence%unlock()
  end subroutine set_halo_depth

  !> Return the depth to which the halo is clean.
  pure function get_clean_depth(self) result(depth)
    class(halo_storage_type), intent(in) :: self
    integer(c_int) :: depth

    depth = self%state%coherence%get_clean_depth()
  end function get_clean_depth

  !> Say whether the halo has a depth; report it if not.
  function is_depth(self, depth, status)
    class(halo_storage_type), intent(in) :: self
    integer(c_int), intent(in) :: depth
    integer(c_int), optional, intent(out) :: status
    logical :: is_depth

    if (present(status)) status = no_error
    is_depth = depth >= 1 .and. depth <= self%state%coherence%get_halo_depth()
    if (.not. is_depth) call self%refuse(error_halo, 'has no halo of this depth', status)
  end function is_depth

end module halo_storage_mod
