"""Which data an adversary lets be one object at run time, where a schedule says that they may be.

Elements of one array may be one at some indices; those of two arrays never are, and neither are
those at two known numbers, though both may be the one at an unknown index. An element may be a
component of a vector. Data that one call of a kernel is passed, and writes, are apart: Fortran does
not allow to pass one object twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

from psyclone_storage.ir.schedule import KernelCall, Schedule
from psyclone_storage.ir.walk import kernel_calls

SameObjects = tuple[frozenset[str], ...]
"""Sets of names that mean one object each."""

NamedPart = tuple[str, int | None]
"""A field, or one component of a field vector, counted from 1."""


def same_objects(schedule: Schedule) -> Iterator[SameObjects]:
    """Yield what may be one object: nothing, then sets until each two that may be one were so.

    In a set each may be each other.
    """
    yield ()
    apart = {pair for call in kernel_calls(schedule) for pair in _passed_together(call)}
    may = {
        datum.name: frozenset(
            other for other in datum.may_alias if frozenset((datum.name, other)) not in apart
        )
        for datum in schedule.data
        if datum.may_alias
    }
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


def _passed_together(call: KernelCall) -> Iterator[frozenset[str]]:
    """Yield the pairs of data that a kernel is passed, of which it writes one."""
    if call.kernel.is_builtin:
        return
    passed = zip(call.kernel.args, call.args, strict=True)
    uses = [(one.datum, described.access.writes) for described, one in passed if one.datum]
    for (first, writes), (second, writes_too) in combinations(uses, 2):
        if writes or writes_too:
            yield frozenset((first, second))


def parts_as_one(schedule: Schedule, same: SameObjects) -> Mapping[NamedPart, NamedPart]:
    """Return, for each part of the names in `same`, the part that represents the object.

    An element of an array is the first component of a vector.
    """
    found: dict[NamedPart, NamedPart] = {}
    for names in same:
        data = [datum for datum in schedule.data if datum.name in names]
        chosen = max(data, key=lambda datum: datum.vector)
        for datum in data:
            if datum.vector > 1:
                for component in range(1, datum.vector + 1):
                    found[datum.name, component] = (chosen.name, component)
            else:
                found[datum.name, None] = (chosen.name, 1 if chosen.vector > 1 else None)
    return found
