"""Arrays of plain files that stay allocated, and callers of their routine in other files."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.command import Outcome, run_command
from support.scripting_programs import output_of

RECIPE = """from psyclone.psyir.nodes import Loop, Routine
from psyclone.psyir.transformations import HoistLocalArraysTrans, TransformationError
from psyclone.transformations import OMPParallelLoopTrans


def trans(psyir):
    routine = psyir.walk(Routine)[0]
    try:
        HoistLocalArraysTrans().apply(routine)
    except TransformationError as error:
        print(error)
"""
THEN_SHARED = """
    for call in psyir.walk(Routine)[-1].walk(Loop):
        try:
            OMPParallelLoopTrans().apply(call, force=True)
        except TransformationError as error:
            print(error)
"""
WORK = """module work_mod
  implicit none
  interface any_work
    module procedure work
  end interface
  type worker
  contains
    procedure, nopass :: start => work
  end type
contains
  subroutine work(n, x)
    integer, intent(in) :: n
    real, intent(inout) :: x
    real :: t(n)
    integer :: i
    do i = 1, n
      t(i) = x + i
    end do
    x = sum(t)
  end subroutine work
end module work_mod
"""
BETWEEN = """module between_mod
  use work_mod, only: inner => work
contains
  subroutine between(n, x)
    integer, intent(in) :: n
    real, intent(inout) :: x
    call inner(n, x)
  end subroutine between
end module between_mod
"""
RENAMED = """module renamed_mod
  use work_mod, only: start_of => &
      work
  type starter
  contains
    procedure, nopass :: begin => start_of
  end type
end module renamed_mod
"""
OTHER = """module other_mod
contains
  subroutine work(n, x)
    integer, intent(in) :: n
    real, intent(inout) :: x
    x = n
  end subroutine work
end module other_mod
"""


def driver(uses: str, call: str, directive: str = "!$omp parallel do") -> str:
    """Return a file with a loop that calls a procedure."""
    return f"""subroutine driver(n, x)
  {uses}
  implicit none
  integer, intent(in) :: n
  real, intent(inout) :: x(n)
  integer :: i
  {directive}
  do i = 1, n
    {call}
  end do
end subroutine driver
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a module, a recipe and a cache."""
    (tmp_path / "work_mod.f90").write_text(WORK)
    (tmp_path / "hoist.py").write_text(RECIPE)
    (tmp_path / "cache").mkdir(mode=0o700)
    monkeypatch.setenv("PSYCLONE_STORAGE_CACHE", str(tmp_path / "cache"))
    return tmp_path


def run(folder: Path, *words: str) -> Outcome:
    """Run the command with the recipe."""
    done = run_command(["work_mod.f90", "-s", "hoist.py", "-o", "out.f90", *words], folder)
    assert done.status == 0, done.err
    return done


def is_saved(done: Outcome) -> bool:
    """Return whether the array is allocated once."""
    return "allocatable, save :: t(:)" in done.written["out.f90"]


@pytest.mark.parametrize(
    ("uses", "call"),
    [
        ("use work_mod, only: work", "call work(n, x(i))"),
        ("use work_mod", "call any_work(n, x(i))"),
        ("use work_mod, only: renamed => work", "call renamed(n, x(i))"),
        ("use between_mod", "call between(n, x(i))"),
        ("use unknown_mod", "call work(n, x(i))"),
        ("use work_mod\n  type(worker) :: one", "call one%start(n, x(i))"),
        ("use renamed_mod", "call start_of(n, x(i))"),
        ("use renamed_mod\n  type(starter) :: one", "call one%begin(n, x(i))"),
    ],
)
@pytest.mark.parametrize("directive", ["!$omp parallel do", "!$ACC PARALLEL LOOP"])
def test_threads_of_another_file_call_the_routine(
    folder: Path, uses: str, call: str, directive: str
) -> None:
    """By its name, other names, a binding, or through a third file."""
    (folder / "between.f90").write_text(BETWEEN)
    (folder / "renamed_mod.f90").write_text(RENAMED)
    (folder / "main.f90").write_text(driver(uses, call, directive))
    done = run(folder)
    assert not is_saved(done)
    assert "'work' is called where directives may start threads" in done.out
    assert "main.f90:" in done.out


@pytest.mark.parametrize(
    ("uses", "call", "directive"),
    [
        ("use work_mod, only: work", "call work(n, x(i))", ""),
        ("use other_mod, only: work", "call work(n, x(i))", "!$omp parallel do"),
        ("use work_mod, only: worker", "x(i) = 2", "!$omp parallel do"),
    ],
)
def test_other_files_do_not_call_it_from_threads(
    folder: Path, uses: str, call: str, directive: str
) -> None:
    """The promise that a step needs is reported, because callers may be unknown."""
    (folder / "other_mod.f90").write_text(OTHER)
    (folder / "main.f90").write_text(driver(uses, call, directive))
    done = run(folder, "--loops-json")
    assert is_saved(done), done.out
    assert "one-call-at-a-time 'work' (hoist.py:9)" in done.out


def test_a_caller_that_is_added_later_is_noticed(folder: Path) -> None:
    """A result that depends on all files is not cached."""
    assert is_saved(run(folder))
    (folder / "main.f90").write_text(driver("use work_mod", "call work(n, x(i))"))
    assert not is_saved(run(folder))


def test_a_later_step_may_not_start_threads_that_call_it(folder: Path) -> None:
    """Only one thread may call a routine with saved arrays; the values are the same."""
    (folder / "hoist.py").write_text(RECIPE + THEN_SHARED)
    file = WORK + driver("use work_mod", "call work(n, x(i))", "").replace("i = 1", "i = 2")
    (folder / "work_mod.f90").write_text(file)
    done = run(folder)
    assert is_saved(done)
    assert "'work' has saved arrays, so only one thread may call it" in done.out
    main = "program main\n  real :: x(9) = 1\n  call driver(9, x)\n  print '(9z9)', x\nend\n"
    before = output_of(file, folder / "before", main=main)
    assert output_of(done.written["out.f90"], folder / "after", 3, main=main) == before
