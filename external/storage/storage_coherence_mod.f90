!> Rules of coherence for one field: which replicas are current and which are in use. No memory is
!> accessed.
!>
!> A field has one true value and two kinds of replicas: the copies in memory spaces (host and
!> devices), and the halo copies on other ranks. A write makes all other replicas of both kinds
!> stale. A read requires a current replica, made current by a transfer or an exchange.
!>
!> A write or exchange of parts keeps the state of each copy: in the end, the changed parts are
!> copied to all other current copies.
!>
!> Procedures here do not check their calls: the caller has checked that the change is allowed, and
!> holds the lock. Only `enters`, `leaves` and `passes`, the fast paths without further work, check
!> and lock by themselves.
module storage_coherence_mod

  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t
  use storage_constants_mod, only: access_read, last_space, name_of_space, space_beyond, space_host

  implicit none
  private

  !> No space: the value of `writer` and `exchange` without a writer or an exchange.
  integer(c_int), parameter :: nowhere = 0

  !> State of one field. Each space has a bit in `valid`, set if its copy is current; `reading` is
  !> the sum of `readers`. `version` counts completed writes. `of_parts`: the current write or
  !> exchange covers only parts. `queue`, on the device of `queue_space`, may contain work that is
  !> not completed; 0 for none.
  type, public :: coherence_type
    private
    integer(c_int) :: lock_word = 0
    integer :: valid = 0
    integer :: readers(space_host:space_beyond) = 0
    integer :: reading = 0
    integer(c_int) :: writer = nowhere
    integer(c_int) :: exchange = nowhere
    integer(c_int) :: exchanged_depth = 0
    logical :: of_parts = .false.
    integer(c_int) :: queue = 0
    integer(c_int) :: queue_space = nowhere
    integer(c_int64_t) :: version = 0
    integer(c_int) :: halo_depth = 0
    integer(c_int) :: clean_depth = 0
  contains
    procedure, public :: initialise
    procedure, public :: lock
    procedure, public :: unlock
    procedure, public :: enters
    procedure, public :: leaves
    procedure, public :: passes
    procedure, public :: is_valid
    procedure, public :: is_initialised
    procedure, public :: is_stale
    procedure, public :: is_sole_truth
    procedure, public :: is_used
    procedure, public :: is_used_at
    procedure, public :: is_written
    procedure, public :: has_writer
    procedure, public :: is_of_parts
    procedure, public :: may_acquire
    procedure, public :: may_touch
    procedure, public :: may_exchange
    procedure, public :: may_release
    procedure, public :: may_end_exchange
    procedure, public :: is_exchanged
    procedure, public :: get_exchanged_space
    procedure, public :: get_readers
    procedure, public :: describe_users
    procedure, public :: begin_access
    procedure, public :: end_access
    procedure, public :: begin_exchange
    procedure, public :: widen_exchange
    procedure, public :: end_exchange
    procedure, public :: note_touch
    procedure, public :: note_copy
    procedure, public :: note_queue
    procedure, public :: forget_queue
    procedure, public :: get_queue
    procedure, public :: get_queue_space
    procedure, public :: forget
    procedure, public :: forget_all
    procedure, public :: get_source
    procedure, public :: get_version
    procedure, public :: get_halo_depth
    procedure, public :: set_halo_depth
    procedure, public :: get_clean_depth
    procedure, public :: is_dirty
    procedure, public :: set_dirty
    procedure, public :: set_clean
  end type coherence_type

contains

  !> Set the initial state: no values, halo dirty at all depths.
  subroutine initialise(self, halo_depth)
    class(coherence_type), intent(inout) :: self
    integer(c_int), intent(in) :: halo_depth

    self%valid = 0
    self%readers = 0
    self%reading = 0
    self%writer = nowhere
    self%exchange = nowhere
    self%of_parts = .false.
    self%queue = 0
    self%version = 0
    self%halo_depth = halo_depth
    self%clean_depth = 0
  end subroutine initialise

  ! -- one thread at a time ------------------------------------------------------------------------

  !> Acquire the lock; wait while another thread holds it.
  subroutine lock(self)
    class(coherence_type), intent(inout) :: self

    call acquire_lock(self%lock_word)
  end subroutine lock

  !> Release the lock.
  subroutine unlock(self)
    class(coherence_type), intent(inout) :: self

    call release_lock(self%lock_word)
  end subroutine unlock

  ! Included, because a call of an external procedure would cost more than the lock itself.
  include 'lock_procedures.inc'

  !> Begin an access if it is allowed and needs no transfer, no overwriting and no wait. Return
  !> whether it began.
  function enters(self, space, access)
    class(coherence_type), intent(inout) :: self
    integer(c_int), intent(in) :: space
    integer(c_int), intent(in) :: access
    logical :: enters

    call acquire_lock(self%lock_word)
    enters = is_simple(self, space, access)
    if (enters .and. access == access_read) then
      call add_reader(self, space)
    else if (enters) then
      self%writer = space
      self%clean_depth = 0
    end if
    call release_lock(self%lock_word)
  end function enters

  !> End the last access that began in a space if nothing else has to be done. Return whether it
  !> ended.
  function leaves(self, space)
    class(coherence_type), intent(inout) :: self
    integer(c_int), intent(in) :: space
    logical :: leaves

    call acquire_lock(self%lock_word)
    leaves = .not. self%of_parts .and. btest(self%valid, space) .and. may_release(self, space)
    if (leaves) call end_access(self, space)
    call release_lock(self%lock_word)
  end function leaves

  !> Begin and end an access if `enters` and `leaves` would do so. Return whether it took place.
  function passes(self, space, access)
    class(coherence_type), intent(inout) :: self
    integer(c_int), intent(in) :: space
    integer(c_int), intent(in) :: access
    logical :: passes

    call acquire_lock(self%lock_word)
    passes = is_simple(self, space, access)
    if (passes .and. access /= access_read) call note_touch(self, space)
    call release_lock(self%lock_word)
  end function passes

  !> Return whether an access is allowed and needs no transfer, no overwriting and no wait.
  pure function is_simple(self, space, access)
    type(coherence_type), intent(in) :: self
    integer(c_int), intent(in) :: space
    integer(c_int), intent(in) :: access
    logical :: is_simple

    is_simple = btest(self%valid, space) .and. self%writer == nowhere .and. self%queue == 0
    if (access == access_read .or. .not. is_simple) return
    is_simple = self%exchange == nowhere .and. self%valid == ibset(0, space) .and. &
                self%reading == self%readers(space)
  end function is_simple

  ! -- questions -----------------------------------------------------------------------------------

  !> Return whether the copy in a space is current.
  pure function is_valid(self, space)
    class(coherence_type), intent(in) :: self
    integer(c_int), intent(in) :: space
    logical :: is_valid

    is_valid = btest(self%valid, space)
  end function is_valid

  !> Return whether any copy has values.
  pure function is_initialised(self)
    class(coherence_type), intent(in) :: self
    logical :: is_initialised

    is_initialised = self%valid /= 0
  end function is_initialised

  !> Return whether values exist, but the copy in `space` is not current, so that a read there needs
  !> a transfer.
  pure function is_stale(self, space)
    class(coherence_type), intent(in) :: self
    integer(c_int), intent(in) :: space
    logical :: is_stale

    is_stale = self%valid /= 0 .and. .not. btest(self%valid, space)
  end function is_stale

  !> Return whether `space` has the only current copy.
  pure function is_sole_truth(self, space)
    class(coherence_type), intent(in) :: self
    integer(c_int), intent(in) :: space
    logical :: is_sole_truth

    is_sole_truth = self%valid == ibset(0, space)
  end function is_sole_truth

  !> Return whether an access or an exchange is in progress.
  pure function is_used(self)
    class(coherence_type), intent(in) :: self
    logical :: is_used

    is_used = self%writer /= nowhere .or. self%exchange /= nowhere .or. self%reading > 0
  end function is_used

  !> Return whether an access or an exchange is in progress in `space`.
  pure function is_used_at(self, space)
    class(coherence_type), intent(in) :: self
    integer(c_int), intent(in) :: space
    logical :: is_used_at

    is_used_at = self%writer == space .or. self%exchange == space .or. self%readers(space) > 0
  end function is_used_at

  !> Return whether the next access that ends in `space` is a write.
  pure function is_written(self, space)
    class(coherence_type), intent(in) :: self
    integer(c_int), intent(in) :: space
    logical :: is_written

    is_written = self%writer == space
  end function is_written

  !> Return whether a write access is in progress.
  pure function has_writer(self)
    class(coherence_type), intent(in) :: self
    logical :: has_writer

    has_writer = self%writer /= nowhere
  end function has_writer

  !> Return whether the current write or exchange covers only parts.
  pure function is_of_parts(self)
    class(coherence_type), intent(in) :: self
    logical :: is_of_parts

    is_of_parts = self%of_parts
  end function is_of_parts

  !> Return whether an access may begin. Reads are compatible with reads in all spaces and with an
  !> exchange; a write only with earlier reads in the same space. An exchange of parts of a stale
  !> copy conflicts with accesses that make this copy current, also as an intermediate copy on the
  !> host between two devices.
  pure function may_acquire(self, space, access)
    class(coherence_type), intent(in) :: self
    integer(c_int), intent(in) :: space
    integer(c_int), intent(in) :: access
    logical :: may_acquire

    may_acquire = self%writer == nowhere
    if (access /= access_read) then
      may_acquire = may_acquire .and. self%exchange == nowhere .and. &
                    self%reading == self%readers(space)
    else if (self%of_parts .and. (self%exchange == space .or. self%exchange == space_host)) then
      may_acquire = may_acquire .and. (btest(self%valid, space) .or. &
                                       btest(self%valid, self%exchange))
    end if
  end function may_acquire

  !> Return whether the values in `space` may be declared new: nothing may be in use elsewhere.
  pure function may_touch(self, space)
    class(coherence_type), intent(in) :: self
    integer(c_int), intent(in) :: space
    logical :: may_touch

    may_touch = self%exchange == nowhere .and. &
                (self%writer == nowhere .or. self%writer == space) .and. &
                .not. self%of_parts .and. self%reading == self%readers(space)
  end function may_touch

  !> Return whether an exchange may begin: it reads the field, and the halo that it will write must
  !> not be in use.
  pure function may_exchange(self)
    class(coherence_type), intent(in) :: self
    logical :: may_exchange

    may_exchange = self%writer == nowhere .and. self%exchange == nowhere
  end function may_exchange

  !> Return whether an access is in progress in `space`.
  pure function may_release(self, space)
    class(coherence_type), intent(in) :: self
    integer(c_int), intent(in) :: space
    logical :: may_release

    may_release = self%writer == space .or. self%readers(space) > 0
  end function may_release

  !> Return whether the exchange in progress may write the halo: no read may be in progress.
  pure function may_end_exchange(self)
    class(coherence_type), intent(in) :: self
    logical :: may_end_exchange

    may_end_exchange = self%reading == 0
  end function may_end_exchange

  !> Return whether an exchange is in progress.
  pure function is_exchanged(self)
    class(coherence_type), intent(in) :: self
    logical :: is_exchanged

    is_exchanged = self%exchange /= nowhere
  end function is_exchanged

  !> Return the space of the exchange in progress.
  pure function get_exchanged_space(self) result(space)
    class(coherence_type), intent(in) :: self
    integer(c_int) :: space

    space = self%exchange
  end function get_exchanged_space

  !> Return the number of readers in each space.
  pure function get_readers(self) result(readers)
    class(coherence_type), intent(in) :: self
    integer :: readers(space_host:last_space)

    readers = self%readers(:last_space)
  end function get_readers

  !> Return a description of the current users for messages.
  pure function describe_users(self) result(text)
    class(coherence_type), intent(in) :: self
    character(:), allocatable :: text

    integer(c_int) :: space

    text = ''
    if (self%writer /= nowhere) text = ' and a write access at ' // name_of_space(self%writer)
    if (self%exchange /= nowhere) text = text // ' and an exchange at ' // &
                                         name_of_space(self%exchange)
    do space = space_host, last_space
      if (self%readers(space) > 0) text = text // ' and a read access at ' // name_of_space(space)
    end do
    text = text(6:)
  end function describe_users

  ! -- what happens --------------------------------------------------------------------------------

  !> Begin an access to all values, or only to parts (`of_parts`).
  pure subroutine begin_access(self, space, access, of_parts)
    class(coherence_type), intent(inout) :: self
    integer(c_int), intent(in) :: space
    integer(c_int), intent(in) :: access
    logical, intent(in) :: of_parts

    if (access == access_read) then
      call add_reader(self, space)
    else
      self%writer = space
      self%of_parts = of_parts
      call note_write(self, space)
    end if
  end subroutine begin_access

  !> Begin a read access.
  pure subroutine add_reader(self, space)
    type(coherence_type), intent(inout) :: self
    integer(c_int), intent(in) :: space

    self%readers(space) = self%readers(space) + 1
    self%reading = self%reading + 1
  end subroutine add_reader

  !> End the last access that began in `space`.
  pure subroutine end_access(self, space)
    class(coherence_type), intent(inout) :: self
    integer(c_int), intent(in) :: space

    if (self%writer == space) then
      self%writer = nowhere
      self%of_parts = .false.
      self%version = self%version + 1
    else
      self%readers(space) = self%readers(space) - 1
      self%reading = self%reading - 1
    end if
  end subroutine end_access

  !> Begin an exchange in `space`, of all values, which are current, or only of parts (`of_parts`).
  pure subroutine begin_exchange(self, space, depth, of_parts)
    class(coherence_type), intent(inout) :: self
    integer(c_int), intent(in) :: space
    integer(c_int), intent(in) :: depth
    logical, intent(in) :: of_parts

    self%exchange = space
    self%exchanged_depth = depth
    self%of_parts = of_parts
  end subroutine begin_exchange

  !> Extend an exchange of parts to all values, which are current in its space.
  pure subroutine widen_exchange(self)
    class(coherence_type), intent(inout) :: self

    self%of_parts = .false.
  end subroutine widen_exchange

  !> End the exchange: the halo was written and is clean. Other copies become stale, unless the
  !> received parts were copied to them.
  pure subroutine end_exchange(self)
    class(coherence_type), intent(inout) :: self

    if (.not. self%of_parts .or. self%valid == 0) self%valid = ibset(0, self%exchange)
    self%exchange = nowhere
    self%of_parts = .false.
    self%version = self%version + 1
    call set_clean(self, self%exchanged_depth)
  end subroutine end_exchange

  !> Record a completed write in `space`.
  pure subroutine note_touch(self, space)
    class(coherence_type), intent(inout) :: self
    integer(c_int), intent(in) :: space

    call note_write(self, space)
    self%version = self%version + 1
  end subroutine note_touch

  !> Record new values in `space`: all other replicas become stale, except for copies that will
  !> receive the written parts.
  pure subroutine note_write(self, space)
    type(coherence_type), intent(inout) :: self
    integer(c_int), intent(in) :: space

    if (.not. self%of_parts .or. self%valid == 0) self%valid = ibset(0, space)
    self%clean_depth = 0
  end subroutine note_write

  !> Record that the current values were copied to `space`.
  pure subroutine note_copy(self, space)
    class(coherence_type), intent(inout) :: self
    integer(c_int), intent(in) :: space

    self%valid = ibset(self%valid, space)
  end subroutine note_copy

  !> Record a queue, on the device of a space, with work that uses the values.
  pure subroutine note_queue(self, queue, space)
    class(coherence_type), intent(inout) :: self
    integer(c_int), intent(in) :: queue
    integer(c_int), intent(in) :: space

    self%queue = queue
    self%queue_space = space
  end subroutine note_queue

  !> Record that no queue uses the values.
  pure subroutine forget_queue(self)
    class(coherence_type), intent(inout) :: self

    self%queue = 0
    self%queue_space = nowhere
  end subroutine forget_queue

  !> Return the queue that may use the values, 0 for none.
  pure function get_queue(self) result(queue)
    class(coherence_type), intent(in) :: self
    integer(c_int) :: queue

    queue = self%queue
  end function get_queue

  !> Return the space of the device of that queue.
  pure function get_queue_space(self) result(space)
    class(coherence_type), intent(in) :: self
    integer(c_int) :: space

    space = self%queue_space
  end function get_queue_space

  !> Record that the copy in `space` was freed.
  pure subroutine forget(self, space)
    class(coherence_type), intent(inout) :: self
    integer(c_int), intent(in) :: space

    self%valid = ibclr(self%valid, space)
  end subroutine forget

  !> Record that no copy is current.
  pure subroutine forget_all(self)
    class(coherence_type), intent(inout) :: self

    self%valid = 0
  end subroutine forget_all

  !> Return a space with a current copy, which must exist; the host if it is one of them.
  pure function get_source(self) result(space)
    class(coherence_type), intent(in) :: self
    integer(c_int) :: space

    space = trailz(self%valid)
  end function get_source

  !> Return the number of completed writes: write accesses, touches and exchanges.
  pure function get_version(self) result(version)
    class(coherence_type), intent(in) :: self
    integer(c_int64_t) :: version

    version = self%version
  end function get_version

  !> Return the depth up to which the halo is clean.
  pure function get_clean_depth(self) result(depth)
    class(coherence_type), intent(in) :: self
    integer(c_int) :: depth

    depth = self%clean_depth
  end function get_clean_depth

  !> Return the depth of the halo.
  pure function get_halo_depth(self) result(depth)
    class(coherence_type), intent(in) :: self
    integer(c_int) :: depth

    depth = self%halo_depth
  end function get_halo_depth

  !> Set the halo depth.
  pure subroutine set_halo_depth(self, depth)
    class(coherence_type), intent(inout) :: self
    integer(c_int), intent(in) :: depth

    self%halo_depth = depth
    self%clean_depth = min(self%clean_depth, depth)
  end subroutine set_halo_depth

  !> Return whether the halo is dirty at a depth.
  pure function is_dirty(self, depth)
    class(coherence_type), intent(in) :: self
    integer(c_int), intent(in) :: depth
    logical :: is_dirty

    is_dirty = depth > self%clean_depth
  end function is_dirty

  !> Mark the halo dirty at all depths.
  pure subroutine set_dirty(self)
    class(coherence_type), intent(inout) :: self

    self%clean_depth = 0
  end subroutine set_dirty

  !> Mark the halo clean up to a depth; greater depths keep their state.
  pure subroutine set_clean(self, depth)
    class(coherence_type), intent(inout) :: self
    integer(c_int), intent(in) :: depth

    self%clean_depth = max(self%clean_depth, depth)
  end subroutine set_clean

end module storage_coherence_mod
