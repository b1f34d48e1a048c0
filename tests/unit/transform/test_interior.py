"""Interiors of loops over cells apart from their rims: where, in which order, and where not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from psyclone_storage.coherence.check_halos import check_halos
from psyclone_storage.coherence.scenarios import halo_scenarios
from psyclone_storage.ir.loop_split import Interior, describe_peel
from psyclone_storage.ir.region import Depth
from psyclone_storage.ir.schedule import Loop, Schedule
from psyclone_storage.ir.walk import find, kernel_calls, replaced
from psyclone_storage.transform.asynchronous import OverlapExchange, SplitExchange
from psyclone_storage.transform.colour import ColourLoop
from psyclone_storage.transform.fuse import FuseLoops
from psyclone_storage.transform.interior import SplitInterior
from psyclone_storage.transform.legality import check_flights
from psyclone_storage.transform.openmp import ParallelDo
from psyclone_storage.transform.profile import AddProfileRegion
from psyclone_storage.transform.redundant import ComputeRedundantly
from unit.analysis.small import RULES, cells, dofs, uids
from unit.transform.benches import bench, refused

STENCIL = cells("v write w3", "u read w3 stencil 2")
ANNEXED = cells("v write w3", "u read w2")
APART = cells("x write w3", "y read w3")


def order(schedule: Schedule) -> list[str]:
    return [uid for uid in uids(schedule) if not uid.startswith("mark")]


def depth_of(schedule: Schedule, uid: str) -> Depth:
    loop = find(schedule, uid)
    assert isinstance(loop, Loop)
    assert loop.peel is not None
    return loop.peel.interior.depth


def test_an_exchange_stands_behind_the_interior_and_starts_before_it() -> None:
    work = bench(dofs("u write w3"), STENCIL)
    work.apply(SplitInterior("loop2"))
    assert order(work.schedule) == ["loop1", "interior@loop2", "halo(u)@rim@loop2", "rim@loop2"]
    work.apply(OverlapExchange("halo(u)@rim@loop2"))
    assert order(work.schedule) == [
        "loop1", "start(halo(u)@rim@loop2)", "interior@loop2", "finish(halo(u)@rim@loop2)",
        "rim@loop2",
    ]  # fmt: skip
    assert check_flights(work.schedule, RULES) == ()


def test_what_is_under_way_is_finished_behind_the_interior() -> None:
    work = bench(dofs("u write w3"), APART, STENCIL)
    work.apply(OverlapExchange("halo(u)@loop3"))
    work.apply(SplitInterior("loop3"))
    assert order(work.schedule) == [
        "loop1", "start(halo(u)@loop3)", "loop2", "interior@loop3", "finish(halo(u)@loop3)",
        "rim@loop3",
    ]  # fmt: skip


def test_exchanges_of_several_fields_are_finished_behind_the_interior() -> None:
    """The end of one passes the start of another."""
    work = bench(
        dofs("u write w3"),
        dofs("z write w3"),
        cells("v write w3", "u read w3 stencil 1", "z read w3 stencil 1"),
    )
    for name in ("u", "z"):
        work.apply(SplitExchange(f"halo({name})@loop3"))
    work.apply(SplitInterior("loop3"))
    assert order(work.schedule) == [
        "loop1", "loop2", "start(halo(u)@loop3)", "start(halo(z)@loop3)", "interior@loop3",
        "finish(halo(u)@loop3)", "finish(halo(z)@loop3)", "rim@loop3",
    ]  # fmt: skip
    assert check_flights(work.schedule, RULES) == ()


def test_an_end_in_front_of_the_region_around_a_loop_hides_nothing_of_it() -> None:
    work = bench(dofs("u write w3"), STENCIL, APART)
    work.apply(SplitExchange("halo(u)@loop2"))
    work.apply(AddProfileRegion("loop2", "loop3"))
    assert refused(work, SplitInterior("loop2")) == ["T033"]


def test_a_region_of_a_profiler_holds_all_parts() -> None:
    work = bench(dofs("u write w3"), APART, STENCIL)
    work.apply(AddProfileRegion("loop2", "loop3"))
    work.apply(SplitInterior("loop3"))
    (region,) = (item for item in work.schedule.body if "profile" in item.uid)
    assert [item.uid for item in region.body if "mark" not in item.uid] == [
        "loop2", "interior@loop3", "halo(u)@rim@loop3", "rim@loop3"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("call", "shared", "depth", "text"),
    [
        (STENCIL, frozenset(), Depth.of(2), "interior at depth 2"),
        (ANNEXED, frozenset("u"), Depth.of(1), "interior at depth 1"),
        (cells("v write w3", "u read w2 stencil 2"), frozenset("u"), Depth.of(3), ""),
    ],
)
def test_an_interior_that_is_one_cell_too_wide_is_found(
    call: object, shared: frozenset[str], depth: Depth, text: str
) -> None:
    space = "w2" if shared else "w3"
    work = bench(dofs(f"u write {space}"), call)  # type: ignore[arg-type]
    work.apply(SplitInterior("loop2"))
    work.apply(OverlapExchange("halo(u)@rim@loop2"))
    right = work.schedule
    assert depth_of(right, "interior@loop2") == depth_of(right, "rim@loop2") == depth
    inner = find(right, "interior@loop2")
    assert isinstance(inner, Loop)
    assert inner.peel is not None
    assert text in describe_peel(inner.peel)
    peel = replace(inner.peel, interior=Interior(depth.minus(1)))
    wrong = replaced(right, inner.uid, replace(inner, peel=peel))
    assert [one.code for one in check_flights(wrong, RULES)] == ["T031"]
    assert all(check_halos(right, world) == () for world in halo_scenarios(right, shared))
    found = [
        check_halos(wrong, world) for world in halo_scenarios(wrong, shared) if world.levels > 2
    ]
    assert found
    assert all(found)


def test_a_rim_that_is_lost_is_found() -> None:
    """Nothing else gives the halo of what the rim computes its values."""
    reader = cells("w write w3", "v read w3 stencil 1")
    work = bench((STENCIL, ComputeRedundantly("", 1)._extent), reader)
    work.apply(SplitInterior("loop1"))
    made = replaced(work.schedule, "rim@loop1")
    assert any(check_halos(made, world) for world in halo_scenarios(made, frozenset()))


def test_where_a_loop_stays_in_one_piece() -> None:
    work = bench(
        dofs("u write w3"),
        cells("z inc w0", "u read w3"),
        STENCIL,
        cells("u readwrite w3", "v read w3 stencil 1"),
    )
    assert refused(work, SplitInterior("loop1")) == ["T033", "T037"]
    assert refused(work, SplitInterior("loop2")) == ["T037"]
    assert refused(work, SplitInterior("loop3")) == ["T033"]
    assert refused(work, SplitInterior("halo(v)@loop4")) == ["T004"]
    work.apply(ParallelDo("loop4"))
    assert refused(work, SplitInterior("loop4")) == ["T007"]
    alone = bench(dofs("u write w3"), STENCIL, distributed=False)
    assert refused(alone, SplitInterior("loop2")) == ["T037"]


def test_what_is_changed_in_the_halo_is_not_split() -> None:
    far = ComputeRedundantly("", 1)._extent
    work = bench(dofs("u write w3"), (cells("u readwrite w3", "v read w3"), far))
    assert refused(work, SplitInterior("loop2")) == ["T037"]


def test_a_part_is_not_changed_alone() -> None:
    work = bench(dofs("u write w3"), STENCIL, cells("x write w3", "v read w3"))
    work.apply(SplitInterior("loop2"))
    assert "T036" in refused(work, SplitInterior("rim@loop2"))
    assert "T036" in refused(work, ColourLoop("interior@loop2"))
    assert "T036" in refused(work, ComputeRedundantly("rim@loop2", 1))
    assert refused(work, FuseLoops("rim@loop2", "loop3")) == ["S007"]
    work.apply(ParallelDo("interior@loop2"))
    assert len(kernel_calls(work.schedule)) == 4
