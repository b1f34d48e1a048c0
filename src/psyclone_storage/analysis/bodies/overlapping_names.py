"""Names of a routine that may denote data with other names, or have more attributes."""

from __future__ import annotations

import re

from psyclone_storage.base.memo import kept_lately
from psyclone_storage.base.regex import regex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.expr import OVERLAPPING, Expr
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.paths import path_of
from psyclone_storage.ir.rewrite import walk_lines
from psyclone_storage.ir.routine import STATEMENT_FUNCTION, Routine, Specified

_COMMON = regex(r"\s*common\b[^;]*$", re.IGNORECASE)
_CRAY_POINTER = regex(r"(?:^|;)\s*pointer\s*\(", re.IGNORECASE)
_INCLUDED = regex(r"\s*(?:#\s*)?include\s*['\"<]", re.IGNORECASE)
_WORD = regex(r"[a-z]\w*", re.IGNORECASE)
ATTRIBUTES = frozenset(
    {
        *("allocatable", "asynchronous", "codimension", "common", "data", "dimension"),
        *("equivalence", "namelist", "optional", "pointer", "protected", "save", "target"),
        "volatile",
    }
)
"""The first words of statements that give attributes to variables declared elsewhere."""


def overlapping_names(code: Routine) -> frozenset[str]:
    """Return the names that may denote different data in different places of a routine.

    They are the names in `associate` and `select type`, those redeclared in a block, those in Cray
    pointers, and those in `equivalence` and `common` statements, except for `separate_members`.
    For variables of other modules, statements with attributes count, too.
    """
    found = {item.key for item in code.module.variables if OVERLAPPING in item.attributes}
    for item in opaque_items(code.declarations) + opaque_items(code.module.declarations):
        if {"equivalence", "common"} & item.names or _CRAY_POINTER.search(item.text):
            found |= item.names
    return frozenset(found) - separate_members(code) | _names_of_blocks(code)


def _names_of_blocks(code: Routine) -> frozenset[str]:
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
    return frozenset(found)


def renamed_variables(code: Routine) -> frozenset[str]:
    """Return the variables that have other names in an `associate` or `select type`."""
    selectors: list[Expr] = []
    for line in walk_lines(code.body):
        if isinstance(line, un.Associate):
            selectors += (value for _, value in line.pairs)
        elif isinstance(line, un.Select) and line.alias is not None:
            selectors.append(line.selector)
    return frozenset(path.root for path in map(path_of, selectors) if path is not None)


def separate_members(code: Routine) -> frozenset[str]:
    """Return the names in the `common` statements of a routine if none shares the data of another.

    Names in other statements are excluded. There are none if an `equivalence`, a statement of the
    module or an included file may join them, or if a directive contains the name of a block.
    """
    items = opaque_items(code.declarations)
    stated = [item for item in items if _COMMON.match(item.text)]
    if not stated or any("(" in item.text for item in stated):
        return frozenset()
    found = frozenset[str]().union(*(item.names for item in stated)) - {"common"}
    others = frozenset[str]().union(*(item.names for item in items if item not in stated))
    outer = frozenset[str]().union(*(one.names for one in opaque_items(code.module.declarations)))
    joins = ("equivalence" in others and others & found) or "common" in outer
    parts = (*code.declarations, *walk_lines(code.body))
    if joins or any(map(includes, parts)) or any("/" in line.text for line in code.directives):
        return frozenset()
    return found - others - _names_of_blocks(code)


def with_members(found: frozenset[str], items: tuple[Specified, ...]) -> frozenset[str]:
    """Return names with the members of the common blocks among them."""
    stated = (item.names for item in opaque_items(items) if "common" in item.names)
    return found.union(*(one for one in stated if one & found))


def names_with_more_attributes(code: Routine) -> frozenset[str]:
    """Return the names that may have attributes from separate statements, such as `target :: a`."""
    module = opaque_items(code.module.declarations)
    outer = (item.names for item in module if _first_word(item) in ATTRIBUTES)
    own = opaque_items(code.declarations)
    here = [item.names for item in own if not STATEMENT_FUNCTION.match(item.text)]
    hidden = _declared_keys(code.declarations)
    for line in walk_lines(code.body):
        if isinstance(line, un.Opaque) and _first_word(line) in ("data", "entry"):
            here.append(line.names)
        elif includes(line):
            here.append(hidden)
    if any(map(includes, own)):
        here.append(hidden)
    return frozenset().union(*here) | (frozenset().union(*outer) - hidden)


@kept_lately
def _declared_keys(items: tuple[Specified, ...]) -> frozenset[str]:
    return frozenset(item.key for item in items if isinstance(item, un.Declare))


def _first_word(item: un.Opaque) -> str:
    found = _WORD.match(item.text)
    return key_of(found[0]) if found else ""


def includes(item: object) -> bool:
    """Return whether an item includes a file that was not read."""
    is_text = isinstance(item, un.Opaque) and _INCLUDED.match(item.text) is not None
    return is_text or isinstance(item, un.Include)


@kept_lately
def opaque_items(items: tuple[Specified, ...]) -> tuple[un.Opaque, ...]:
    """Return the statements of a specification part that are not parsed."""
    return tuple(item for item in items if isinstance(item, un.Opaque))
