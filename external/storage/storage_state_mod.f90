!> State of one field: its copies, which of them are current, and the statistics. Procedures here
!> execute transfers; the caller has checked that they are allowed.
module storage_state_mod

  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_size_t
  use storage_coherence_mod, only: coherence_type
  use storage_device_mod, only: home_of, wait_for_queue
  use storage_parts_mod, only: strip_bytes, strip_type, strips_beside
  use storage_replicas_mod, only: replicas_type
  use storage_statistics_mod, only: count_avoided, count_exchange, count_transfer, &
                                    storage_statistics_type
  use storage_constants_mod, only: access_read, access_write, first_device_space, last_space, &
                               space_device, space_host

  implicit none
  private

  !> Copies of a field and their state. `parts` are those that the current write or exchange will
  !> change.
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
    procedure, public :: widen_exchange
    procedure, public :: complete_exchange
    procedure, public :: end_exchange
    procedure, public :: wait_unless
  end type storage_state_type

contains

  !> Begin an access at `home` to all values or to strips; what is read becomes current there.
  subroutine begin_access(self, home, access, strips, queue)
    class(storage_state_type), intent(inout) :: self
    integer(c_int), intent(in) :: home
    integer(c_int), intent(in) :: access
    type(strip_type), optional, intent(in) :: strips(:)
    integer(c_int), optional, intent(in) :: queue

    call self%wait_unless(queue, home)
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

  !> End the last access that began at `home`; work in a queue may still use the values.
  subroutine end_access(self, home, queue)
    class(storage_state_type), intent(inout) :: self
    integer(c_int), intent(in) :: home
    integer(c_int), optional, intent(in) :: queue

    if (present(queue)) call note_queue(self, home, queue)
    if (self%coherence%is_written(home) .and. self%coherence%is_of_parts()) then
      call pass_parts(self, home)
    end if
    call self%coherence%end_access(home)
    call spoil_unused(self, home)
  end subroutine end_access

  !> Record that all values at `home` are new.
  subroutine note_touch(self, home)
    class(storage_state_type), intent(inout) :: self
    integer(c_int), intent(in) :: home

    call self%wait_unless()
    call make_current(self, home, access_write)
    call spoil_stale(self, home)
    call self%coherence%note_touch(home)
  end subroutine note_touch

  !> Begin an exchange at `home` of all values or of strips; what is sent becomes current there.
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

  !> Add strips, or all values, to an exchange of strips; what is sent becomes current in its space.
  subroutine widen_exchange(self, sent, received)
    class(storage_state_type), intent(inout) :: self
    type(strip_type), optional, intent(in) :: sent(:)
    type(strip_type), optional, intent(in) :: received(:)

    call make_current(self, self%coherence%get_exchanged_space(), access_read, sent)
    if (present(received)) then
      self%parts = [self%parts, received]
    else
      deallocate (self%parts)
      call self%coherence%widen_exchange()
    end if
  end subroutine widen_exchange

  !> If parts of a stale copy are exchanged, make everything else current except for what is
  !> received.
  subroutine complete_exchange(self)
    class(storage_state_type), intent(inout) :: self

    integer(c_int) :: home

    home = self%coherence%get_exchanged_space()
    call move_strips(self, self%coherence%get_source(), home, &
                     strips_beside(self%parts, self%replicas%get_bytes()))
    call self%coherence%note_copy(home)
  end subroutine complete_exchange

  !> End the exchange: the halo was received.
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

  !> Wait for the queue that uses the values, unless it is `queue` on the device at `home`.
  subroutine wait_unless(self, queue, home)
    class(storage_state_type), intent(inout) :: self
    integer(c_int), optional, intent(in) :: queue
    integer(c_int), optional, intent(in) :: home

    integer(c_int) :: busy, place

    busy = self%coherence%get_queue()
    if (busy == 0) return
    place = self%coherence%get_queue_space()
    if (present(queue) .and. present(home)) then
      if (busy == queue .and. (home == place .or. home == space_host)) return
    end if
    call wait_for_queue(place - first_device_space, busy)
    call self%coherence%forget_queue()
  end subroutine wait_unless

  !> Record that a queue may use the values at `home`, after the work of an earlier recorded queue.
  !> On the host, this is the queue of the transfer to it, if there is one, otherwise a queue of the
  !> current device of this thread.
  subroutine note_queue(self, home, queue)
    class(storage_state_type), intent(inout) :: self
    integer(c_int), intent(in) :: home
    integer(c_int), intent(in) :: queue

    call self%wait_unless(queue, home)
    if (home /= space_host) then
      call self%coherence%note_queue(queue, home)
    else if (self%coherence%get_queue() /= queue .and. home_of(space_device) /= space_host) then
      call self%coherence%note_queue(queue, home_of(space_device))
    end if
  end subroutine note_queue

  !> Make the copy at `home`, which has memory, or strips of it, current if it is read.
  subroutine make_current(self, home, access, strips, queue)
    class(storage_state_type), intent(inout) :: self
    integer(c_int), intent(in) :: home
    integer(c_int), intent(in) :: access
    type(strip_type), optional, intent(in) :: strips(:)
    integer(c_int), optional, intent(in) :: queue

    if (access == access_write .or. .not. self%coherence%is_stale(home)) then
      if (self%replicas%is_on_a_device() .and. self%coherence%is_initialised()) then
        call count_avoided(self%done)
      end if
    else if (present(strips)) then
      call move_strips(self, self%coherence%get_source(), home, strips)
    else
      call make_all_current(self, home, queue)
    end if
  end subroutine make_current

  !> Make a stale copy current. Values from another device pass through the host, whose copy becomes
  !> current, too. A queue belongs to the device that gets the values, for the host to the current
  !> device; queues of other devices are waited for.
  subroutine make_all_current(self, home, queue)
    class(storage_state_type), intent(inout) :: self
    integer(c_int), intent(in) :: home
    integer(c_int), optional, intent(in) :: queue

    integer(c_int) :: source, in_use

    source = self%coherence%get_source()
    in_use = home_of(space_device)
    if (home == space_host .and. self%coherence%is_valid(in_use)) source = in_use
    if (source /= space_host .and. home /= space_host) then
      call copy_all(self, source, space_host)
      source = space_host
    end if
    if (home == space_host .and. source /= in_use) then
      call copy_all(self, source, home)
    else
      call copy_all(self, source, home, queue)
    end if
  end subroutine make_all_current

  !> Copy all values from a current copy to a stale one; one of the spaces is the host.
  subroutine copy_all(self, from, to, queue)
    class(storage_state_type), intent(inout) :: self
    integer(c_int), intent(in) :: from
    integer(c_int), intent(in) :: to
    integer(c_int), optional, intent(in) :: queue

    if (self%replicas%get_bytes() > 0) then
      call self%replicas%move(from, to, queue)
      if (present(queue)) call self%coherence%note_queue(queue, max(from, to))
      call count_transfer(self%done, to, self%replicas%get_bytes())
    end if
    call self%coherence%note_copy(to)
  end subroutine copy_all

  !> Copy the parts that were written at `home` to all other copies that stay current. If only these
  !> parts have values, there are no such copies.
  subroutine pass_parts(self, home)
    class(storage_state_type), intent(inout) :: self
    integer(c_int), intent(in) :: home

    integer(c_int) :: space

    do space = space_host, last_space
      if (space /= home .and. self%coherence%is_valid(space)) then
        call move_strips(self, home, space, self%parts)
      end if
    end do
    deallocate (self%parts)
  end subroutine pass_parts

  !> Copy strips from one space to another; empty ones need no transfer. From device to device they
  !> pass through the host, whose copy keeps its state.
  subroutine move_strips(self, from, to, strips)
    class(storage_state_type), intent(inout) :: self
    integer(c_int), intent(in) :: from
    integer(c_int), intent(in) :: to
    type(strip_type), intent(in) :: strips(:)

    if (strip_bytes(strips) == 0) return
    if (from /= space_host .and. to /= space_host) then
      if (.not. self%coherence%is_valid(space_host)) then
        call copy_strips(self, from, space_host, strips)
      end if
      call copy_strips(self, space_host, to, strips)
      call spoil_unused(self, space_host)
    else
      call copy_strips(self, from, to, strips)
    end if
  end subroutine move_strips

  !> Copy strips from one space to another; one of them is the host.
  subroutine copy_strips(self, from, to, strips)
    class(storage_state_type), intent(inout) :: self
    integer(c_int), intent(in) :: from
    integer(c_int), intent(in) :: to
    type(strip_type), intent(in) :: strips(:)

    call self%replicas%move_strips(from, to, strips)
    call count_transfer(self%done, to, strip_bytes(strips))
  end subroutine copy_strips

  !> Overwrite the copies that a write at `home` makes stale.
  subroutine spoil_stale(self, home)
    class(storage_state_type), intent(in) :: self
    integer(c_int), intent(in) :: home

    integer(c_int) :: space

    do space = space_host, last_space
      if (space /= home .and. self%coherence%is_valid(space)) call self%replicas%spoil_at(space)
    end do
  end subroutine spoil_stale

  !> Overwrite a stale copy again after parts of it were used.
  subroutine spoil_unused(self, home)
    class(storage_state_type), intent(in) :: self
    integer(c_int), intent(in) :: home

    if (self%coherence%is_stale(home) .and. .not. self%coherence%is_used_at(home)) then
      call self%replicas%spoil_at(home)
    end if
  end subroutine spoil_unused

end module storage_state_mod
