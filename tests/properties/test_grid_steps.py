"""Steps on loops over a grid against an interpreter that executes them point by point.

Accepted steps preserve every value, also with threads in any order. Steps that are rejected because
of dependences are forced here, and then some value changes.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product

import pytest

from gocean_programs import schedule
from pairwise import some_of
from properties.grid_machine import (
    FIRST,
    LAST_COLUMN,
    LAST_ROW,
    SAME,
    STAGGERED,
    Values,
    backwards,
    run,
    shuffled,
)
from properties.random_grids import KERNELS, STENCILS, random_invoke, random_staggered
from properties.random_grids import STAGGERED as STAGGERED_KERNELS
from psyclone_storage.domains.gocean.rules import GoceanRules
from psyclone_storage.ir.directive import Directive
from psyclone_storage.ir.schedule import DirectiveRegion, Loop, Schedule
from psyclone_storage.ir.walk import replaced, statements
from psyclone_storage.transform.catalogue import STEPS
from psyclone_storage.transform.fuse import FuseLoops
from psyclone_storage.transform.legality import check_finished
from psyclone_storage.transform.openmp import ParallelDo
from psyclone_storage.transform.step import Step
from psyclone_storage.transform.swap import SwapLoops
from psyclone_storage.transform.tile import TileLoops
from psyclone_storage.transform.workbench import Workbench

RULES = GoceanRules()
ON_LOOPS = (
    "fuse", "swap-loops", "tile-loops", "tile-columns", "chunk-loop", "openmp-parallel-do",
    "openmp-do", "openmp-parallel", "move",
)  # fmt: skip
CASES, STEPS_TRIED = some_of(300), 12


def random_step(rng: random.Random, bench: Workbench) -> Step | None:
    kind = STEPS[rng.choice(ON_LOOPS)]
    if kind.name == "move":
        uids = [item.uid for item in bench.schedule.body]
        return kind(statement=rng.choice(uids), target=rng.choice(uids))
    places = list(kind.places(bench.schedule))
    if not places:
        return None
    options: dict[str, object] = {}
    if kind is FuseLoops:
        options["in_order"] = rng.random() < 0.7
        options["tested"] = rng.random() < 0.8
    if kind is TileLoops:
        options |= {"rows": rng.randint(1, 4), "columns": rng.randint(1, 4)}
    if kind.name in ("chunk-loop", "tile-columns"):
        options["size"] = rng.randint(1, 4)
    return kind(**rng.choice(places), **options)


@pytest.mark.parametrize("seed", range(CASES))
def test_what_is_accepted_changes_no_value(seed: int) -> None:
    rng = random.Random(seed)
    start = schedule(KERNELS, random_invoke(rng), distributed=False)
    bench, expected = Workbench(start, RULES), run(start)
    for _ in range(STEPS_TRIED):
        step = random_step(rng, bench)
        if step is not None and not bench.check(step):
            bench.apply(step)
    made = bench.schedule
    assert run(made) == expected
    if not check_finished(made):
        assert run(made, backwards) == expected
        assert run(made, shuffled(seed)) == expected
    while bench.history:
        bench.undo()
    assert bench.schedule == start


@pytest.mark.parametrize("seed", range(CASES))
def test_what_is_accepted_changes_no_value_on_any_grid(seed: int) -> None:
    """Bounds of loops that are fused under a test agree on one grid and differ on the other."""
    rng = random.Random(seed)
    start = schedule(STAGGERED_KERNELS, random_staggered(rng), distributed=False)
    bench = Workbench(start, RULES)
    for number in range(STEPS_TRIED):
        step = random_step(rng, bench) if number else None
        for place in FuseLoops.places(bench.schedule) if not number else ():
            if not bench.check(FuseLoops(**place, tested=True)):
                step = FuseLoops(**place, tested=True)
        if step is not None and not bench.check(step):
            bench.apply(step)
    for regions in (SAME, STAGGERED):
        expected = run(start, regions=regions)
        assert run(bench.schedule, regions=regions) == expected
        if not check_finished(bench.schedule):
            assert run(bench.schedule, backwards, regions) == expected
            assert run(bench.schedule, shuffled(seed), regions) == expected


def test_a_test_that_is_left_out_is_noticed() -> None:
    calls = "set_u_from_a_here(u, a), set_v_from_a_here(v, b)"
    start = schedule(STAGGERED_KERNELS, calls, distributed=False)
    bench = Workbench(start, RULES)
    bench.apply(FuseLoops("loop1", "loop2", tested=True))
    bench.apply(FuseLoops("columns@loop1", "columns@loop2", tested=True))
    made = bench.schedule
    assert run(made, regions=STAGGERED) == run(start, regions=STAGGERED)
    fewer_rows = {"go_cv": (FIRST, LAST_ROW - 1, LAST_COLUMN)}
    fewer_columns = {"go_cv": (FIRST, LAST_ROW, LAST_COLUMN - 1)}
    for uid, regions in (("loop1", fewer_rows), ("columns@loop1", fewer_columns)):
        loop = next(item for item in statements(made) if item.uid == uid)
        assert isinstance(loop, Loop)
        untested = replaced(made, uid, replace(loop, parts=()))
        assert run(made, regions=regions) == run(start, regions=regions)
        assert run(untested, regions=regions) != run(start, regions=regions)
        assert run(untested) == run(start)


# ---------------------------------------------------------------------------- refusals

PAIRS = [
    f"{one}, {two}"
    for one, two in product(
        [f"set_{name}(a, b)" for name in STENCILS] + ["change_south(a)", "count(a, n)"],
        [f"set_{name}(c, a)" for name in STENCILS]
        + [f"set_{name}(b, c)" for name in STENCILS]
        + ["change_north(a)", "count(c, n)"],
    )
]
SINGLE = [f"change_{name}(a)" for name in STENCILS] + ["set_cross(a, b)", "count(a, n)"]

Force = Callable[[Schedule], Schedule]


def fused(made: Schedule) -> Schedule:
    one, two = made.body
    assert isinstance(one, Loop)
    assert isinstance(two, Loop)
    return replace(made, body=(replace(one, body=one.body + two.body),))


def swapped(made: Schedule) -> Schedule:
    (outer,) = made.body
    assert isinstance(outer, Loop)
    (inner,) = outer.body
    assert isinstance(inner, Loop)
    return replace(made, body=(replace(inner, body=(replace(outer, body=inner.body),)),))


def in_parallel(uid: str) -> Force:
    def force(made: Schedule) -> Schedule:
        loop = next(item for item in statements(made) if item.uid == uid)
        return replaced(made, uid, DirectiveRegion("team", Directive.OMP_PARALLEL_DO, (loop,)))

    return force


def forced() -> Iterator[tuple[str, Step, Force]]:
    """Yield every invoke with a step and with what does the same without asking."""
    for calls in PAIRS:
        yield calls, FuseLoops("loop1", "loop2", in_order=True), fused
    for calls in SINGLE:
        yield calls, SwapLoops("loop1"), swapped
        for uid in ("loop1", "columns@loop1"):
            yield calls, ParallelDo(uid), in_parallel(uid)


def test_every_refusal_has_a_value_that_would_change() -> None:
    """It holds in both directions: what changes nothing is not refused."""
    refused = 0
    for calls, step, force in forced():
        start = schedule(KERNELS, calls, distributed=False)
        expected: Values = run(start)
        outcomes = [run(force(start), order) for order in (list, backwards)]
        differs = any(outcome != expected for outcome in outcomes)
        assert bool(step.check(start, RULES)) is differs, (calls, step)
        refused += differs
    assert 40 < refused < len(PAIRS)
