"""Names of a routine that may denote data with other names."""

from __future__ import annotations

import re

from psyclone_storage.base.memo import kept_lately
from psyclone_storage.base.regex import regex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.rewrite import walk_lines
from psyclone_storage.ir.routine import Routine, Specified

_COMMON = regex(r"\s*common\b[^;]*$", re.IGNORECASE)


def overlapping_names(code: Routine) -> frozenset[str]:
    """Return the names that may denote different data in different places of a routine.

    They are the names in `associate` and `select type`, those redeclared in a block, and those in
    `equivalence` and `common` statements, except for `separate_members`.
    """
    found: set[str] = set()
    for line in walk_lines(code.body):
        match line:
            case un.Associate():
                found.update(name.key for name, _ in line.pairs)
            case un.Select(alias=alias) if alias is not None:
                found.add(alias.key)
            case un.ScopedBlock():
                own = (item for item in line.declarations if isinstance(item, un.Declare))
                found.update(item.key for item in own)
    for item in opaque_items(code.declarations) + opaque_items(code.module.declarations):
        if {"equivalence", "common"} & item.names:
            found |= item.names
    return frozenset(found) - separate_members(code)


def separate_members(code: Routine) -> frozenset[str]:
    """Return the names in the `common` statements of a routine if none shares the data of another.

    There are none if an `equivalence` or a statement of the module may join them.
    """
    stated = [item for item in opaque_items(code.declarations) if _COMMON.match(item.text)]
    found = frozenset[str]().union(*(item.names for item in stated)) - {"common"}
    others = [item for item in opaque_items(code.declarations) if item not in stated]
    joins = any("equivalence" in item.names and item.names & found for item in others)
    joins = joins or any("common" in one.names for one in opaque_items(code.module.declarations))
    is_plain = all("(" not in item.text for item in stated)
    return found if is_plain and not joins else frozenset()


@kept_lately
def opaque_items(items: tuple[Specified, ...]) -> tuple[un.Opaque, ...]:
    """Return the statements of a specification part that are not parsed."""
    return tuple(item for item in items if isinstance(item, un.Opaque))
