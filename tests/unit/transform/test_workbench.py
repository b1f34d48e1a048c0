"""The environment of a step: replanned exchanges, memory, removed names."""

from __future__ import annotations

import pytest

from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Schedule
from psyclone_storage.transform.colour import ColourLoop
from psyclone_storage.transform.fuse import FuseLoops
from psyclone_storage.transform.openmp import ParallelDo
from psyclone_storage.transform.redundant import ComputeRedundantly
from unit.analysis.small import cells, dofs, uids
from unit.transform.benches import bench, codes, message_of, refused

STENCIL = cells("v write w3", "u read w3 stencil 1")


def test_exchanges_are_planned_before_and_after_each_step() -> None:
    work = bench(dofs("u write w3"), STENCIL)
    assert uids(work.schedule) == ["loop1", "mark(u)@loop1", "halo(u)@loop2", "loop2",
                                   "mark(v)@loop2"]  # fmt: skip
    work.apply(ComputeRedundantly("loop1", 1))
    assert uids(work.schedule) == ["loop1", "mark(u)@loop1", "loop2", "mark(v)@loop2"]


def test_undo_gives_back_the_very_schedule() -> None:
    work = bench(dofs("u write w3"), cells("u inc w0"))
    first = work.schedule
    second = work.apply(ComputeRedundantly("loop1", 2))
    work.apply(ColourLoop("loop2"))
    assert [applied.step.name for applied in work.history] == ["compute-redundantly", "colour"]
    assert work.undo() is second
    assert work.undo() is first
    assert work.history == ()


def test_there_may_be_nothing_to_undo() -> None:
    assert message_of(bench(dofs("u write w3")).undo) == "There is no step to undo."
    with pytest.raises(CompileError) as caught:
        bench(dofs("u write w3")).undo()
    assert codes(caught.value.problems) == ["T009"]


def test_a_statement_is_found_by_its_name() -> None:
    assert bench(dofs("u write w3"))["loop1"].uid == "loop1"


def test_a_name_that_was_never_there_is_told_from_one_that_is_gone() -> None:
    work = bench(dofs("u write w3"), dofs("v write w3"))
    assert message_of(lambda: work["loop9"]) == "There is no 'loop9' in 'small'."
    work.apply(FuseLoops("loop1", "loop2"))
    with pytest.raises(CompileError) as caught:
        _ = work["loop2"]
    assert codes(caught.value.problems) == ["T008"]
    gone = "'loop2' is no longer there: 'fuse' has removed it."
    assert message_of(lambda: work["loop2"]) == gone


def test_a_refused_step_leaves_no_trace() -> None:
    work = bench(dofs("u write w3"))
    assert refused(work, ColourLoop("loop1")) == ["T005"]
    assert work.history == ()


def test_a_step_that_was_asked_about_is_not_tried_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    made = bench(dofs("u write w3"))
    tries: list[str] = []
    check = ParallelDo.check

    def counted(step: ParallelDo, schedule: Schedule, rules: Rules) -> Reasons:
        tries.append(step.loop)
        return check(step, schedule, rules)

    monkeypatch.setattr(ParallelDo, "check", counted)
    assert not made.check(ParallelDo("loop1"))
    asked = list(tries)
    assert asked
    made.apply(ParallelDo("loop1"))
    assert tries == asked
    assert made.check(ParallelDo("loop1"))  # another schedule, another answer
    made.undo()
    assert not made.check(ParallelDo("loop1"))
