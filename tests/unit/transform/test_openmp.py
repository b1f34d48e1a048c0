"""Directives: what may run under them, and what is placed around them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.domains.lfric.rules import LfricRules
from psyclone_storage.ir.directive import RegionOptions, Sharing, ThreadSchedule
from psyclone_storage.ir.kernel import Iteration
from psyclone_storage.ir.schedule import DirectiveRegion, HaloExchange, KernelCall, Over
from psyclone_storage.ir.view import schedule_text
from psyclone_storage.ir.walk import outer_loops, statements
from psyclone_storage.transform.asynchronous import SplitExchange
from psyclone_storage.transform.colour import ColourLoop
from psyclone_storage.transform.fuse import FuseLoops
from psyclone_storage.transform.halos import with_halos
from psyclone_storage.transform.legality import check_finished
from psyclone_storage.transform.openmp import OpenParallelRegion, ParallelDo, ShareLoop
from psyclone_storage.transform.redundant import ComputeRedundantly
from psyclone_storage.transform.step import Step
from psyclone_storage.transform.workbench import Workbench
from unit.analysis.small import RULES, cells, dofs, operator, scalar, schedule, uids
from unit.transform.benches import bench, codes, refused


@pytest.mark.parametrize(
    "call",
    [
        dofs("u readwrite w0"),
        dofs(scalar("s"), "u read w0"),
        cells("u readwrite w3", "v read w3 stencil 1"),
        cells("u write w0"),
        cells(operator("op", "readwrite"), "u read w0"),
    ],
)
def test_loops_without_races_run_in_parallel(call: KernelCall) -> None:
    work = bench(call)
    work.apply(ParallelDo("loop1"))
    construct = work["omp-parallel-do(loop1)"]
    assert isinstance(construct, DirectiveRegion)
    assert construct.options == RegionOptions(ThreadSchedule(Sharing.STATIC))


@pytest.mark.parametrize("access", ["inc", "readinc"])
@pytest.mark.parametrize("step", [ParallelDo, ShareLoop])
def test_cells_that_add_to_shared_dofs_need_colours(
    access: str, step: type[ParallelDo | ShareLoop]
) -> None:
    work = bench(cells(f"u {access} w0", f"v {access} w2"))
    assert refused(work, step("loop1")) == ["S010", "S010"]
    work.apply(ColourLoop("loop1"))
    assert refused(work, step("loop1")) == ["S011"]
    work.apply(step("cells(loop1)"))


def test_two_writes_of_a_shared_dof_race() -> None:
    work = bench(cells("u write w0"), cells("u write w0", "x read w3"))
    work.apply(FuseLoops("loop1", "loop2"))
    assert refused(work, ParallelDo("loop1")) == ["S010"]


def test_a_domain_is_called_once() -> None:
    cells_of_it = schedule(cells("u write w3", iteration=Iteration.DOMAIN))
    (loop,) = outer_loops(cells_of_it)
    once = replace(cells_of_it, body=(replace(loop, over=Over.DOMAIN),))
    assert refused(Workbench(once, RULES), ParallelDo("loop1")) == ["S011"]


def test_directives_do_not_nest() -> None:
    work = bench(dofs("u write w3"))
    work.apply(ParallelDo("loop1"))
    assert refused(work, ShareLoop("loop1")) == ["T007"]


@pytest.mark.parametrize("sharing", ["dynamic", "static,4", "guided,1", "auto", "runtime"])
def test_the_schedules_of_openmp(sharing: str) -> None:
    work = bench(dofs("u write w3"))
    work.apply(ParallelDo("loop1", sharing))
    assert f"schedule({sharing})" in schedule_text(work.schedule)


@pytest.mark.parametrize("sharing", ["fast", "static,0", "auto,4", "static, 4", ""])
def test_other_schedules_are_refused(sharing: str) -> None:
    assert refused(bench(dofs("u write w3")), ParallelDo("loop1", sharing)) == ["T024"]


def test_reproducible_sums_need_a_fixed_schedule() -> None:
    work = bench(dofs(scalar("s"), "u read w0"))
    assert refused(work, ShareLoop("loop1", "dynamic", reproducible=True)) == ["T024"]
    work.apply(ShareLoop("loop1", reproducible=True))


# ---------------------------------------------------------------------------- regions


def shared(*calls: KernelCall) -> Workbench:
    work = bench(*calls)
    for number in range(1, len(calls) + 1):
        work.apply(ShareLoop(f"loop{number}"))
    return work


def region(first: int, last: int) -> OpenParallelRegion:
    return OpenParallelRegion(f"omp-do(loop{first})", f"omp-do(loop{last})")


def test_exchanges_go_before_a_region_and_marks_after_it() -> None:
    work = shared(dofs("u write w3"), cells("v write w3", "w read w3 stencil 1"))
    work.apply(region(1, 2))
    assert uids(work.schedule) == [
        "halo(w)@loop2", "omp-parallel(omp-do(loop1))", "mark(u)@loop1", "mark(v)@loop2"
    ]  # fmt: skip


def test_an_exchange_inside_of_a_region_is_refused() -> None:
    work = shared(dofs("u write w3"), cells("v write w3", "u read w3 stencil 1"))
    assert refused(work, region(1, 2)) == ["T025"]
    work.apply(region(1, 1))
    work.apply(region(2, 2))


def test_a_region_without_the_exchange_is_fine() -> None:
    work = bench(dofs("u write w3"), cells("v write w3", "u read w3 stencil 1"))
    work.apply(ComputeRedundantly("loop1", 1))
    work.apply(ShareLoop("loop1"))
    work.apply(ShareLoop("loop2"))
    work.apply(region(1, 2))
    inside = statements(work["omp-parallel(omp-do(loop1))"])  # type: ignore[arg-type]
    assert not any(isinstance(item, HaloExchange) for item in inside)


def test_what_every_thread_would_do_is_refused() -> None:
    work = bench(dofs("u write w3"), dofs("v write w3"))
    work.apply(ShareLoop("loop1"))
    work.apply(OpenParallelRegion("omp-do(loop1)", "loop2"))
    assert codes(check_finished(work.schedule)) == ["T027"]
    work.apply(ShareLoop("loop2"))
    assert check_finished(work.schedule) == ()


def test_colours_stand_inside_of_a_region() -> None:
    work = bench(cells("u inc w0"))
    work.apply(ColourLoop("loop1"))
    work.apply(OpenParallelRegion("loop1", "loop1"))
    assert codes(check_finished(work.schedule)) == ["T027"]
    work.apply(ShareLoop("cells(loop1)"))
    assert check_finished(work.schedule) == ()


def test_a_region_stands_inside_of_colours() -> None:
    work = bench(cells("u inc w0"))
    work.apply(ColourLoop("loop1"))
    work.apply(OpenParallelRegion("cells(loop1)", "cells(loop1)"))
    work.apply(ShareLoop("cells(loop1)"))
    assert check_finished(work.schedule) == ()
    assert refused(work, OpenParallelRegion("loop1", "loop1")) == ["T007"]


def test_an_exchange_that_is_pinned_does_not_go_into_a_region() -> None:
    work = bench(dofs("x write w3"), cells("v write w3", "u read w3 stencil 1"))
    work.apply(SplitExchange("halo(u)@loop2"))
    assert refused(work, OpenParallelRegion("loop1", "loop2")) == ["T027", "T027"]


def test_a_reduced_scalar_is_used_only_after_the_region() -> None:
    work = shared(dofs(scalar("s"), "u read w0"), dofs("v write w0", scalar("s", "read")))
    assert refused(work, region(1, 2)) == ["S012"]


def test_a_region_needs_neighbours() -> None:
    work = shared(dofs("u write w3"), dofs("v write w3"))
    assert refused(work, region(2, 1)) == ["T023"]
    assert refused(work, OpenParallelRegion("omp-do(loop1)", "loop2")) == ["T023"]
    assert refused(work, region(1, 3)) == ["T003"]


def test_the_longest_runs_come_first() -> None:
    work = shared(dofs("u write w3"), dofs("v write w3"), dofs("w write w3"))
    first = next(iter(OpenParallelRegion.places(work.schedule)))
    assert first == {"first": "omp-do(loop1)", "last": "omp-do(loop3)"}


def test_shared_loops_without_a_region_are_not_finished() -> None:
    work = shared(dofs("u write w3"), dofs("v write w3"))
    assert codes(check_finished(work.schedule)) == ["T026", "T026"]
    work.apply(region(1, 1))
    assert codes(check_finished(work.schedule)) == ["T026"]
    work.apply(region(2, 2))
    assert check_finished(work.schedule) == ()


# ---------------------------------------------------------------------------- sums in order

ORDERED = LfricRules(ordered_sums=True)


def summing(step: Step, rules: LfricRules = ORDERED) -> str:
    calls = (dofs(scalar("s"), "u read w0"),)
    work = Workbench(with_halos(schedule(*calls), rules), rules)
    work.apply(step)
    return schedule_text(work.schedule)


@pytest.mark.parametrize("kind", [ParallelDo, ShareLoop])
def test_the_settings_decide_on_sums_where_nothing_is_said(kind: type[Step]) -> None:
    assert "reproducible" in summing(kind("loop1"))  # type: ignore[call-arg]
    assert "reproducible" not in summing(kind("loop1"), LfricRules())  # type: ignore[call-arg]
    plain = kind("loop1", reproducible=False)  # type: ignore[call-arg]
    assert "reproducible" not in summing(plain)
    asked = kind("loop1", reproducible=True)  # type: ignore[call-arg]
    assert "reproducible" in summing(asked, LfricRules())


def test_a_loop_without_sums_may_have_any_schedule() -> None:
    work = bench(dofs("u write w3"))
    work.apply(ShareLoop("loop1", "dynamic", reproducible=True))
    assert "reproducible" not in schedule_text(work.schedule)
    with pytest.raises(CompileError, match="dynamic"):
        summing(ParallelDo("loop1", "dynamic"))
