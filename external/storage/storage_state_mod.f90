!> Owns the state of one field as a whole: its copies, which of them are current, and what it cost.
!> Here values move, because of what happens; whether it may happen has been asked before.
module storage_state_mod

  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_size_t
  use storage_coherence_mod, only: coherence_type
  use storage_device_mod, only: wait_for_queue
  use storage_parts_mod, only: strip_bytes, strip_type, strips_beside
  use storage_replicas_mod, only: replicas_type
  use storage_statistics_mod, only: count_avoided, count_exchange, count_transfer, &
                                    storage_statistics_type
  use storage_words_mod, only: access_read, access_write, space_device, space_host

  implicit none
  private

  !> The copies of a field and their state. `parts` are those that who writes or exchanges is going
  !> to leave behind.
  type, public :: storage_state_type
    type(coherence_type) :: coherence
    type(replicas_type) :: replicas
    type(storage_statistics_type) :: done
    type(strip_type), allocatable, private :: parts(:)
  contains
    procedure, public :: begin_access
    procedure, public :: end_access
    procedure, public :: note_touch
    procedure, public :: begin_exchange
    procedure, public :: complete_exchange
    procedure, public :: end_exchange
    procedure, public :: wait_unless
  end type storage_state_type

contains

  !> Begin an access at `home`, to all values or to strips: what is read is current there.
  subroutine begin_access(self, home, access, strips, queue)
    class(storage_state_type), intent(inout) :: self
    integer(c_int), intent(in) :: home
    integer(c_int), intent(in) :: access
    type(strip_type), optional, intent(in) :: strips(:)
    integer(c_int), optional, intent(in) :: queue

    call self%wait_unless(queue)
    call make_current(self, home, access, strips, queue)
    if (access /= access_read) then
      if (present(strips)) then
        self%parts = strips
      else
        call spoil_stale(self, home)
      end if
    end if
    call self%coherence%begin_access(home, access, present(strips))
  end subroutine begin_access

  !> End the access at `home` that began last; a queue may go on using the values.
  subroutine end_access(self, home, queue)
    class(storage_state_type), intent(inout) :: self
    integer(c_int), intent(in) :: home
    integer(c_int), optional, intent(in) :: queue

    if (present(queue)) call self%coherence%note_queue(queue)
    if (self%coherence%is_written(home) .and. self%coherence%is_of_parts()) then
      call pass_parts(self, home)
    end if
    call self%coherence%end_access(home)
    call spoil_unused(self, home)
  end subroutine end_access

  !> Note that all values at `home` are new.
  subroutine note_touch(self, home)
    class(storage_state_type), intent(inout) :: self
    integer(c_int), intent(in) :: home

    call self%wait_unless()
    call make_current(self, home, access_write)
    call spoil_stale(self, home)
    call self%coherence%note_touch(home)
  end subroutine note_touch

  !> Begin an exchange at `home`, of all values or with strips: what will be sent is current there.
  subroutine begin_exchange(self, home, depth, sent, received)
    class(storage_state_type), intent(inout) :: self
    integer(c_int), intent(in) :: home
    integer(c_int), intent(in) :: depth
    type(strip_type), optional, intent(in) :: sent(:)
    type(strip_type), optional, intent(in) :: received(:)

    call self%wait_unless()
    call make_current(self, home, access_read, sent)
    if (present(received)) self%parts = received
    call self%coherence%begin_exchange(home, depth, present(received))
  end subroutine begin_exchange

  !> Make current, where parts of a stale copy are exchanged, all that is not going to be received.
  subroutine complete_exchange(self)
    class(storage_state_type), intent(inout) :: self

    integer(c_int) :: home

    home = self%coherence%get_exchanged_space()
    call move_strips(self, home, strips_beside(self%parts, self%replicas%get_bytes()))
    call self%coherence%note_copy(home)
  end subroutine complete_exchange

  !> End the exchange: the halo has been received.
  subroutine end_exchange(self, messages, bytes)
    class(storage_state_type), intent(inout) :: self
    integer(c_int64_t), intent(in) :: messages
    integer(c_int64_t), intent(in) :: bytes

    integer(c_int) :: home

    call self%wait_unless()
    home = self%coherence%get_exchanged_space()
    if (self%coherence%is_of_parts()) then
      call pass_parts(self, home)
    else
      call spoil_stale(self, home)
    end if
    call self%coherence%end_exchange()
    call spoil_unused(self, home)
    call count_exchange(self%done, messages, bytes)
  end subroutine end_exchange

  !> Wait for the queue that has something to do with the values, unless it is this one.
  subroutine wait_unless(self, queue)
    class(storage_state_type), intent(inout) :: self
    integer(c_int), optional, intent(in) :: queue

    integer(c_int) :: busy

    busy = self%coherence%get_queue()
    if (busy == 0) return
    if (present(queue)) then
      if (busy == queue) return
    end if
    call wait_for_queue(busy)
    call self%coherence%note_queue(0)
  end subroutine wait_unless

  !> Make the copy at `home`, which has memory, current if it is read, or strips of it.
  subroutine make_current(self, home, access, strips, queue)
    class(storage_state_type), intent(inout) :: self
    integer(c_int), intent(in) :: home
    integer(c_int), intent(in) :: access
    type(strip_type), optional, intent(in) :: strips(:)
    integer(c_int), optional, intent(in) :: queue

    if (access == access_write .or. .not. self%coherence%is_stale(home)) then
      if (self%replicas%is_on_device() .and. self%coherence%is_initialised()) then
        call count_avoided(self%done)
      end if
    else if (present(strips)) then
      call move_strips(self, home, strips)
    else
      if (self%replicas%get_bytes() > 0) then
        call self%replicas%move_to(home, queue)
        if (present(queue)) call self%coherence%note_queue(queue)
        call count_transfer(self%done, home, self%replicas%get_bytes())
      end if
      call self%coherence%note_copy(home)
    end if
  end subroutine make_current

  !> Copy the parts that were written at `home` to the other side, if it is to stay current. Where
  !> there are no values but those parts, nothing has them.
  subroutine pass_parts(self, home)
    class(storage_state_type), intent(inout) :: self
    integer(c_int), intent(in) :: home

    if (self%coherence%is_valid(elsewhere(home))) then
      call move_strips(self, elsewhere(home), self%parts)
    end if
    deallocate (self%parts)
  end subroutine pass_parts

  !> Copy strips to a space from the other one; empty ones are no transfer.
  subroutine move_strips(self, space, strips)
    class(storage_state_type), intent(inout) :: self
    integer(c_int), intent(in) :: space
    type(strip_type), intent(in) :: strips(:)

    if (strip_bytes(strips) == 0) return
    call self%replicas%move_strips_to(space, strips)
    call count_transfer(self%done, space, strip_bytes(strips))
  end subroutine move_strips

  !> Spoil the copy that a write at `home` makes stale, if it was current until now.
  subroutine spoil_stale(self, home)
    class(storage_state_type), intent(in) :: self
    integer(c_int), intent(in) :: home

    if (self%coherence%is_valid(elsewhere(home))) call self%replicas%spoil_at(elsewhere(home))
  end subroutine spoil_stale

  !> Spoil a stale copy again, of which parts were used.
  subroutine spoil_unused(self, home)
    class(storage_state_type), intent(in) :: self
    integer(c_int), intent(in) :: home

    if (self%coherence%is_stale(home) .and. .not. self%coherence%is_used_at(home)) then
      call self%replicas%spoil_at(home)
    end if
  end subroutine spoil_unused

  !> Return the space that is not this one.
  pure function elsewhere(home)
    integer(c_int), intent(in) :: home
    integer(c_int) :: elsewhere

    elsewhere = space_host + space_device - home
  end function elsewhere

end module storage_state_mod
