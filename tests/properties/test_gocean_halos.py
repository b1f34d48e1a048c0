"""Random GOcean invokes on one rank and on four give the same values at every point.

The ranks are simulated: each has its part of the domain with a halo that starts as rubbish, a
loop computes the points that it is for, and only an exchange of the schedule, to its depth, brings
a halo up to date. What is planned too shallow, too late or not at all shows as a difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from gocean_programs import WRITE, kernel, schedule
from pairwise import some_of
from psyclone_storage.coherence.check_halos import check_halos
from psyclone_storage.coherence.scenarios import HaloScenario
from psyclone_storage.domains.gocean.rules import GoceanRules
from psyclone_storage.ir.kernel import GridStencil, Kernel
from psyclone_storage.ir.loop_split import Interior, Margins, Peel, PeelSection
from psyclone_storage.ir.schedule import (
    HaloExchange,
    KernelCall,
    Loop,
    MarkHalo,
    Phase,
    Schedule,
    Statement,
)
from psyclone_storage.ir.walk import kernel_calls, statements
from psyclone_storage.transform.catalogue import apply_request, read_steps
from psyclone_storage.transform.halos import with_halos
from psyclone_storage.transform.legality import check_flights
from psyclone_storage.transform.workbench import Workbench

SIZE, WIDTH = 8, 3
RUBBISH = 1.0e6
NAMES = ("a", "b", "c")
STENCILS = (
    "010,010,000",
    "000,110,000",
    "020,111,010",
    "000,013,000",
    "001,010,200",
    "000,010,000",
)
ACCESSES = {"go_internal_pts": WRITE, "go_all_pts": "go_readwrite, go_ct, go_pointwise"}
KERNELS: Mapping[str, Kernel] = {
    f"k{number}_{over}": kernel(
        access, f"go_read, go_ct, go_stencil({rows})", name=f"k{number}_{over}", over=over
    )
    for number, rows in enumerate(STENCILS)
    for over, access in ACCESSES.items()
}


@dataclass
class Part:
    """The part of a rank: its corner in the domain, its width, and (rows, columns) of each field.

    A halo of `WIDTH` points lies around it.
    """

    corner: tuple[int, int]
    width: int
    fields: dict[str, NDArray[np.float64]]


def parts_of(values: Mapping[str, NDArray[np.float64]], ranks: int) -> list[Part]:
    """Divide a domain into `ranks` by `ranks` squares with rubbish in the halos between them."""
    width = SIZE // ranks
    parts = []
    for row in range(0, SIZE, width):
        for column in range(0, SIZE, width):
            part = Part((row, column), width, {})
            for name, whole in values.items():
                around = np.pad(whole, WIDTH)
                local = around[row : row + width + 2 * WIDTH, column : column + width + 2 * WIDTH]
                inside = np.pad(np.full((SIZE, SIZE), True), WIDTH)
                shared = inside[row : row + width + 2 * WIDTH, column : column + width + 2 * WIDTH]
                own = np.pad(np.full((width, width), True), WIDTH)
                part.fields[name] = np.where(shared & ~own, RUBBISH, local)
            parts.append(part)
    return parts


def gathered(parts: list[Part], name: str) -> NDArray[np.float64]:
    whole = np.empty((SIZE, SIZE))
    for part in parts:
        (row, column), width = part.corner, part.width
        own = part.fields[name][WIDTH:-WIDTH, WIDTH:-WIDTH]
        whole[row : row + width, column : column + width] = own
    return whole


def exchange(parts: list[Part], item: HaloExchange) -> None:
    """Bring the halos of a field up to date, to the depth of the exchange and no further."""
    depth = item.depth.known
    assert depth
    whole = np.pad(gathered(parts, item.datum), WIDTH)
    inside = np.pad(np.full((SIZE, SIZE), True), WIDTH)
    for part in parts:
        (row, column), reach = part.corner, WIDTH - depth
        local = part.fields[item.datum]
        first, last = WIDTH - depth, WIDTH + part.width + depth
        rows = slice(row + reach, row + WIDTH + part.width + depth)
        columns = slice(column + reach, column + WIDTH + part.width + depth)
        fresh = np.where(inside[rows, columns], whole[rows, columns], local[first:last, first:last])
        local[first:last, first:last] = fresh


def spoil(parts: list[Part], name: str) -> None:
    """Let halos be anything, as they may while messages are under way."""
    for part in parts:
        (row, column), local = part.corner, part.fields[name]
        inside = np.pad(np.full((SIZE, SIZE), True), WIDTH)
        shared = inside[row : row + local.shape[0], column : column + local.shape[1]].copy()
        shared[WIDTH:-WIDTH, WIDTH:-WIDTH] = False
        local[shared] = RUBBISH


def neighbours(stencil: GridStencil | None) -> list[tuple[int, int]]:
    """Return the offsets (rows to the north, columns to the east) that a stencil names."""
    found = [(0, 0)]
    if stencil is None:
        return found
    for north, row in zip((1, 0, -1), stencil.rows, strict=True):
        for east, count in zip((-1, 0, 1), row, strict=True):
            if (north, east) != (0, 0):
                found += [(north * step, east * step) for step in range(1, count + 1)]
    return found


def section_of(place: tuple[int, int], width: int, interior: Interior) -> PeelSection:
    """Return the part of a loop that a point belongs to, in the array of a rank of this width."""
    margins = interior.margins
    assert margins is not None
    row, column = (index - WIDTH for index in place)
    if row < margins.south:
        return PeelSection.SOUTH
    if row >= width - margins.north:
        return PeelSection.NORTH
    if column < margins.west:
        return PeelSection.WEST
    return PeelSection.EAST if column >= width - margins.east else PeelSection.INTERIOR


def compute(part: Part, call: KernelCall, peel: Peel | None) -> None:
    """Set or change each point by what its stencil names; points around the domain stay 0."""
    written, read = (part.fields[actual.datum or ""] for actual in call.args)
    stencil = call.kernel.args[1].stencil
    assert stencil is None or isinstance(stencil, GridStencil)
    everywhere = call.kernel.points is not None and call.kernel.points.name == "go_all_pts"
    first, last = (0, part.width + 2 * WIDTH) if everywhere else (WIDTH, WIDTH + part.width)
    old = read.copy()
    for at_row in range(first, last):
        for at_column in range(first, last):
            row = at_row - WIDTH + part.corner[0]
            column = at_column - WIDTH + part.corner[1]
            if not (0 <= row < SIZE and 0 <= column < SIZE):
                continue
            place = (at_row, at_column)
            if peel and section_of(place, part.width, peel.interior) is not peel.section:
                continue
            total = 1.0 if not everywhere else written[at_row, at_column]
            for weight, (north, east) in enumerate(neighbours(stencil), start=2):
                place = (at_row + north, at_column + east)
                if 0 <= place[0] < old.shape[0] and 0 <= place[1] < old.shape[1]:
                    total += old[place] / weight
            written[at_row, at_column] = total


def run(made: Schedule, ranks: int, times: int = 1) -> dict[str, NDArray[np.float64]]:
    """Run a schedule on `ranks` by `ranks` ranks so often, and return the values of each field.

    Fields keep flags: guarded exchanges take place where the halo is not clean to their depth.
    """
    start = {
        name: np.arange(SIZE * SIZE, dtype=float).reshape(SIZE, SIZE) * (number + 1.0) % 7.0
        for number, name in enumerate(NAMES)
    }
    parts, clean = parts_of(start, ranks), dict.fromkeys(NAMES, 0)
    for item in made.body * times:
        if isinstance(item, HaloExchange):
            depth = item.depth.known or 0
            if item.phase is Phase.START:
                spoil(parts, item.datum)
            elif not item.guarded or depth > clean[item.datum]:
                exchange(parts, item)
                clean[item.datum] = max(depth, clean[item.datum])
        elif isinstance(item, MarkHalo):
            clean[item.datum] = 0
        elif isinstance(item, Loop):
            for part in parts:
                for call in kernel_calls(item):
                    compute(part, call, item.peel)
    return {name: gathered(parts, name) for name in NAMES}


PAIRS = [(one, two) for one in NAMES for two in NAMES if one != two]
CALLS = st.lists(st.tuples(st.sampled_from(sorted(KERNELS)), st.sampled_from(PAIRS)), max_size=7)


@settings(max_examples=some_of(60))
@given(CALLS.filter(bool))
def test_four_ranks_compute_what_one_does(calls: list[tuple[str, tuple[str, str]]]) -> None:
    text = ", ".join(f"{name}({one}, {two})" for name, (one, two) in calls)
    alone = run(schedule(KERNELS, text, distributed=False), 1)
    together = run(schedule(KERNELS, text), 2)
    for name in NAMES:
        np.testing.assert_allclose(together[name], alone[name], rtol=1e-12)


@settings(max_examples=some_of(40))
@given(CALLS.filter(bool))
def test_flags_let_halos_be_exchanged_that_are_stale(
    calls: list[tuple[str, tuple[str, str]]],
) -> None:
    """The invoke is called three times, so that the flags of one call matter to the next."""
    text = ", ".join(f"{name}({one}, {two})" for name, (one, two) in calls)
    made = schedule(KERNELS, text)
    flagged = with_halos(made, GoceanRules(dirty_flags=True))
    alone = run(schedule(KERNELS, text, distributed=False), 1, times=3)
    together = run(flagged, 2, times=3)
    for name in NAMES:
        np.testing.assert_allclose(together[name], alone[name], rtol=1e-12)


def test_a_field_that_no_kernel_writes_is_exchanged_once() -> None:
    made = schedule(KERNELS, "k1_go_internal_pts(a, b)")
    flagged = with_halos(made, GoceanRules(dirty_flags=True))
    exchanges = [item for item in flagged.body if isinstance(item, HaloExchange)]
    assert [(item.datum, item.guarded) for item in exchanges] == [("b", True)]
    assert [item.datum for item in flagged.body if isinstance(item, MarkHalo)] == ["a"]


def test_a_missing_exchange_shows() -> None:
    made = schedule(KERNELS, "k1_go_internal_pts(a, b)", distributed=False)
    assert not np.allclose(run(made, 2)["a"], run(made, 1)["a"])


# ---------------------------------------------------------------------------- interiors

SPLIT = GoceanRules(split_exchanges=True)
WORLD = HaloScenario(3, {}, frozenset(), flagged=False)


def with_interiors(text: str) -> Schedule:
    bench = Workbench(schedule(KERNELS, text), SPLIT)
    for request in read_steps("split-interior; overlap"):
        apply_request(bench, request)
    return bench.schedule


@settings(max_examples=some_of(60))
@given(CALLS.filter(bool), st.sampled_from((2, 4)))
def test_interiors_run_while_halos_are_anything(
    calls: list[tuple[str, tuple[str, str]]], ranks: int
) -> None:
    """Sixteen ranks have two rows and columns each, and stencils reach over three."""
    text = ", ".join(f"{name}({one}, {two})" for name, (one, two) in calls)
    alone = run(schedule(KERNELS, text, distributed=False), 1)
    made = with_interiors(text)
    assert check_halos(made, WORLD) == ()
    together = run(made, ranks)
    for name in NAMES:
        np.testing.assert_allclose(together[name], alone[name], rtol=1e-12)


def wider(made: Schedule, margins: Margins) -> Schedule:
    """Return a schedule with other margins around its interior."""

    def changed(item: Statement) -> Statement:
        if not isinstance(item, Loop) or item.peel is None:
            return item
        peel = replace(item.peel, interior=Interior(margins=margins))
        return replace(item, body=tuple(map(changed, item.body)), peel=peel)

    return replace(made, body=tuple(map(changed, made.body)))


@pytest.mark.parametrize("number", range(len(STENCILS) - 1))
@pytest.mark.parametrize("over", sorted(ACCESSES))
def test_an_interior_that_is_one_point_too_wide_is_found(number: int, over: str) -> None:
    text = f"k{number}_{over}(a, b)"
    made = with_interiors(text)
    alone = run(schedule(KERNELS, text, distributed=False), 1)["a"]
    (interior,) = {item.peel.interior for item in statements(made) if isinstance(item, Loop)}
    kept = interior.margins
    for side in ("west", "east", "south", "north"):
        if getattr(kept, side) == 0:
            continue
        wrong = wider(made, replace(kept, **{side: getattr(kept, side) - 1}))
        assert check_halos(wrong, WORLD) != (), side
        assert [one.code for one in check_flights(wrong, SPLIT)] == ["T031"], side
        assert not np.allclose(run(wrong, 2)["a"], alone), side
    assert check_halos(made, WORLD) == check_flights(made, SPLIT) == ()
    assert np.allclose(run(made, 2)["a"], alone)
