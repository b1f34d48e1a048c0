!> Halo state of a field storage: the dirty depths, and the begin and end of an exchange. The caller
!> sends the messages.
module halo_storage_mod

  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t
  use coherent_storage_mod, only: coherent_storage_type
  use storage_device_mod, only: home_of
  use storage_parts_mod, only: strip_type
  use storage_constants_mod, only: error_access_conflict, error_halo, error_no_access, &
                               error_read_only, no_error, space_host

  implicit none
  private

  !> Bytes of a field with a halo.
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

  !> Begin a halo exchange of the values in a space; they are current there afterwards.
  !>
  !> Until `end_exchange`, everything except the halo can be read, and nothing can be written.
  !>
  !> Errors: 230 for a depth beyond the halo, 201 during a write or another exchange, 204 for a
  !> read-only storage, 207 without enough memory.
  subroutine begin_exchange(self, space, depth, status)
    class(halo_storage_type), intent(inout) :: self
    integer(c_int), intent(in) :: space
    integer(c_int), intent(in) :: depth
    integer(c_int), optional, intent(out) :: status

    call exchange_alone(self, space, depth, status)
  end subroutine begin_exchange

  !> Begin a halo exchange of strips: those that are sent become current in the space, and the
  !> caller writes those that are received.
  !>
  !> No copy becomes stale: the end copies the received strips to all other current copies. Until
  !> then, a stale copy in this space cannot be read. Errors: as `begin_exchange`.
  subroutine begin_exchange_of_strips(self, space, depth, sent, received, status)
    class(halo_storage_type), intent(inout) :: self
    integer(c_int), intent(in) :: space
    integer(c_int), intent(in) :: depth
    type(strip_type), intent(in) :: sent(:)
    type(strip_type), intent(in) :: received(:)
    integer(c_int), optional, intent(out) :: status

    call exchange_alone(self, space, depth, status, sent, received)
  end subroutine begin_exchange_of_strips

  !> Extend the exchange in progress to all values, which become current in its space. Its end makes
  !> the copies in other spaces stale.
  !>
  !> Errors: 206 without an exchange.
  subroutine widen_exchange(self, status)
    class(halo_storage_type), intent(inout) :: self
    integer(c_int), optional, intent(out) :: status

    call widen(self, status)
  end subroutine widen_exchange

  !> Add strips that are sent and received to the exchange in progress. An exchange of all values
  !> contains them already.
  !>
  !> Errors: 206 without an exchange.
  subroutine widen_exchange_by_strips(self, sent, received, status)
    class(halo_storage_type), intent(inout) :: self
    type(strip_type), intent(in) :: sent(:)
    type(strip_type), intent(in) :: received(:)
    integer(c_int), optional, intent(out) :: status

    call widen(self, status, sent, received)
  end subroutine widen_exchange_by_strips

  !> Add strips, or all values, to an exchange of strips.
  subroutine widen(self, status, sent, received)
    class(halo_storage_type), intent(inout) :: self
    integer(c_int), optional, intent(out) :: status
    type(strip_type), optional, intent(in) :: sent(:)
    type(strip_type), optional, intent(in) :: received(:)

    if (.not. self%is_usable(space_host, status)) return
    call self%state%coherence%lock()
    if (.not. self%state%coherence%is_exchanged()) then
      call self%refuse(error_no_access, 'extends an exchange that was not begun', status)
    else if (self%state%coherence%is_of_parts()) then
      call self%state%widen_exchange(sent, received)
    end if
    call self%state%coherence%unlock()
  end subroutine widen

  !> Begin an exchange of all values or of strips; the caller holds the lock.
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
      call self%refuse(error_access_conflict, 'cannot be exchanged during ' // &
                       self%state%coherence%describe_users(), status)
    else if (self%read_only) then
      call self%refuse(error_read_only, 'is read-only', status)
    else if (self%has_room(home_of(space), status)) then
      call self%state%begin_exchange(home_of(space), depth, sent, received)
    end if
    call self%state%coherence%unlock()
  end subroutine exchange_alone

  !> If strips of a stale copy are exchanged, make the rest of the copy current, except for the
  !> strips to be received, which cannot be read before the end. Does nothing if the copy is
  !> current, or without an exchange.
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

  !> End the exchange: the halo was received and is clean up to the depth of the exchange. Copies in
  !> other spaces become stale, because their halos are old, unless the received strips are known
  !> and copied.
  !>
  !> `messages` and `bytes` count what this rank sent. Errors: 206 without an exchange, 201 during a
  !> read.
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
      call self%refuse(error_access_conflict, 'cannot end its exchange during ' // &
                       self%state%coherence%describe_users(), status)
    else
      call self%state%end_exchange(messages, bytes)
    end if
    call self%state%coherence%unlock()
  end subroutine end_exchange

  !> Return whether the halo is dirty at a depth. Errors: 230 for a depth beyond the halo.
  function is_dirty(self, depth, status)
    class(halo_storage_type), intent(in) :: self
    integer(c_int), intent(in) :: depth
    integer(c_int), optional, intent(out) :: status
    logical :: is_dirty

    is_dirty = .true.
    if (self%is_depth(depth, status)) is_dirty = self%state%coherence%is_dirty(depth)
  end function is_dirty

  !> Mark the halo dirty at all depths.
  subroutine set_dirty(self)
    class(halo_storage_type), intent(inout) :: self

    call self%state%coherence%set_dirty()
  end subroutine set_dirty

  !> Mark the halo clean up to a depth, because it was computed there; greater depths keep their
  !> state. Errors: 230 for a depth beyond the halo.
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

  !> Set the halo depth of a storage that was created without it.
  subroutine set_halo_depth(self, depth)
    class(halo_storage_type), intent(inout) :: self
    integer(c_int), intent(in) :: depth

    call self%state%coherence%lock()
    call self%state%coherence%set_halo_depth(depth)
    call self%state%coherence%unlock()
  end subroutine set_halo_depth

  !> Return the depth up to which the halo is clean.
  pure function get_clean_depth(self) result(depth)
    class(halo_storage_type), intent(in) :: self
    integer(c_int) :: depth

    depth = self%state%coherence%get_clean_depth()
  end function get_clean_depth

  !> Return whether the halo has a depth; report an error otherwise.
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
