"""Inference of data that are provably on one function space.

The metadata of a kernel imply it: arguments with the same space name, on the same mesh, are on the
same space, wildcards included, unless they declare that their numbers of layers or of values per
dof differ. All fields of a built-in are on one space (spec 3.1). A relation that holds for the data
of one call holds in the whole invoke, so that relations combine: from `x` and `y` in one call and
`y` and `z` in another, it follows that all three are on one space.
"""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.base.memo import kept_lately
from psyclone_storage.ir.kernel import ArgKind
from psyclone_storage.ir.schedule import Schedule
from psyclone_storage.ir.walk import kernel_calls


@kept_lately
def groups_by_space(schedule: Schedule) -> tuple[frozenset[str], ...]:
    """Return the names of the fields of `schedule`, those that share a space together."""
    groups: list[set[str]] = []
    for together in _said(schedule):
        joined = set(together)
        for group in [group for group in groups if group & joined]:
            groups.remove(group)
            joined |= group
        groups.append(joined)
    return tuple(map(frozenset, groups))


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
    """Return whether some call declares layers or values of its own for one of two fields.

    A named space then does not imply that they have the same dofs, as only a group does.
    """
    return any(
        described.has_own_dofmap and actual.datum in (first, second)
        for call in kernel_calls(schedule)
        for described, actual in zip(call.kernel.args, call.args, strict=True)
    )
