!> Owns lists of dofs as runs of consecutive ones, whose values are copied together or not at all.
module dof_runs_mod

  use constants_mod, only: i_def, l_def

  implicit none
  private

  !> Dofs, run after run: run n begins at `first(n)` and has `length(n)` dofs.
  type, public :: dof_runs_type
    integer(i_def), allocatable :: first(:)
    integer(i_def), allocatable :: length(:)
  contains
    procedure, public :: is_single
  end type dof_runs_type

  interface dof_runs_type
    module procedure new_dof_runs
  end interface dof_runs_type

contains

  !> Return these dofs, in their order, as runs that are as long as can be.
  pure function new_dof_runs(dofs) result(self)
    integer(i_def), intent(in) :: dofs(:)
    type(dof_runs_type) :: self

    logical(l_def) :: begins(size(dofs))
    integer(i_def) :: place
    integer(i_def), allocatable :: places(:)

    if (size(dofs) == 0) then
      allocate (self%first(0), self%length(0))
      return
    end if
    begins(1) = .true.
    begins(2:) = dofs(2:) /= dofs(:size(dofs) - 1) + 1
    places = pack([(place, place=1, size(dofs, kind=i_def))], begins)
    allocate (self%first(size(places)), self%length(size(places)))
    self%first = dofs(places)
    self%length = [places(2:), size(dofs, kind=i_def) + 1] - places
  end function new_dof_runs

  !> Return whether all dofs are one run.
  pure function is_single(self)
    class(dof_runs_type), intent(in) :: self
    logical(l_def) :: is_single

    is_single = size(self%first) == 1
  end function is_single

end module dof_runs_mod
