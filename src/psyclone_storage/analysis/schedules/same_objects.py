"""Which data an adversary lets be one object at run time, where a schedule says that they may be.

Elements of one array may be one at some indices; those of two arrays never are, and neither are
those at two known numbers, though both may be the one at an index that nobody knows.
"""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.ir.schedule import Schedule

SameObjects = tuple[frozenset[str], ...]
"""Sets of names that mean one object each."""


def same_objects(schedule: Schedule) -> Iterator[SameObjects]:
    """Yield what may be one object: nothing, then sets until each two that may be one were so.

    In a set each may be each other.
    """
    yield ()
    may = {datum.name: frozenset(datum.may_alias) for datum in schedule.data if datum.may_alias}
    left = sorted((one, other) for one, others in may.items() for other in others if one < other)
    while left:
        chosen: list[frozenset[str]] = []
        for pair in left:
            if not any(group.intersection(pair) for group in chosen):
                chosen.append(_grown(frozenset(pair), may, frozenset[str]().union(*chosen)))
        yield tuple(chosen)
        left = [pair for pair in left if not any(group.issuperset(pair) for group in chosen)]


def _grown(
    group: frozenset[str], may: dict[str, frozenset[str]], taken: frozenset[str]
) -> frozenset[str]:
    """Return a set with all that may be each of it, and is in no other."""
    for name in sorted(may.keys() - taken):
        if group <= may[name]:
            group |= {name}
    return group
