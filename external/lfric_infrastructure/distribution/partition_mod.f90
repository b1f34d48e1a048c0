!> Owns which cells of a plane a rank holds, and in which order.
!>
!> Ranks own rectangles. The level of a cell tells where it lies: halo cells of depth d have level
!> d, owned cells at the edge of the rectangle 0, inner cells -1, -2 and so on inwards. Two cells
!> are one apart if they share a vertex. The cells of a rank are ordered by level, then by number
!> over all ranks; the level beyond the deepest halo holds the ghost cells, which are there so that
!> the owner of everything on a halo cell is known.
module partition_mod

  use, intrinsic :: iso_fortran_env, only: error_unit
  use constants_mod, only: i_def, l_def
  use plane_mod, only: plane_type

  implicit none
  private

  !> More steps than any rank makes.
  integer(i_def), parameter :: far = 1000000000

  !> The rectangles into which a plane is cut, and what one rank holds of it.
  type, public :: partition_type
    private
    integer(i_def) :: parts(2) = 1
    integer(i_def) :: blocks(2) = 1
    integer(i_def) :: together = 1
    integer(i_def) :: halo_depth = 1
    integer(i_def), allocatable :: column_levels(:)
    integer(i_def), allocatable :: row_levels(:)
  contains
    procedure, public :: get_cells_of_level
    procedure, public :: get_owner
    procedure, private :: first_of_part
  end type partition_type

  interface partition_type
    module procedure new_partition
  end interface partition_type

contains

  !> Return how a plane is cut for a number of ranks, and what one of them, from 0, holds of it.
  !> Squares of `together` by `together` cells are not cut, which must divide the plane: planes
  !> that differ by this factor in each direction are then cut alike.
  function new_partition(plane, ranks, rank, together, halo_depth) result(self)
    type(plane_type), intent(in) :: plane
    integer(i_def), intent(in) :: ranks
    integer(i_def), intent(in) :: rank
    integer(i_def), intent(in) :: together
    integer(i_def), intent(in) :: halo_depth
    type(partition_type) :: self

    integer(i_def) :: column, row

    self%together = together
    self%halo_depth = halo_depth
    self%blocks = [plane%cells_x, plane%cells_y] / together
    if (any(self%blocks * together /= [plane%cells_x, plane%cells_y])) &
      call refuse_squares(plane, together)
    self%parts = parts_of(self%blocks, ranks)
    if (self%parts(1) == 0) call refuse_ranks(plane, together, ranks)

    column = modulo(rank, self%parts(1))
    row = rank / self%parts(1)
    allocate (self%column_levels(plane%cells_x), self%row_levels(plane%cells_y))
    self%column_levels = levels_of(self%first_of_part(1_i_def, column), &
                                   self%first_of_part(1_i_def, column + 1) - 1, &
                                   plane%cells_x, plane%periodic_x)
    self%row_levels = levels_of(self%first_of_part(2_i_def, row), &
                                self%first_of_part(2_i_def, row + 1) - 1, &
                                plane%cells_y, plane%periodic_y)
  end function new_partition

  !> Stop the program because squares of cells that are to stay together do not make up a plane.
  subroutine refuse_squares(plane, together)
    type(plane_type), intent(in) :: plane
    integer(i_def), intent(in) :: together

    character(:), allocatable :: size_in_words

    size_in_words = size_of(plane)
    write (error_unit, '(3a, 2(i0, a))') 'partition_type: ', size_in_words, &
      ' do not consist of squares of ', together, ' x ', together, ' that are to stay together'
    error stop 1
  end subroutine refuse_squares

  !> Stop the program because a plane cannot be cut for a number of ranks, and say for how many it
  !> can.
  subroutine refuse_ranks(plane, together, ranks)
    type(plane_type), intent(in) :: plane
    integer(i_def), intent(in) :: together
    integer(i_def), intent(in) :: ranks

    character(:), allocatable :: size_in_words
    character(64) :: squares
    integer(i_def) :: fewer, parts(2)

    size_in_words = size_of(plane)
    squares = ''
    if (together > 1) &
      write (squares, '(2(a, i0), a)') ', in squares of ', together, ' x ', together, ','
    ! One rank can have any plane.
    do fewer = ranks - 1, 1, -1
      parts = parts_of([plane%cells_x, plane%cells_y] / together, fewer)
      if (parts(1) > 0) exit
    end do
    write (error_unit, '(4a, 2(i0, a))') 'partition_type: ', size_in_words, trim(squares), &
      ' cannot be cut into ', ranks, ' parts, rows by columns; ', fewer, ' ranks can have it'
    error stop 1
  end subroutine refuse_ranks

  !> Return the size of a plane in words.
  function size_of(plane) result(words)
    type(plane_type), intent(in) :: plane
    character(:), allocatable :: words

    character(64) :: text

    write (text, '(2(i0, a))') plane%cells_x, ' x ', plane%cells_y, ' cells'
    words = trim(text)
  end function size_of

  !> Return into how many parts each direction is cut, such that the cuts are shortest; 0 if some
  !> rank would be left without a cell.
  pure function parts_of(blocks, ranks) result(parts)
    integer(i_def), intent(in) :: blocks(2)
    integer(i_def), intent(in) :: ranks
    integer(i_def) :: parts(2)

    integer(i_def) :: cut, least_cut, parts_x, parts_y

    least_cut = far
    parts = 0
    do parts_x = 1, min(ranks, blocks(1))
      parts_y = ranks / parts_x
      if (parts_x * parts_y /= ranks .or. parts_y > blocks(2)) cycle
      cut = (parts_x - 1) * blocks(2) + (parts_y - 1) * blocks(1)
      if (cut >= least_cut) cycle
      least_cut = cut
      parts = [parts_x, parts_y]
    end do
  end function parts_of

  !> Return the first place that a part, from 0, has along an axis (1 for x, 2 for y).
  pure function first_of_part(self, axis, part) result(first)
    class(partition_type), intent(in) :: self
    integer(i_def), intent(in) :: axis
    integer(i_def), intent(in) :: part
    integer(i_def) :: first

    first = (part * self%blocks(axis)) / self%parts(axis) * self%together + 1
  end function first_of_part

  !> Return the level of every place along an axis for the rank that owns `first` to `last`.
  pure function levels_of(first, last, extent, periodic) result(levels)
    integer(i_def), intent(in) :: first, last, extent
    logical(l_def), intent(in) :: periodic
    integer(i_def) :: levels(extent)

    integer(i_def) :: place
    logical :: open_below, open_above

    open_below = first > 1 .or. (periodic .and. last < extent)
    open_above = last < extent .or. (periodic .and. first > 1)
    do place = 1, extent
      if (place >= first .and. place <= last) then
        levels(place) = 1 - min(merge(place - first + 1, far, open_below), &
                                merge(last - place + 1, far, open_above))
      else
        levels(place) = min(steps_over(place - last), steps_over(first - place))
      end if
    end do

  contains

    !> Return the steps over a distance, which is negative the other way round.
    pure function steps_over(distance) result(steps)
      integer(i_def), intent(in) :: distance
      integer(i_def) :: steps

      steps = distance
      if (distance < 0) steps = merge(distance + extent, far, periodic)
    end function steps_over

  end function levels_of

  !> Return the cells of one level, by their number over all ranks, ascending. All that are deeper
  !> within than the halo is deep have the level of the last so deep.
  pure function get_cells_of_level(self, plane, level) result(cells)
    class(partition_type), intent(in) :: self
    type(plane_type), intent(in) :: plane
    integer(i_def), intent(in) :: level
    integer(i_def), allocatable :: cells(:)

    integer(i_def) :: level_of(plane%cells_x, plane%cells_y)
    integer(i_def) :: cell, y

    do y = 1, plane%cells_y
      level_of(:, y) = max(self%column_levels, self%row_levels(y), -self%halo_depth)
    end do
    cells = pack([(cell, cell=1, plane%count_cells())], &
                 reshape(level_of, [plane%count_cells()]) == level)
  end function get_cells_of_level

  !> Return the rank, from 0, that owns a cell.
  pure function get_owner(self, plane, cell) result(rank)
    class(partition_type), intent(in) :: self
    type(plane_type), intent(in) :: plane
    integer(i_def), intent(in) :: cell
    integer(i_def) :: rank

    integer(i_def) :: block(2)

    call plane%find_row_and_column(cell, block(1), block(2))
    block = (block - 1) / self%together + 1
    ! Part p has the blocks after p * blocks / parts, rounded down: this is the last such part.
    block = (block * self%parts - 1) / self%blocks
    rank = block(1) + block(2) * self%parts(1)
  end function get_owner

end module partition_mod
