"""Trees of small files for tests of scripts on files without an API."""

from __future__ import annotations

from textwrap import dedent

from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.routine import SourceFile
from psyclone_storage.languages.fortran.parse.linked_files import link_file
from psyclone_storage.languages.fortran.parse.syntax_tree import read_file
from psyclone_storage.languages.fortran.print.edit_script import emit_changed
from psyclone_storage.languages.sources.kernel_search import index_directories
from psyclone_storage.languages.sources.module_finder import ModuleFinder
from psyclone_storage.scripting.psyir.containers import FileContainer, Routine

COLUMNS = """\
! The columns of a small model.
module columns_mod
  use kinds_mod, only: r_def, rows => n_rows
  implicit none
  integer, parameter :: levels = 3   ! a constant
  type grid_type
    real(r_def) :: dx
    real(r_def), allocatable :: height(:)
  end type
contains

  !> Advance the columns.
  subroutine advance(n, m, a, b, grid, mode)
    integer, intent(in) :: n, m, mode
    real(r_def), intent(inout) :: a(n, m), b(n)
    type(grid_type), intent(in) :: grid(2)
    real(r_def) :: t ! scratch
    integer :: i, j, k

    t = 0.0_r_def   ! start
    ! before the nest
    do j = 1, m
      do i = 2, n ; a(i, j) = a(i, j) * 2 ; end do  ! i

      b(1) = sum(a(:, j)) + grid(1)%height(j)
    end do

    if (mode == 1) then
      ! the first mode
      t = t + 1
    else if (mode < 0) then
      call report('mode', mode, fatal = .false.)
    else
      t = -t
      b(:) = max(b(:), 0.0)
    end if
    if (t > 1) b(2) = t

    select case (mode)
      ! three cases
      case (1)
        b(1) = 1
      case default
        b(1) = 0 ; b(2) = 4
      case (2, 4:6)
        b(1) = 2
    end select
    where (b > 0)
      b = 1 / b
    elsewhere
      b = 0
    end where

    k = 0
    do while (k < 4)
      k = k + 1
      if (k == 3) cycle
      write (*, *) 'k', k
      print *, t
    end do
    allocate (q(n))
10  continue
    outer: do i = n, 1, -1
      b(i) = b(i) + f(i)%x   ! not known
      if (b(i) > 3) exit outer
    end do outer
    return
  end subroutine

  function twice(x) result(y)
    real, intent(in) :: x
    real :: y
    y = 2 * x
  end function
end module columns_mod
"""


def file_of(text: str) -> SourceFile:
    """Return a linked file."""
    source = SourceText("columns_mod.f90", dedent(text))
    return link_file(read_file(source), ModuleFinder(index_directories(())))


def tree_of(text: str) -> FileContainer:
    """Return the tree of a file."""
    return FileContainer("columns_mod.f90", file_of(text))


def routine_of(body: str, declarations: str = "") -> Routine:
    """Return the tree of a subroutine with a body."""
    text = "subroutine work(n, a, b)\ninteger :: n, i, j, k\nreal :: a(n), b(n), t\n"
    tree = tree_of(text + dedent(declarations) + dedent(body) + "end subroutine\n")
    (routine,) = tree.walk(Routine)
    return routine


def printed(tree: FileContainer) -> str:
    """Return the text of a file with the edits of its tree."""
    return emit_changed(tree._file, tree.frozen())


def body_of(routine: Routine) -> str:
    """Return the text of the statements of `routine_of`."""
    text = printed(routine.root)
    return text[text.index("b(n), t\n") + 8 : text.index("end subroutine")]
