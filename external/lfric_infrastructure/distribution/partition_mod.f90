!> Partition of a mesh: the cells of each rank and their order.
!>
!> Panels are cut into rectangles, and each rank owns the same number of them. The level of a cell
!> describes its position: halo cells of depth d have level d, owned cells next to another rank's
!> level 0, inner cells -1, -2 and so on inwards. Two cells have distance 1 if they share a vertex.
!> The cells of a rank are ordered by level, then by global number; the level beyond the deepest
!> halo contains the ghost cells, which are needed to find the owner of every dof on a halo cell.
module partition_mod

  use, intrinsic :: iso_fortran_env, only: error_unit
  use constants_mod, only: i_def, l_def
  use surface_mod, only: most_around, surface_type

  implicit none
  private

  public :: get_owner, why_not_cut

  !> More steps than any rank makes.
  integer(i_def), parameter :: far = 1000000000

  !> The rectangles of the panels, and the cells of one rank.
  type, public :: partition_type
    private
    integer(i_def) :: parts(2) = 1
    integer(i_def) :: blocks(2) = 1
    integer(i_def) :: together = 1
    integer(i_def) :: pieces_of_rank = 1
    !> The cells that a rank holds, and the last of each level, from the deepest inner one.
    integer(i_def), allocatable, public :: cells(:)
    integer(i_def), allocatable, public :: last_of_level(:)
  end type partition_type

  interface partition_type
    module procedure new_partition
  end interface partition_type

contains

  !> Return the partition of a mesh for a number of ranks, and the cells of one of them (from 0).
  !> Blocks of `together` by `together` cells, which must divide the panels, are not cut: meshes
  !> that differ by this factor in each direction are then partitioned equally. Without
  !> `inner_halos` (default: with), inner cells of all depths have the level of the deepest.
  function new_partition(surface, ranks, rank, together, halo_depth, inner_halos) result(self)
    class(surface_type), intent(in) :: surface
    integer(i_def), intent(in) :: ranks
    integer(i_def), intent(in) :: rank
    integer(i_def), intent(in) :: together
    integer(i_def), intent(in) :: halo_depth
    logical(l_def), optional, intent(in) :: inner_halos
    type(partition_type) :: self

    logical(l_def) :: told_apart
    character(:), allocatable :: problem

    problem = why_not_cut(surface, ranks, together)
    if (len(problem) > 0) then
      write (error_unit, '(2a)') 'partition_type: ', problem
      error stop 1
    end if
    self%together = together
    self%blocks = [surface%cells_x, surface%cells_y] / together
    self%parts = parts_for(surface%panels, self%blocks, ranks)
    self%pieces_of_rank = surface%panels * product(self%parts) / ranks
    told_apart = .true.
    if (present(inner_halos)) told_apart = inner_halos
    call order_cells(self, surface, rank, halo_depth, told_apart)
  end function new_partition

  !> Return in words why a mesh cannot be cut for a number of ranks, in squares of `together` by
  !> `together` cells, and for how many it can; nothing if it can.
  function why_not_cut(surface, ranks, together) result(problem)
    class(surface_type), intent(in) :: surface
    integer(i_def), intent(in) :: ranks
    integer(i_def), intent(in) :: together
    character(:), allocatable :: problem

    character(64) :: squares
    character(96) :: cure
    integer(i_def) :: blocks(2), fewer, parts(2)

    problem = ''
    blocks = [surface%cells_x, surface%cells_y] / together
    if (any(blocks * together /= [surface%cells_x, surface%cells_y])) then
      write (cure, '(2(a, i0), a)') ' do not consist of squares of ', together, ' x ', together, &
        ' that are to stay together'
      problem = size_of(surface) // trim(cure)
      return
    end if
    parts = parts_for(surface%panels, blocks, ranks)
    if (parts(1) > 0) return
    squares = ''
    if (together > 1) &
      write (squares, '(2(a, i0), a)') ', in squares of ', together, ' x ', together, ','
    ! One rank can have any mesh.
    do fewer = ranks - 1, 1, -1
      parts = parts_for(surface%panels, blocks, fewer)
      if (parts(1) > 0) exit
    end do
    write (cure, '(2(a, i0), a)') ' cannot be cut into ', ranks, ' parts, rows by columns; ', &
      fewer, ' ranks can have it'
    problem = size_of(surface) // trim(squares) // trim(cure)
  end function why_not_cut

  !> Return the size of a mesh in words.
  function size_of(surface) result(words)
    class(surface_type), intent(in) :: surface
    character(:), allocatable :: words

    character(64) :: panels, cells

    panels = ''
    if (surface%panels > 1) write (panels, '(i0, a)') surface%panels, ' panels of'
    write (cells, '(2(i0, a))') surface%cells_x, ' x ', surface%cells_y, ' cells'
    words = trim(adjustl(trim(panels) // ' ' // cells))
  end function size_of

  !> Return into how many parts each direction of a panel is cut, so that each rank can have the
  !> same number of them; 0 if some rank would be left without a cell.
  pure function parts_for(panels, blocks, ranks) result(parts)
    integer(i_def), intent(in) :: panels
    integer(i_def), intent(in) :: blocks(2)
    integer(i_def), intent(in) :: ranks
    integer(i_def) :: parts(2)

    integer(i_def) :: number

    do number = 1, ranks
      if (modulo(panels * number, ranks) == 0) exit
    end do
    parts = parts_of(blocks, number)
  end function parts_for

  !> Return into how many parts each direction is cut, such that the cuts are shortest; 0 if some
  !> part would be left without a cell.
  pure function parts_of(blocks, number) result(parts)
    integer(i_def), intent(in) :: blocks(2)
    integer(i_def), intent(in) :: number
    integer(i_def) :: parts(2)

    integer(i_def) :: cut, least_cut, parts_x, parts_y

    least_cut = far
    parts = 0
    do parts_x = 1, min(number, blocks(1))
      parts_y = number / parts_x
      if (parts_x * parts_y /= number .or. parts_y > blocks(2)) cycle
      cut = (parts_x - 1) * blocks(2) + (parts_y - 1) * blocks(1)
      if (cut >= least_cut) cycle
      least_cut = cut
      parts = [parts_x, parts_y]
    end do
  end function parts_of

  !> Order the cells of a rank by their levels.
  subroutine order_cells(self, surface, rank, halo_depth, inner_halos)
    type(partition_type), intent(inout) :: self
    class(surface_type), intent(in) :: surface
    integer(i_def), intent(in) :: rank
    integer(i_def), intent(in) :: halo_depth
    logical(l_def), intent(in) :: inner_halos

    integer(i_def), allocatable :: levels(:)
    integer(i_def) :: cell, level

    allocate (levels(surface%count_cells()))
    call find_levels(self, surface, rank, halo_depth, inner_halos, levels)
    allocate (self%cells(0), self%last_of_level(-halo_depth:halo_depth + 1))
    do level = -halo_depth, halo_depth + 1
      self%cells = [self%cells, pack([(cell, cell=1, size(levels, kind=i_def))], levels == level)]
      self%last_of_level(level) = size(self%cells, kind=i_def)
    end do
  end subroutine order_cells

  !> Set the level of every cell; those beyond the ghosts are far. All that are deeper within than
  !> the halo is deep have the level of the last so deep.
  subroutine find_levels(self, surface, rank, halo_depth, inner_halos, levels)
    type(partition_type), intent(in) :: self
    class(surface_type), intent(in) :: surface
    integer(i_def), intent(in) :: rank
    integer(i_def), intent(in) :: halo_depth
    logical(l_def), intent(in) :: inner_halos
    integer(i_def), intent(out) :: levels(:)

    integer(i_def), allocatable :: border(:), front(:)
    integer(i_def) :: level

    call find_owned(self, surface, rank, -halo_depth, levels, border)
    if (inner_halos) then
      front = border
      do level = -1, 1 - halo_depth, -1
        call advance(surface, front, levels, -halo_depth, level)
      end do
    end if
    front = border
    do level = 1, halo_depth + 1
      call advance(surface, front, levels, far, level)
    end do
  end subroutine find_levels

  !> Set the level of cells that a rank owns, those of others are far, and list those of level 0:
  !> next to another rank's. No cell is but those around a rectangle.
  subroutine find_owned(self, surface, rank, inner_level, levels, border)
    type(partition_type), intent(in) :: self
    class(surface_type), intent(in) :: surface
    integer(i_def), intent(in) :: rank
    integer(i_def), intent(in) :: inner_level
    integer(i_def), intent(out) :: levels(:)
    integer(i_def), allocatable, intent(out) :: border(:)

    integer(i_def) :: cell, first(2), last(2), n, panel, part(2), piece, y

    levels = far
    do piece = rank * self%pieces_of_rank, (rank + 1) * self%pieces_of_rank - 1
      panel = piece / product(self%parts) + 1
      part = [modulo(piece, self%parts(1)), modulo(piece / self%parts(1), self%parts(2))]
      first = first_of_part(self, part)
      last = first_of_part(self, part + 1) - 1
      do y = first(2), last(2)
        associate (row => levels(surface%cell_at(first(1), y, panel): &
                                 surface%cell_at(last(1), y, panel)))
          row = merge(0_i_def, inner_level, y == first(2) .or. y == last(2))
          row(1) = 0
          row(size(row)) = 0
        end associate
      end do
    end do
    border = pack([(cell, cell=1, size(levels, kind=i_def))], levels == 0)
    do n = 1, size(border, kind=i_def)
      associate (around => surface%cells_around(border(n)))
        if (all(levels(pack(around, around > 0)) <= 0)) levels(border(n)) = inner_level
      end associate
    end do
    border = pack(border, levels(border) == 0)
  end subroutine find_owned

  !> Move a front of cells to those around it that have one level, and give them another.
  subroutine advance(surface, front, levels, from_level, to_level)
    class(surface_type), intent(in) :: surface
    integer(i_def), allocatable, intent(inout) :: front(:)
    integer(i_def), intent(inout) :: levels(:)
    integer(i_def), intent(in) :: from_level
    integer(i_def), intent(in) :: to_level

    integer(i_def) :: around(most_around), reached(most_around * size(front))
    integer(i_def) :: n, number, place

    number = 0
    do n = 1, size(front, kind=i_def)
      around = surface%cells_around(front(n))
      do place = 1, size(around, kind=i_def)
        if (around(place) == 0) cycle
        if (levels(around(place)) /= from_level) cycle
        levels(around(place)) = to_level
        number = number + 1
        reached(number) = around(place)
      end do
    end do
    front = reached(:number)
  end subroutine advance

  !> Return the first place that a part, from 0, has in x and in y.
  pure function first_of_part(self, part) result(first)
    type(partition_type), intent(in) :: self
    integer(i_def), intent(in) :: part(2)
    integer(i_def) :: first(2)

    first = (part * self%blocks) / self%parts * self%together + 1
  end function first_of_part

  !> Return the rank, from 0, that owns a cell.
  pure function get_owner(self, surface, cell) result(rank)
    type(partition_type), intent(in) :: self
    class(surface_type), intent(in) :: surface
    integer(i_def), intent(in) :: cell
    integer(i_def) :: rank

    integer(i_def) :: panel, place(2)

    call surface%find_place(cell, place(1), place(2), panel)
    associate (block => (place - 1) / self%together + 1)
      ! Part p has the blocks after p * blocks / parts, rounded down: this is the last such part.
      associate (part => (block * self%parts - 1) / self%blocks)
        rank = (part(1) + (part(2) + (panel - 1) * self%parts(2)) * self%parts(1)) / &
               self%pieces_of_rank
      end associate
    end associate
  end function get_owner

end module partition_mod
