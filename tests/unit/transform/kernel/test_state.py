"""Threads do not share kernels that change what they keep from call to call."""

from __future__ import annotations

import pytest

from psyclone_storage.base.source import SourceText
from psyclone_storage.languages.fortran.parse.body import read_code
from psyclone_storage.languages.fortran.parse.state import read_state
from psyclone_storage.transform.kernel.routine import MakeAccRoutine
from psyclone_storage.transform.kernel.state import check_shared_state
from psyclone_storage.transform.openmp import ParallelDo, ShareLoop
from psyclone_storage.transform.openmp_tasks import MakeTask, TaskLoop
from psyclone_storage.transform.step import Step
from unit.analysis.small import cells
from unit.transform.benches import codes, message_of, refused
from unit.transform.kernel.kernel_benches import bench, module

COUNTER = module("a(1) = calls; calls = calls + 1", above="integer :: calls = 0")
WRITTEN = cells("u write w3")

KEPT = {
    "saved": ("integer, save :: calls", "calls = calls + 1", ""),
    "initialised": ("integer :: calls = 0", "calls = calls + 1", ""),
    "pointer": ("real, pointer :: calls(:) => null()", "allocate(calls(3))", ""),
    "all saved": ("integer calls\nsave", "calls = 1", ""),
    "saved by name": ("integer :: calls, other\nsave :: calls", "if (n > 1) calls = 1", ""),
    "data": ("integer :: calls\ndata calls /1/", "calls = 1", ""),
    "passed": ("real, save :: calls(3)", "call other(calls)", ""),
    "element": ("real, save :: calls(3)", "calls(n) = 1.0", ""),
    "counter": ("integer, save :: calls", "do calls = 1, n\na(calls) = 0.0\nend do", ""),
    "of the module": ("", "calls = calls + 1", "integer :: calls"),
    "of another module": ("use counters, only : calls", "calls%total = 1", ""),
    "renamed": ("", "calls = 1", "use counters, only : calls => total"),
    "given back": ("", "deallocate(calls)", "use counters, only : calls"),
    "common": ("integer :: calls\ncommon /counts/ calls", "calls = calls + 1", ""),
    "in a case": (
        "",
        "select case (n)\ncase (1)\ncalls = calls + 1\nend select",
        "integer :: calls",
    ),
    "while": ("integer, save :: calls", "do while (calls < n)\ncalls = calls + 1\nend do", ""),
    "where": ("", "where (a > 0.0) calls(1:n) = 1.0", "real :: calls(3)"),
    "by another name": ("", "associate (c => calls)\nc = 1\nend associate", "integer :: calls"),
    "with a label": ("", "10 calls = 1", "integer :: calls"),
    "in memory with what is saved": (
        "integer :: calls, first = 3\nequivalence (calls, first)", "calls = calls + 1", "",
    ),
    "passed, in memory with what is saved": (
        "integer, save :: first\ninteger :: calls\nequivalence (calls, first)",
        "call other(calls)",
        "",
    ),
    "in memory by a statement with a label": (
        "integer :: calls, first = 3\n10 equivalence (calls, first)", "calls = calls + 1", "",
    ),
    "data with a label": ("integer :: calls\n10 data calls /1/", "calls = 1", ""),
    "in memory with what shares another's": (
        "real :: calls, b, c(2), d = 3\nEquivalence (calls, c), (b, c)\nequivalence (b, d)",
        "calls = calls + 1",
        "",
    ),
}  # fmt: skip
HARMLESS = {
    "read": ("integer :: calls = 3", "a(1) = calls", ""),
    "read, of the module": ("", "a(calls) = 1.0", "integer :: calls"),
    "constant": ("integer, parameter :: calls = 3", "a(calls) = 1.0", ""),
    "local": ("integer :: calls\nreal :: b(3)", "calls = 3; b(calls) = 1.0", "integer :: calls"),
    "local, on one line": ("integer calls, i", "if (n == 1) calls = 3; do i = 1, n; end do", ""),
    "passed with a first value": ("integer :: calls = 3", "call other(calls)", ""),
    "in memory with a local one": (
        "integer :: calls, first\nequivalence (calls, first)", "calls = 3", "",
    ),
    "of each thread": (
        "", "calls = calls + 1", "integer :: calls\n!$omp threadprivate(calls)",
    ),
    "chosen by": ("", "select case (calls)\ncase (1)\na(1) = 1.0\nend select", "integer :: calls"),
    "compared": ("", "do while (a(1) <= calls)\na(1) = a(1) + 1.0\nend do", "real :: calls"),
    "an equal sign in text": ("character(9) :: word", "word = 'a = b'; if (n == 1) a(1) = 2", ""),
}  # fmt: skip


STORED = {
    "of another module": ("use switches, only : calls", "calls = .false.", ""),
    "renamed": ("use switches, only : calls => total", "if (n > 1) calls = -1", ""),
    "twice": ("", "calls = 1\na(1) = 2.0\nCALLS = 1", "integer :: calls"),
    "in a loop": ("", "do i = 1, n\ncalls = 3\nend do", "integer :: calls"),
    "saved": ("integer, save :: calls", "calls = 3", ""),
}
STORED_AND_MORE = {
    "two constants": ("", "calls = 1\ncalls = 2", "integer :: calls"),
    "no constant": ("", "calls = n", "integer :: calls"),
    "read": ("", "calls = 1\na(1) = calls", "integer :: calls"),
    "read in a condition": ("", "calls = 1\nif (calls > 1) a(1) = 2", "integer :: calls"),
    "read in a bound": ("", "calls = 1\ndo i = 1, calls\nend do", "integer :: calls"),
    "counts a loop": ("", "calls = 1\ndo calls = 1, n\nend do", "integer :: calls"),
    "passed": ("", "calls = 1\ncall other(calls)", "integer :: calls"),
    "in what is not understood": ("", "calls = 1\nwrite(*,*) calls", "integer :: calls"),
    "an element": ("", "calls(n) = 1", "integer :: calls(3)"),
    "by a pointer": ("", "calls = 1", "integer, pointer :: calls"),
    "of a target": ("", "calls = 1", "integer, target :: calls"),
    "by another name of its memory": (
        "", "calls = 1\na(1) = other", "integer :: calls, other\nequivalence (calls, other)",
    ),
    "in common": ("integer :: calls\ncommon /counts/ calls", "calls = 1", ""),
}  # fmt: skip


def found(specification: str, body: str, above: str) -> list[str]:
    source = SourceText("work_mod.f90", module(body, specification, above))
    return [reason.message for reason in check_shared_state(read_code(source, "work_code"))]


def found_beside(kept: tuple[str, str, str], below: str, names: tuple[str, ...] = ()) -> list[str]:
    """Return what is found where `names`, as their modules call them, are used beside."""
    specification, body, above = kept
    source = SourceText("work_mod.f90", module(body, specification, above, below))
    code = read_code(source, "work_code")
    return [one.message for one in check_shared_state(code, lambda _, name: name in names)]


@pytest.mark.parametrize("stored", STORED.values(), ids=STORED)
def test_one_constant_that_nothing_reads_is_no_race(stored: tuple[str, str, str]) -> None:
    assert found_beside(stored, "") == []
    assert len(found_beside(stored, "", ("calls", "total"))) == 1
    reader = "subroutine other()\nprint *, calls\nend subroutine"
    assert len(found_beside(stored, reader)) == 1
    assert len(found(*stored)) == 1


def test_a_renamed_variable_is_asked_for_by_its_own_name() -> None:
    assert found_beside(STORED["renamed"], "", ("calls",)) == []
    assert len(found_beside(STORED["renamed"], "", ("total",))) == 1


@pytest.mark.parametrize("stored", STORED_AND_MORE.values(), ids=STORED_AND_MORE)
def test_what_is_more_than_one_constant_is_a_race(stored: tuple[str, str, str]) -> None:
    assert len(found_beside(stored, "")) == 1


@pytest.mark.parametrize("kept", KEPT.values(), ids=KEPT)
def test_what_is_changed_and_kept(kept: tuple[str, str, str]) -> None:
    (message,) = found(*kept)
    assert message.startswith("Threads race in 'work_code': it changes 'calls', ")
    specification, body, above = kept
    text = module(body, specification, above)
    assert read_state(SourceText("work_mod.f90", text), "work_mod", "work_code").may_change


@pytest.mark.parametrize("harmless", HARMLESS.values(), ids=HARMLESS)
def test_what_is_not_kept_or_not_changed(harmless: tuple[str, str, str]) -> None:
    assert found(*harmless) == []


@pytest.mark.parametrize("name", ["constant", "local, on one line", "an equal sign in text"])
def test_plain_kernels_are_known_by_their_text(name: str) -> None:
    specification, body, above = HARMLESS[name]
    source = SourceText("work_mod.f90", module(body, specification, above))
    assert not read_state(source, "work_mod", "work_code").may_change


def test_plain_kernels_are_not_read() -> None:
    work = bench(module("a(n) = 1.0"), WRITTEN)
    work.apply(ParallelDo("loop1"))
    assert work._source.asked == 0  # type: ignore[union-attr]


@pytest.mark.parametrize("kind", [ParallelDo, ShareLoop, TaskLoop, MakeTask])
def test_steps_for_threads_look_into_kernels(kind: type[Step]) -> None:
    work = bench(COUNTER, WRITTEN)
    step = kind("loop1")  # type: ignore[call-arg]
    assert refused(work, step) == ["S015"]
    assert "'calls', a variable of its module 'work_mod'." in message_of(lambda: work.apply(step))
    work.apply(kind("loop1", force=True))  # type: ignore[call-arg]


def test_all_reasons_are_given_at_once() -> None:
    assert refused(bench(COUNTER, cells("u inc w0")), ParallelDo("loop1")) == ["S010", "S015"]


def test_a_device_has_nothing_that_is_saved() -> None:
    work = bench(module("calls = calls + 1", "integer, save :: calls"), WRITTEN)
    assert codes(work.check(MakeAccRoutine("call1"))) == ["T055"]
    work.apply(MakeAccRoutine("call1", force=True))


def test_storing_a_constant_under_threads_is_not_refused() -> None:
    work = bench(module("calls = .true.", above="logical :: calls"), WRITTEN)
    work.apply(ParallelDo("loop1"))


def test_a_user_may_name_what_threads_may_share() -> None:
    work = bench(COUNTER, WRITTEN)
    assert refused(work, ParallelDo("loop1")) == ["S015"]
    work = bench(COUNTER, WRITTEN)
    work._source.thread_safe = ("work_code",)  # type: ignore[union-attr]
    work.apply(ParallelDo("loop1"))


SAME_NAMES = """
module first_mod
contains
  subroutine bump(x)
    real :: x
    x = 1.0
  end subroutine
end module
module second_mod
  integer :: calls
contains
  subroutine other(x)
  contains
    subroutine bump()
    end subroutine
  end subroutine other
  subroutine bump(x)
    real :: x
    calls = calls + 1
  end subroutine
  real(kind=r_def) function of_a_kind(x)
    calls = 2
  end function
  pure real(kind=r_def) function harmless(x)
  end function
end module
"""


def test_the_text_of_the_right_procedure_is_scanned() -> None:
    source = SourceText("both_mod.f90", SAME_NAMES)
    assert not read_state(source, "first_mod", "bump").may_change
    assert read_state(source, "second_mod", "bump").may_change
    assert read_state(source, "second_mod", "of_a_kind").may_change
    assert read_state(source, "second_mod", "harmless").pure
    assert not read_state(source, "first_mod", "harmless").found


def test_end_statement_with_text_after_it() -> None:
    """Neither reader takes it for the end of the procedure; the next statements belong to it."""
    text = module("a(1) = 0.0").replace(
        "end subroutine work_code", "end subroutine work_code of a\n calls = 1"
    )
    assert text != module("a(1) = 0.0")
    assert read_state(SourceText("work_mod.f90", text), "work_mod", "work_code").may_change
