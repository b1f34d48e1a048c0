"""After a step, the queries of a schedule take work for the changed statements alone."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from functools import cache

import pytest

from psyclone_storage.base.records import replace
from psyclone_storage.ir.datum_parts import sequence_using
from psyclone_storage.ir.devices import entered_data, has_device
from psyclone_storage.ir.schedule import HaloExchange, Loop, Phase, Schedule
from psyclone_storage.ir.verify import check_schedule
from psyclone_storage.ir.walk import find, replaced
from psyclone_storage.transform.halos import with_halos
from psyclone_storage.transform.legality import (
    check_constructs,
    check_flights,
    check_point_reductions,
)
from unit.analysis.small import RULES, cells, schedule

QUERIES: dict[str, Callable[[Schedule], object]] = {
    "find": lambda tree: find(tree, "loop3"),
    "has_device": has_device,
    "entered_data": entered_data,
    "sequence_using": lambda tree: [*sequence_using(tree, frozenset({"f3"}))],
    "check_schedule": check_schedule,
    "check_flights": lambda tree: check_flights(tree, RULES),
    "check_constructs": check_constructs,
    "check_point_reductions": check_point_reductions,
}


def smoothed(size: int) -> Schedule:
    """Return a planned schedule of `size` loops, each of which reads what the one before wrote."""
    loops = (cells(f"f{at + 1} write w3", f"f{at} read w3 stencil 1") for at in range(size))
    planned = with_halos(schedule(*loops), RULES)
    for at, item in enumerate(planned.body):
        if isinstance(item, HaloExchange) and at % 2:
            start, finish = (
                replace(item, uid=f"{phase.value}({item.uid})", phase=phase, pinned=True)
                for phase in (Phase.START, Phase.FINISH)
            )
            planned = replaced(planned, item.uid, start, finish)
    made = with_halos(planned, RULES)
    assert sum(isinstance(item, HaloExchange) for item in made.body) > size
    return made


@cache
def allocated(size: int) -> dict[str, int]:
    """Return the second most memory that each query takes after one of two loops was replaced.

    A table that keeps its size still gets new memory now and then: at most once in five steps.
    """
    tree = smoothed(size)
    for query in QUERIES.values():
        query(tree)
    peaks: dict[str, list[int]] = {name: [] for name in QUERIES}
    for at in (size // 2, size // 2 + 1, size // 2, size // 2 + 1, size // 2):
        loop = find(tree, f"loop{at}")
        assert isinstance(loop, Loop)
        later = replaced(tree, loop.uid, replace(loop, outlined=not loop.outlined))
        for name, query in QUERIES.items():
            gc.collect()
            tracemalloc.start()
            query(later)
            peaks[name].append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
        tree = later
    return {name: sorted(found)[-2] for name, found in peaks.items()}


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_after_a_step_copies_nothing_of_the_size_of_the_schedule(query: str) -> None:
    small, large = allocated(50)[query], allocated(400)[query]
    assert large < small + 1500, (small, large)
