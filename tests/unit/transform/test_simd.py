"""Loops whose iterations the lanes of vectors share: which may be, and under what directive."""

from __future__ import annotations

import pytest

from psyclone_storage.domains.lfric.rules import LfricRules
from psyclone_storage.ir.directive import Directive
from psyclone_storage.ir.schedule import DirectiveRegion, KernelCall, Loop
from psyclone_storage.transform.halos import with_halos
from psyclone_storage.transform.legality import check_finished
from psyclone_storage.transform.openmp import OpenParallelRegion, ParallelDo, ShareLoop
from psyclone_storage.transform.openmp_tasks import TaskLoop
from psyclone_storage.transform.outline import OutlineLoop
from psyclone_storage.transform.simd import VectoriseLoop
from psyclone_storage.transform.step import Step
from psyclone_storage.transform.workbench import Workbench
from unit.analysis.small import built_in, cells, dofs, draw, scalar, schedule
from unit.transform.benches import bench, refused

EXACT = LfricRules(exact_sums=True)
ORDERED = LfricRules(ordered_sums=True)


def summing() -> KernelCall:
    return built_in(scalar("s"), "u read w0")


def asked_of(rules: LfricRules, *steps: Step) -> Workbench:
    work = Workbench(with_halos(schedule(summing()), rules), rules)
    for step in steps:
        work.apply(step)
    return work


@pytest.mark.parametrize("call", [summing(), built_in("u write w0", "v read w0")])
def test_a_loop_over_dofs_is_shared_by_lanes(call: KernelCall) -> None:
    work = bench(call)
    work.apply(VectoriseLoop("loop1"))
    region = work["omp-simd(loop1)"]
    assert isinstance(region, DirectiveRegion)
    assert region.directive is Directive.OMP_SIMD
    assert check_finished(work.schedule) == ()
    work.apply(OutlineLoop("loop1"))
    loop = work["loop1"]
    assert isinstance(loop, Loop)
    assert loop.outlined


@pytest.mark.parametrize(
    ("step", "uid"),
    [(ShareLoop("loop1"), "omp-do(loop1)"), (ParallelDo("loop1"), "omp-parallel-do(loop1)")],
)
def test_each_thread_has_lanes(step: Step, uid: str) -> None:
    work = bench(summing())
    work.apply(step)
    work.apply(VectoriseLoop("loop1", for_sums=True))
    region = work[uid]
    assert isinstance(region, DirectiveRegion)
    assert region.options.lanes
    assert refused(work, VectoriseLoop("loop1")) == ["T082"]
    if isinstance(step, ShareLoop):
        work.apply(OpenParallelRegion(uid, uid))
    assert check_finished(work.schedule) == ()


def test_lanes_come_before_no_other_directive() -> None:
    work = bench(summing())
    work.apply(VectoriseLoop("loop1"))
    assert refused(work, VectoriseLoop("loop1")) == ["T007"]
    assert refused(work, ShareLoop("loop1")) == ["T007"]
    work = bench(built_in("u write w0"))
    work.apply(TaskLoop("loop1"))
    assert refused(work, VectoriseLoop("loop1")) == ["T007"]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (cells("u readwrite w3"), ["T066"]),
        (cells("u inc w0"), ["T066"]),
        (dofs("u write w0"), ["T066"]),
        (draw("u"), ["T066"]),
    ],
)
def test_what_lanes_cannot_share(call: KernelCall, expected: list[str]) -> None:
    assert refused(bench(call), VectoriseLoop("loop1")) == expected


def test_a_loop_without_sums_is_left_out_if_sums_are_meant() -> None:
    assert refused(bench(built_in("u write w0")), VectoriseLoop("loop1", for_sums=True)) == ["T082"]


def test_a_loop_that_is_outlined_stays_as_it_is() -> None:
    work = bench(summing())
    work.apply(OutlineLoop("loop1"))
    assert refused(work, VectoriseLoop("loop1")) == ["T007"]


def test_sums_that_are_no_plain_numbers_stay() -> None:
    assert refused(asked_of(EXACT), VectoriseLoop("loop1")) == ["T066"]
    assert refused(asked_of(EXACT), OutlineLoop("loop1")) == ["T059"]
    assert refused(asked_of(ORDERED), VectoriseLoop("loop1")) == ["T066"]
    asked_of(ORDERED).apply(OutlineLoop("loop1"))
    shared = asked_of(ORDERED, ShareLoop("loop1"), OpenParallelRegion(*["omp-do(loop1)"] * 2))
    assert set(refused(shared, VectoriseLoop("loop1"))) == {"T066"}
    assert refused(shared, OutlineLoop("loop1")) == ["T059"]
