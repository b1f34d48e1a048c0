"""Inference of data that are provably on the same function space.

The metadata of a kernel imply it: arguments with the same space name on the same mesh are on the
same space, including wildcards, unless they declare a different number of layers or of values per
dof. All fields of a built-in are on one space (spec 3.1). The relation holds in the whole invoke
and is transitive.
"""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.base.memo import kept_lately
from psyclone_storage.ir.kernel import ArgKind
from psyclone_storage.ir.schedule import KernelCall, Schedule
from psyclone_storage.ir.walk import kernel_calls


def group_on_space(schedule: Schedule, datum: str | None) -> frozenset[str]:
    """Return the fields in `schedule` that are on the same space as `datum`, if it is a field."""
    return _groups_by_field(kernel_calls(schedule)).get(datum, frozenset())


@kept_lately
def _groups_by_field(calls: tuple[KernelCall, ...]) -> dict[str | None, frozenset[str]]:
    groups: dict[str, set[str]] = {}
    for together in _together(calls):
        joined = max((groups.get(name, {name}) for name in together), key=len)
        for name in together - joined:
            group = groups.get(name, {name})
            joined |= group
            groups.update(dict.fromkeys(group, joined))
        groups.update(dict.fromkeys(together, joined))
    made = {id(group): frozenset(group) for group in groups.values()}
    return {name: made[id(group)] for name, group in groups.items()}


def _together(calls: tuple[KernelCall, ...]) -> Iterator[set[str]]:
    """Yield the fields that one call has on one space, for each call and space."""
    for call in calls:
        by_space: dict[object, set[str]] = {}
        for described, actual in zip(call.kernel.args, call.args, strict=True):
            if described.kind is ArgKind.FIELD and actual.datum is not None:
                space = (described.space, described.mesh, described.numbering)
                by_space.setdefault(space, set()).add(actual.datum)
        yield from by_space.values()


def numbered_apart(schedule: Schedule, first: str | None, second: str | None) -> bool:
    """Return whether a call declares its own layers or values per dof for one of two fields.

    Then a common named space does not imply equal dofs; only a group does.
    """
    return not _numbered_apart(kernel_calls(schedule)).isdisjoint((first, second))


@kept_lately
def _numbered_apart(calls: tuple[KernelCall, ...]) -> frozenset[str | None]:
    return frozenset(
        actual.datum
        for call in calls
        for described, actual in zip(call.kernel.args, call.args, strict=True)
        if described.has_own_dofmap
    )
