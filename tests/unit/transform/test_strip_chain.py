"""Chains of grid loops in strips: how far each loop runs behind, and which loops form no chain."""

from __future__ import annotations

import pytest

from gocean_programs import READ, WRITE, kernel, schedule
from psyclone_storage.domains.gocean.rules import GoceanRules
from psyclone_storage.ir.schedule import Axis, Loop, Schedule
from psyclone_storage.ir.walk import statements
from psyclone_storage.transform.fuse import FuseLoops
from psyclone_storage.transform.openmp import ParallelDo
from psyclone_storage.transform.strip_chain import StripMineChain
from psyclone_storage.transform.swap import SwapLoops
from psyclone_storage.transform.tile import TileLoops

RULES = GoceanRules()
KERNELS = {
    "copy": kernel(WRITE, READ, name="copy"),
    "south": kernel(WRITE, "go_read, go_ct, go_stencil(000,010,010)", name="south"),
    "north": kernel(WRITE, "go_read, go_ct, go_stencil(010,010,000)", name="north"),
    "both": kernel("go_readwrite, go_ct, go_stencil(010,010,010)", name="both"),
    "north_west": kernel("go_readwrite, go_ct, go_stencil(100,010,000)", name="north_west"),
    "mean": kernel(WRITE, "go_readwrite, go_r_scalar, go_pointwise", name="mean"),
}


def serial(calls: str) -> Schedule:
    """Return the schedule of kernel calls without distributed memory."""
    return schedule(KERNELS, calls, distributed=False)


def shifts(made: Schedule) -> list[int]:
    """Return how far the loops of a schedule run behind in a chain."""
    loops = (item for item in statements(made) if isinstance(item, Loop))
    rows = [loop.strips for loop in loops if loop.over.axis is Axis.NORTH]
    return [strips.shift for strips in rows if strips]


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ("copy(a, b), copy(c, a)", [0, 0]),
        ("copy(a, b), south(c, a)", [0, 0]),
        ("copy(a, b), north(c, a)", [0, 1]),
        ("south(a, b), copy(b, c)", [0, 1]),
        ("north(a, b), copy(b, c)", [0, 0]),
        ("copy(a, b), north(c, a), north(d, c)", [0, 1, 2]),
        ("copy(a, b), north(c, a), copy(e, f), north(d, c)", [0, 1, 0, 2]),
        ("copy(a, b), both(a), south(c, a)", [0, 1, 1]),
        ("copy(a(m), b), north(c, a(n))", [0, 1]),
    ],
)
def test_a_loop_runs_as_far_behind_as_its_dependences_require(
    calls: str, expected: list[int]
) -> None:
    made = serial(calls)
    (place,) = StripMineChain.places(made)
    step = StripMineChain(**place)
    assert step.check(made, RULES) == ()
    assert shifts(step.apply(made, RULES)) == expected


@pytest.mark.parametrize(
    ("step", "code"),
    [
        (StripMineChain("loop1", "loop2", rows=-1), "T017"),
        (StripMineChain("loop1", "loop2", rows=5000), "T017"),
        (StripMineChain("loop1", "loop2", cache=0), "T017"),
        (StripMineChain("loop1", "loop1"), "T023"),
        (StripMineChain("loop2", "loop1"), "T023"),
        (StripMineChain("loop1", "loop9"), "T003"),
    ],
)
def test_invalid_places_and_options(step: StripMineChain, code: str) -> None:
    found = [one.code for one in step.check(serial("copy(a, b), copy(c, a)"), RULES)]
    assert found == [code]


def test_scalars_and_tiles_prevent_a_chain() -> None:
    step = StripMineChain("loop1", "loop2")
    with_mean = serial("copy(a, b), mean(c, s)")
    assert [one.code for one in step.check(with_mean, RULES)] == ["S014"]
    assert not list(StripMineChain.places(with_mean))
    made = serial("copy(a, b), copy(c, a)")
    tiled = TileLoops("loop2").apply(made, RULES)
    assert "T016" in [one.code for one in step.check(tiled, RULES)]


def test_columns_may_be_outside() -> None:
    step = StripMineChain("loop1", "loop2")
    made = serial("copy(a, b), copy(c, a)")
    swapped = SwapLoops("loop2").apply(made, RULES)
    outer = next(item.uid for item in swapped.body if item.uid != "loop1")
    assert StripMineChain("loop1", outer).check(swapped, RULES) == ()
    assert step.check(serial("copy(a, b), north_west(a)"), RULES) == ()


def test_loops_of_a_chain_stay_as_they_are() -> None:
    step = StripMineChain("loop1", "loop2")
    made = step.apply(serial("copy(a, b), copy(c, a)"), RULES)
    assert [one.code for one in step.check(made, RULES)] == ["T082", "T082"]
    assert [one.code for one in FuseLoops("loop1", "loop2").check(made, RULES)] == ["S007"]
    assert "T007" in [one.code for one in ParallelDo("loop1").check(made, RULES)]
