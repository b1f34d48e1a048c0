!> Dofs of messages as runs of consecutive dofs, whose values are moved together.
module dof_runs_mod

  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use constants_mod, only: i_def, l_def

  implicit none
  private

  public :: pack_runs

  !> Dofs, run after run: run n begins at `first(n)` and has `length(n)` dofs. Message n has the
  !> runs `begin(n)` to `begin(n + 1) - 1`.
  type, public :: dof_runs_type
    integer(i_def), allocatable :: first(:)
    integer(i_def), allocatable :: length(:)
    integer(i_def), allocatable :: begin(:)
  contains
    procedure, non_overridable, public :: mean_length
  end type dof_runs_type

  interface dof_runs_type
    module procedure new_dof_runs
  end interface dof_runs_type

contains

  !> Return the dofs of messages, in their order, as runs that are as long as can be. Message n has
  !> the dofs `first_dof(n)` to `first_dof(n + 1) - 1`, at least one.
  pure function new_dof_runs(dofs, first_dof) result(self)
    integer(i_def), intent(in) :: dofs(:)
    integer(i_def), intent(in) :: first_dof(:)
    type(dof_runs_type) :: self

    logical(l_def) :: begins(size(dofs))
    integer(i_def) :: n, place
    integer(i_def), allocatable :: places(:)

    begins(:min(1, size(dofs))) = .true.
    begins(2:) = dofs(2:) /= dofs(:size(dofs) - 1) + 1
    begins(first_dof(:size(first_dof) - 1)) = .true.
    places = pack([(place, place=1, size(dofs, kind=i_def))], begins)
    allocate (self%first(size(places)), self%length(size(places)), self%begin(size(first_dof)))
    self%first = dofs(places)
    if (size(dofs) > 0) self%length = [places(2:), size(dofs, kind=i_def) + 1] - places
    do n = 1, size(first_dof, kind=i_def)
      self%begin(n) = count(places < first_dof(n), kind=i_def) + 1
    end do
  end function new_dof_runs

  !> Return how many dofs a run of a message has on average.
  pure function mean_length(self, message) result(length)
    class(dof_runs_type), intent(in) :: self
    integer(i_def), intent(in) :: message
    integer(i_def) :: length

    associate (begin => self%begin(message), next => self%begin(message + 1))
      length = sum(self%length(begin:next - 1)) / (next - begin)
    end associate
  end function mean_length

  !> Copy the runs of a message from an address to another, there one after the other. Of a value it
  !> only matters how many bytes it has, 4 or 8.
  subroutine pack_runs(runs, message, bytes, from, to)
    type(dof_runs_type), intent(in) :: runs
    integer(i_def), intent(in) :: message
    integer(i_def), intent(in) :: bytes
    type(c_ptr), intent(in) :: from
    type(c_ptr), intent(in) :: to

    integer(int32), pointer, contiguous :: from_4(:), to_4(:)
    integer(int64), pointer, contiguous :: from_8(:), to_8(:)

    associate (first => runs%first(runs%begin(message):runs%begin(message + 1) - 1), &
               length => runs%length(runs%begin(message):runs%begin(message + 1) - 1))
      if (bytes == 4) then
        call c_f_pointer(from, from_4, [maxval(first + length) - 1])
        call c_f_pointer(to, to_4, [sum(length)])
        call pack_4(first, length, from_4, to_4)
      else
        call c_f_pointer(from, from_8, [maxval(first + length) - 1])
        call c_f_pointer(to, to_8, [sum(length)])
        call pack_8(first, length, from_8, to_8)
      end if
    end associate
  end subroutine pack_runs

  !> Copy runs of values of 4 bytes.
  pure subroutine pack_4(first, length, from, to)
    integer(i_def), contiguous, intent(in) :: first(:)
    integer(i_def), contiguous, intent(in) :: length(:)
    integer(int32), contiguous, intent(in) :: from(:)
    integer(int32), contiguous, intent(inout) :: to(:)

    integer(i_def) :: n, place

    place = 0
    do n = 1, size(first, kind=i_def)
      to(place + 1:place + length(n)) = from(first(n):first(n) + length(n) - 1)
      place = place + length(n)
    end do
  end subroutine pack_4

  !> Copy runs of values of 8 bytes.
  pure subroutine pack_8(first, length, from, to)
    integer(i_def), contiguous, intent(in) :: first(:)
    integer(i_def), contiguous, intent(in) :: length(:)
    integer(int64), contiguous, intent(in) :: from(:)
    integer(int64), contiguous, intent(inout) :: to(:)

    integer(i_def) :: n, place

    place = 0
    do n = 1, size(first, kind=i_def)
      to(place + 1:place + length(n)) = from(first(n):first(n) + length(n) - 1)
      place = place + length(n)
    end do
  end subroutine pack_8

end module dof_runs_mod
