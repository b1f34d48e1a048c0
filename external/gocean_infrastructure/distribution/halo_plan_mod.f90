!> The points of a halo exchange: source and destination ranks.
!>
!> Every point of the domain has one owner, the rank whose internal region contains it. Points
!> outside of the domain, beyond a boundary that is not periodic, belong to the rank with the
!> adjacent internal region: boundary kernels write them. A halo of depth d consists of the points
!> within distance d of a rank's own points; corners come from their owners. All of this follows
!> from the decomposition, so that ranks agree without communication.
module halo_plan_mod

  use, intrinsic :: iso_c_binding, only: c_int64_t

  use decomposition_mod, only: decomposition_type
  use field_storage_mod, only: box_type
  use parallel_utils_mod, only: new_layout
  use region_mod, only: region_type

  implicit none
  private

  !> Rows shorter than this are packed: that is faster than a derived MPI type.
  integer, parameter :: short = 8

  !> Contents of one message: `points` values of each field, region after region. Regions use the
  !> indices of this rank's arrays; the layout covers all regions. Messages with short rows are sent
  !> from a buffer.
  type, public :: message_type
    integer :: rank = 0
    integer :: points = 0
    integer :: layout = 0
    logical :: has_short_rows = .false.
    type(region_type), allocatable :: regions(:)
  end type message_type

  !> Messages of an exchange, and the regions that a rank copies from its own points to its own halo
  !> in a periodic domain.
  type, public :: halo_plan_type
    type(message_type), allocatable :: sent(:)
    type(message_type), allocatable :: received(:)
    type(message_type) :: copied_from
    type(message_type) :: copied_to
  contains
    procedure :: count_sent
    procedure :: count_received
    procedure :: boxes_sent
    procedure :: boxes_received
  end type halo_plan_type

  interface halo_plan_type
    module procedure new_halo_plan
  end interface halo_plan_type

  !> Decomposition and periodicity of a domain, for one halo depth.
  type :: layout_type
    type(decomposition_type) :: decomp
    logical :: periodic(2) = .false.
    integer :: width = 0
    integer :: depth = 0
  contains
    procedure :: owned
    procedure :: needed
  end type layout_type

contains

  !> Return the plan of a rank for exchanges to a depth, in a domain that may be periodic in x and
  !> y. `row` is the first extent of the rank's arrays.
  function new_halo_plan(decomp, periodic, rank, depth, row) result(self)
    type(decomposition_type), intent(in) :: decomp
    logical, intent(in) :: periodic(2)
    integer, intent(in) :: rank, depth, row
    type(halo_plan_type) :: self
    type(layout_type) :: layout
    type(message_type) :: from, to
    integer :: other

    layout = layout_type(decomp, periodic, decomp%subdomains(rank)%internal%xstart - 1, depth)
    allocate (self%sent(0), self%received(0))
    do other = 1, decomp%ndomains
      call match(layout, sender=rank, receiver=other, from=from, to=to)
      if (other == rank) then
        self%copied_from = from
        self%copied_to = to
        cycle
      end if
      if (from%points > 0) self%sent = [self%sent, from]
      call match(layout, sender=other, receiver=rank, from=from, to=to)
      if (to%points > 0) self%received = [self%received, to]
    end do
    call set_layouts(self%sent, row)
    call set_layouts(self%received, row)
  end function new_halo_plan

  !> Compute the layouts of messages in arrays with rows of this length.
  subroutine set_layouts(messages, row)
    type(message_type), intent(inout) :: messages(:)
    integer, intent(in) :: row
    integer, allocatable :: first(:)
    integer :: n

    do n = 1, size(messages)
      associate (message => messages(n), regions => messages(n)%regions)
        first = regions%xstart + (regions%ystart - 1) * row
        message%layout = new_layout(regions%nx, regions%ny, first, row)
        message%has_short_rows = message%points < short * sum(regions%ny)
      end associate
    end do
  end subroutine set_layouts

  !> Compute the points that a receiver needs from a sender, in the indices of both. A periodic
  !> domain is surrounded by its images; both ranks list the regions in the same order.
  subroutine match(layout, sender, receiver, from, to)
    type(layout_type), intent(in) :: layout
    integer, intent(in) :: sender, receiver
    type(message_type), intent(out) :: from, to
    type(region_type) :: needed, shared
    integer :: last(2), shift_x, shift_y, x, y

    from%rank = receiver
    to%rank = sender
    allocate (from%regions(0), to%regions(0))
    needed = layout%needed(receiver)
    last = merge(1, 0, layout%periodic)
    do y = -last(2), last(2)
      do x = -last(1), last(1)
        if (sender == receiver .and. x == 0 .and. y == 0) cycle
        shift_x = x * layout%decomp%global_nx
        shift_y = y * layout%decomp%global_ny
        shared = intersection(needed, moved(layout%owned(sender), shift_x, shift_y))
        if (shared%nx < 1 .or. shared%ny < 1) cycle
        to%regions = [to%regions, local(layout%decomp, receiver, shared)]
        from%regions = &
            [from%regions, local(layout%decomp, sender, moved(shared, -shift_x, -shift_y))]
        to%points = to%points + shared%nx * shared%ny
      end do
    end do
    from%points = to%points
  end subroutine match

  !> Return the points that belong to a rank, in the indices of the domain.
  pure function owned(self, rank)
    class(layout_type), intent(in) :: self
    integer, intent(in) :: rank
    type(region_type) :: owned

    owned = widened(self, rank, merge(0, self%width, self%periodic), 0)
  end function owned

  !> Return the points that belong to a rank or to its halo, in the indices of the domain.
  pure function needed(self, rank)
    class(layout_type), intent(in) :: self
    integer, intent(in) :: rank
    type(region_type) :: needed

    needed = widened(self, rank, merge(self%depth, self%width, self%periodic), self%depth)
  end function needed

  !> Return the internal region of a rank, extended in x and in y: by `at_end` points at an end of
  !> the domain, and by `within` points elsewhere.
  pure function widened(self, rank, at_end, within) result(region)
    class(layout_type), intent(in) :: self
    integer, intent(in) :: rank, at_end(2), within
    type(region_type) :: region

    associate (domain => self%decomp, own => self%decomp%subdomains(rank)%global)
      region = between( &
          own%xstart - merge(at_end(1), within, own%xstart == 1), &
          own%xstop + merge(at_end(1), within, own%xstop == domain%global_nx), &
          own%ystart - merge(at_end(2), within, own%ystart == 1), &
          own%ystop + merge(at_end(2), within, own%ystop == domain%global_ny))
    end associate
  end function widened

  !> Return a region of the domain in the indices of a rank's arrays.
  pure function local(decomp, rank, region)
    type(decomposition_type), intent(in) :: decomp
    integer, intent(in) :: rank
    type(region_type), intent(in) :: region
    type(region_type) :: local

    associate (part => decomp%subdomains(rank))
      local = moved(region, part%internal%xstart - part%global%xstart, &
          part%internal%ystart - part%global%ystart)
    end associate
  end function local

  !> Return a region shifted by (x, y).
  pure function moved(region, x, y)
    type(region_type), intent(in) :: region
    integer, intent(in) :: x, y
    type(region_type) :: moved

    moved = between(region%xstart + x, region%xstop + x, region%ystart + y, region%ystop + y)
  end function moved

  !> Return the intersection of two regions; its extents are not positive if it is empty.
  pure function intersection(one, other)
    type(region_type), intent(in) :: one, other
    type(region_type) :: intersection

    intersection = between(max(one%xstart, other%xstart), min(one%xstop, other%xstop), &
        max(one%ystart, other%ystart), min(one%ystop, other%ystop))
  end function intersection

  !> Return the region between four indices.
  pure function between(xstart, xstop, ystart, ystop)
    integer, intent(in) :: xstart, xstop, ystart, ystop
    type(region_type) :: between

    between = region_type(xstop - xstart + 1, ystop - ystart + 1, xstart, xstop, ystart, ystop)
  end function between

  !> Return the number of points that this rank sends.
  pure function count_sent(self)
    class(halo_plan_type), intent(in) :: self
    integer :: count_sent

    count_sent = sum(self%sent%points)
  end function count_sent

  !> Return the number of points that this rank receives.
  pure function count_received(self)
    class(halo_plan_type), intent(in) :: self
    integer :: count_received

    count_received = sum(self%received%points)
  end function count_received

  !> Return the sent and copied regions as boxes of a storage.
  function boxes_sent(self) result(boxes)
    class(halo_plan_type), intent(in) :: self
    type(box_type), allocatable :: boxes(:)

    boxes = boxes_of([self%sent, self%copied_from])
  end function boxes_sent

  !> Return the received regions and the destinations of copies as boxes of a storage.
  function boxes_received(self) result(boxes)
    class(halo_plan_type), intent(in) :: self
    type(box_type), allocatable :: boxes(:)

    boxes = boxes_of([self%received, self%copied_to])
  end function boxes_received

  !> Return the regions of messages as boxes of a storage.
  function boxes_of(messages) result(boxes)
    type(message_type), intent(in) :: messages(:)
    type(box_type), allocatable :: boxes(:)
    integer :: n, r

    allocate (boxes(0))
    do n = 1, size(messages)
      if (.not. allocated(messages(n)%regions)) cycle
      do r = 1, size(messages(n)%regions)
        associate (region => messages(n)%regions(r))
          boxes = [boxes, box_type(int([region%xstart, region%ystart, 1], c_int64_t), &
              int([region%xstop, region%ystop, 1], c_int64_t))]
        end associate
      end do
    end do
  end function boxes_of

end module halo_plan_mod
