"""Inference of data that are provably on the same function space.

The metadata of a kernel imply it: arguments with the same space name on the same mesh are on the
same space, including wildcards, unless they declare a different number of layers or of values per
dof. All fields of a built-in are on one space (spec 3.1). The relation holds in the whole invoke
and is transitive.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

from psyclone_storage.base.memo import kept_lately
from psyclone_storage.ir.kernel import ArgKind
from psyclone_storage.ir.schedule import Schedule
from psyclone_storage.ir.walk import kernel_calls


@kept_lately
def groups_by_space(schedule: Schedule) -> Mapping[str, Set[str]]:
    """Return, for each field in `schedule`, the fields that are on the same space."""
    groups: dict[str, set[str]] = {}
    for together in _said(schedule):
        met = {id(group): group for name in together if (group := groups.get(name))}
        joined = max(met.values(), key=len, default=set())
        for group in met.values():
            if group is not joined:
                joined |= group
                groups.update(dict.fromkeys(group, joined))
        joined |= together
        groups.update(dict.fromkeys(together, joined))
    return groups


def _said(schedule: Schedule) -> Iterator[set[str]]:
    """Yield the fields that one call has on one space, for each call and space."""
    for call in kernel_calls(schedule):
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
    return any(
        described.has_own_dofmap and actual.datum in (first, second)
        for call in kernel_calls(schedule)
        for described, actual in zip(call.kernel.args, call.args, strict=True)
    )
