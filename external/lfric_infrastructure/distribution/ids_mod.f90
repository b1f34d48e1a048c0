!> Conversion between global ids and local numbers.
module ids_mod

  use constants_mod, only: i_def, i_halo_index

  implicit none
  private

  public :: number_in_order

  !> Ids in ascending order, and the place that each had in the order in which they were given.
  type, public :: sorted_ids_type
    private
    integer(i_halo_index), allocatable :: ids(:)
    integer(i_def), allocatable :: places(:)
  contains
    procedure, non_overridable, public :: place_of
  end type sorted_ids_type

  interface sorted_ids_type
    module procedure new_sorted_ids
  end interface sorted_ids_type

contains

  !> Return these ids, sorted.
  pure function new_sorted_ids(ids) result(self)
    integer(i_halo_index), intent(in) :: ids(:)
    type(sorted_ids_type) :: self

    integer(i_def) :: place

    allocate (self%places(size(ids)))
    self%places = [(place, place=1, size(ids, kind=i_def))]
    call sort(ids, self%places)
    self%ids = ids(self%places)
  end function new_sorted_ids

  !> Order places by the ids at them: each half, then both merged.
  pure recursive subroutine sort(ids, places)
    integer(i_halo_index), intent(in) :: ids(:)
    integer(i_def), intent(inout) :: places(:)

    integer(i_def) :: left(size(places) / 2)
    integer(i_def) :: from_left, from_right, place

    if (size(places) < 2) return
    left = places(:size(left))
    call sort(ids, left)
    call sort(ids, places(size(left) + 1:))
    from_left = 1
    from_right = size(left, kind=i_def) + 1
    do place = 1, size(places, kind=i_def)
      if (from_left > size(left)) return
      if (from_right <= size(places)) then
        if (ids(places(from_right)) < ids(left(from_left))) then
          places(place) = places(from_right)
          from_right = from_right + 1
          cycle
        end if
      end if
      places(place) = left(from_left)
      from_left = from_left + 1
    end do
  end subroutine sort

  !> Return the place at which an id was given; 0 if it was not.
  pure function place_of(self, id) result(place)
    class(sorted_ids_type), intent(in) :: self
    integer(i_halo_index), intent(in) :: id
    integer(i_def) :: place

    integer(i_def) :: lower, middle, upper

    lower = 1
    upper = size(self%ids, kind=i_def)
    place = 0
    do while (lower <= upper)
      middle = lower + (upper - lower) / 2
      if (self%ids(middle) < id) then
        lower = middle + 1
      else if (self%ids(middle) > id) then
        upper = middle - 1
      else
        place = self%places(middle)
        return
      end if
    end do
  end function place_of

  !> Turn ids, up to `last_id`, into numbers from 1 in their order, and set the way back.
  pure subroutine number_in_order(numbers, last_id, ids)
    integer(i_def), intent(inout) :: numbers(:, :)
    integer(i_def), intent(in) :: last_id
    integer(i_def), allocatable, intent(out) :: ids(:)

    integer(i_def) :: number_of(last_id)
    integer(i_def) :: n, number

    number_of = 0
    do n = 1, size(numbers, 2, i_def)
      number_of(numbers(:, n)) = 1
    end do
    ids = pack([(number, number=1, last_id)], number_of == 1)
    number_of(ids) = [(number, number=1, size(ids, kind=i_def))]
    do n = 1, size(numbers, 2, i_def)
      numbers(:, n) = number_of(numbers(:, n))
    end do
  end subroutine number_in_order

end module ids_mod
