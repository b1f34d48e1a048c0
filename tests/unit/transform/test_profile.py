"""Regions of a profiler: what they hold, what happens before them, and where they may not be."""

from __future__ import annotations

from dataclasses import replace

import pytest

from psyclone_storage.coherence.check_halos import check_halos
from psyclone_storage.coherence.scenarios import HaloScenario
from psyclone_storage.ir.schedule import ProfileRegion
from psyclone_storage.ir.verify import check_schedule
from psyclone_storage.ir.walk import find, statements
from psyclone_storage.transform.asynchronous import SplitExchange
from psyclone_storage.transform.colour import ColourLoop
from psyclone_storage.transform.openmp import OpenParallelRegion, ParallelDo, ShareLoop
from psyclone_storage.transform.profile import AddProfileRegion, ProfileGranularity, regions_for
from psyclone_storage.transform.redundant import ComputeRedundantly
from psyclone_storage.transform.workbench import Workbench
from unit.analysis.small import cells
from unit.transform.benches import bench, refused

DIRTY = HaloScenario(levels=3, extents={}, shared=frozenset())
WRITER = cells("u write w3")
READER = cells("v write w3", "u read w3 stencil 1")


def inside(work: Workbench, uid: str) -> list[str]:
    """Return what is directly in the region `uid`, but for the marks of halos."""
    region = work[uid]
    assert isinstance(region, ProfileRegion)
    return [item.uid for item in region.body if not item.uid.startswith("mark")]


def outside(work: Workbench) -> list[str]:
    return [item.uid for item in work.schedule.body if not item.uid.startswith("mark")]


def test_a_region_holds_what_is_named_and_all_between() -> None:
    work = bench(WRITER, READER)
    work.apply(AddProfileRegion("loop1", "loop2"))
    assert outside(work) == ["profile(loop1)"]
    assert inside(work, "profile(loop1)") == ["loop1", "halo(u)@loop2", "loop2"]


def test_regions_that_begin_together_have_names_of_their_own() -> None:
    work = bench(WRITER)
    for _ in range(3):
        work.apply(AddProfileRegion("loop1", "loop1"))
    regions = [item.uid for item in statements(work.schedule) if isinstance(item, ProfileRegion)]
    assert regions == ["profile(loop1)", "profile(loop1)#2", "profile(loop1)#3"]


def test_the_exchanges_of_a_loop_happen_before_its_region() -> None:
    work = bench(WRITER, READER)
    work.apply(AddProfileRegion("loop2", "loop2"))
    assert outside(work) == ["loop1", "halo(u)@loop2", "profile(loop2)"]
    assert inside(work, "profile(loop2)") == ["loop2"]


def test_an_exchange_that_is_named_is_timed_with_its_loop() -> None:
    work = bench(WRITER, READER)
    work.apply(AddProfileRegion("halo(u)@loop2", "loop2"))
    assert outside(work) == ["loop1", "profile(loop2)"]
    assert inside(work, "profile(loop2)") == ["halo(u)@loop2", "loop2"]


def test_an_exchange_alone_is_pinned_in_its_region() -> None:
    work = bench(WRITER, READER)
    work.apply(AddProfileRegion("halo(u)@loop2", "halo(u)@loop2"))
    assert outside(work) == ["loop1", "profile(halo(u)@loop2)", "loop2"]
    assert inside(work, "profile(halo(u)@loop2)") == ["halo(u)@loop2"]


def test_a_region_follows_what_later_steps_need() -> None:
    work = bench(WRITER, READER)
    work.apply(AddProfileRegion("loop1", "loop2"))
    work.apply(ComputeRedundantly("loop1", 1))
    assert inside(work, "profile(loop1)") == ["loop1", "loop2"]
    work.undo()
    assert inside(work, "profile(loop1)") == ["loop1", "halo(u)@loop2", "loop2"]


def test_loops_in_a_region_take_directives_and_colours() -> None:
    work = bench(WRITER, cells("w inc w0", "v read w3"))
    work.apply(AddProfileRegion("loop1", "loop2"))
    work.apply(ColourLoop("loop2"))
    work.apply(ShareLoop("loop1"))
    work.apply(ShareLoop("cells(loop2)"))
    work.apply(OpenParallelRegion("omp-do(loop1)", "loop2"))
    assert inside(work, "profile(loop1)")[-1] == "omp-parallel(omp-do(loop1))"
    assert check_schedule(work.schedule) == ()


def test_nothing_stale_is_read_in_regions() -> None:
    work = bench(WRITER, READER, cells("u readwrite w3", "v read w3 stencil 2"))
    for step in regions_for(work.schedule, ProfileGranularity.KERNELS):
        work.apply(step)
    for step in regions_for(work.schedule, ProfileGranularity.INVOKES):
        work.apply(step)
    assert check_halos(work.schedule, DIRTY) == ()
    regions = [item for item in statements(work.schedule) if isinstance(item, ProfileRegion)]
    assert [item.uid for item in regions] == [
        "profile(profile(loop1))", "profile(loop1)", "profile(loop2)", "profile(loop3)",
    ]  # fmt: skip
    assert len({item.name for item in regions}) == 4


def test_a_region_has_the_names_that_it_is_given() -> None:
    work = bench(WRITER)
    work.apply(AddProfileRegion("loop1", "loop1", region="update", module="physics"))
    region = work["profile(loop1)"]
    assert isinstance(region, ProfileRegion)
    assert (region.module, region.name) == ("physics", "update")


@pytest.mark.parametrize(
    ("before", "step", "codes"),
    [
        (None, AddProfileRegion("loop9", "loop1"), ["T003"]),
        (None, AddProfileRegion("loop2", "loop1"), ["T023"]),
        (None, AddProfileRegion("mark(u)@loop1", "mark(u)@loop1"), ["T013"]),
        (ParallelDo("loop1"), AddProfileRegion("loop1", "loop1"), ["T034"]),
        (None, AddProfileRegion("call1", "call1"), ["T034"]),
    ],
)
def test_what_cannot_be_timed_is_refused(
    before: ParallelDo | None, step: AddProfileRegion, codes: list[str]
) -> None:
    work = bench(WRITER, READER)
    if before is not None:
        work.apply(before)
    assert refused(work, step) == codes


def test_threads_do_not_start_around_a_region() -> None:
    work = bench(WRITER, cells("w write w3"))
    work.apply(ShareLoop("loop1"))
    work.apply(ShareLoop("loop2"))
    work.apply(AddProfileRegion("omp-do(loop1)", "omp-do(loop1)"))
    step = OpenParallelRegion("profile(omp-do(loop1))", "omp-do(loop2)")
    assert "T027" in refused(work, step)


def test_both_ends_of_an_exchange_may_be_in_different_regions() -> None:
    work = bench(WRITER, READER)
    work.apply(SplitExchange("halo(u)@loop2"))
    work.apply(AddProfileRegion("loop1", "start(halo(u)@loop2)"))
    work.apply(AddProfileRegion("finish(halo(u)@loop2)", "loop2"))
    assert check_schedule(work.schedule) == ()
    assert check_halos(work.schedule, DIRTY) == ()


def test_a_region_in_a_loop_and_an_empty_one_are_defects() -> None:
    work = bench(WRITER)
    loop = find(work.schedule, "loop1")
    region = ProfileRegion("profile(k)", "", "k", loop.body)  # type: ignore[union-attr]
    broken = replace(loop, body=(region,))  # type: ignore[type-var]
    nested = replace(work.schedule, body=(broken,))  # type: ignore[arg-type]
    assert "V017" in [problem.code for problem in check_schedule(nested)]
    empty = replace(
        work.schedule, body=(*work.schedule.body, ProfileRegion("profile()", "", "k", ()))
    )
    assert [problem.code for problem in check_schedule(empty)] == ["V017"]


def test_a_schedule_that_does_nothing_has_no_region() -> None:
    work = bench(WRITER)
    empty = replace(work.schedule, body=())
    assert (
        regions_for(empty, ProfileGranularity.INVOKES)
        == regions_for(empty, ProfileGranularity.KERNELS)
        == ()
    )
