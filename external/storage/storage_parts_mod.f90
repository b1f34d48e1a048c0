!> Parts of a field: boxes of elements, as users specify them, and strips of bytes, their form in
!> memory.
module storage_parts_mod

  use, intrinsic :: iso_c_binding, only: c_bool, c_int64_t, c_size_t

  implicit none
  private

  public :: strips_of, strips_beside, strip_bytes, is_within, boxes_around

  integer, parameter, public :: most_box_dimensions = 3

  !> Elements from `first` to `last` (inclusive, counted from 1) in each dimension. Entries beyond
  !> the dimensions of the field are ignored. A box with a last index below its first is empty.
  type, bind(c), public :: box_type
    integer(c_int64_t) :: first(most_box_dimensions) = 1
    integer(c_int64_t) :: last(most_box_dimensions) = 1
  end type box_type

  !> Rows of bytes at equal distances, in planes at equal distances; `start` is the offset of the
  !> first row in the field.
  type, public :: strip_type
    integer(c_size_t) :: start = 0
    integer(c_size_t) :: row_bytes = 0
    integer(c_size_t) :: rows = 0
    integer(c_size_t) :: row_step = 0
    integer(c_size_t) :: planes = 0
    integer(c_size_t) :: plane_step = 0
  end type strip_type

  integer(c_size_t), parameter :: word_bytes = 4

contains

  !> Return boxes as strips, for a field with these extents and this element size.
  pure function strips_of(boxes, extents, element_bytes) result(strips)
    type(box_type), intent(in) :: boxes(:)
    integer(c_int64_t), intent(in) :: extents(:)
    integer(c_size_t), intent(in) :: element_bytes
    type(strip_type) :: strips(size(boxes))

    integer :: n

    do n = 1, size(boxes)
      strips(n) = strip_of(boxes(n), extents, element_bytes)
    end do
  end function strips_of

  !> Return a box as a strip; rows without gaps between them are combined.
  pure function strip_of(box, extents, element_bytes) result(strip)
    type(box_type), intent(in) :: box
    integer(c_int64_t), intent(in) :: extents(:)
    integer(c_size_t), intent(in) :: element_bytes
    type(strip_type) :: strip

    integer(c_int64_t) :: all_extents(3), counts(3), before(3)
    integer :: n

    n = size(extents)
    all_extents = 1
    all_extents(:n) = extents
    counts = 1
    counts(:n) = max(box%last(:n) - box%first(:n) + 1, 0_c_int64_t)
    before = 0
    before(:n) = box%first(:n) - 1
    if (any(counts == 0)) return
    strip%row_step = all_extents(1) * element_bytes
    strip%plane_step = all_extents(2) * strip%row_step
    strip%start = before(1) * element_bytes + before(2) * strip%row_step + &
                  before(3) * strip%plane_step
    strip%row_bytes = counts(1) * element_bytes
    strip%rows = counts(2)
    strip%planes = counts(3)
    if (strip%row_bytes == strip%row_step) then
      strip%row_bytes = strip%row_bytes * strip%rows
      strip%rows = 1
    end if
  end function strip_of

  !> Return the complement of strips in a field of this number of bytes; elements consist of whole
  !> words.
  function strips_beside(strips, bytes) result(beside)
    type(strip_type), intent(in) :: strips(:)
    integer(c_size_t), intent(in) :: bytes
    type(strip_type), allocatable :: beside(:)

    logical(c_bool), allocatable :: is_in(:)
    integer(c_size_t) :: words, first, last, n

    words = bytes / word_bytes
    allocate (is_in(0:words))
    is_in = .false.
    is_in(words) = .true.
    do n = 1, size(strips, kind=c_size_t)
      call note_words(is_in, strips(n))
    end do
    allocate (beside(count(.not. is_in(:words - 1) .and. is_in(1:))))
    last = 0
    do n = 1, size(beside, kind=c_size_t)
      first = last
      do while (is_in(first))
        first = first + 1
      end do
      last = first
      do while (.not. is_in(last))
        last = last + 1
      end do
      beside(n)%start = first * word_bytes
      beside(n)%row_bytes = (last - first) * word_bytes
      beside(n)%rows = 1
      beside(n)%row_step = beside(n)%row_bytes
      beside(n)%planes = 1
      beside(n)%plane_step = beside(n)%row_bytes
    end do
  end function strips_beside

  !> Mark the words of a strip.
  pure subroutine note_words(is_in, strip)
    logical(c_bool), intent(inout) :: is_in(0:)
    type(strip_type), intent(in) :: strip

    integer(c_size_t) :: plane, row, start

    do plane = 0, strip%planes - 1
      do row = 0, strip%rows - 1
        start = strip%start + plane * strip%plane_step + row * strip%row_step
        is_in(start / word_bytes:(start + strip%row_bytes) / word_bytes - 1) = .true.
      end do
    end do
  end subroutine note_words

  !> Return the number of bytes in strips.
  pure function strip_bytes(strips) result(bytes)
    type(strip_type), intent(in) :: strips(:)
    integer(c_size_t) :: bytes

    bytes = sum(strips%row_bytes * strips%rows * strips%planes)
  end function strip_bytes

  !> Return whether a box is empty or lies within a field with these extents.
  pure elemental function is_in(first, last, extent)
    integer(c_int64_t), intent(in) :: first
    integer(c_int64_t), intent(in) :: last
    integer(c_int64_t), intent(in) :: extent
    logical :: is_in

    is_in = first >= 1 .and. last <= extent
  end function is_in

  !> Return whether all non-empty boxes lie within a field with these extents.
  pure function is_within(boxes, extents)
    type(box_type), intent(in) :: boxes(:)
    integer(c_int64_t), intent(in) :: extents(:)
    logical :: is_within

    integer :: n, dimensions

    dimensions = size(extents)
    is_within = .true.
    do n = 1, size(boxes)
      associate (first => boxes(n)%first(:dimensions), last => boxes(n)%last(:dimensions))
        is_within = is_within .and. (any(last < first) .or. all(is_in(first, last, extents)))
      end associate
    end do
  end function is_within

  !> Return the complement of the inner part of a two-dimensional field, which may be empty; it is
  !> given by its first and last index in each dimension.
  pure function boxes_around(inner, extents) result(boxes)
    integer(c_int64_t), intent(in) :: inner(4)
    integer(c_int64_t), intent(in) :: extents(2)
    type(box_type) :: boxes(4)

    integer(c_int64_t) :: first(2), last(2)

    first = max(inner(1::2), 1_c_int64_t)
    last = min(inner(2::2), extents)
    boxes(1)%last(:2) = [extents(1), first(2) - 1]
    boxes(2)%first(2) = last(2) + 1
    boxes(2)%last(:2) = extents
    boxes(3)%first(2) = first(2)
    boxes(3)%last(:2) = [first(1) - 1, last(2)]
    boxes(4)%first(:2) = [last(1) + 1, first(2)]
    boxes(4)%last(:2) = [extents(1), last(2)]
  end function boxes_around

end module storage_parts_mod
