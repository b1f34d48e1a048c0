"""Variables that I/O statements read and write, apart from files.

The variables of a namelist do not appear in the statement; the caller must look them up.
"""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.ir.expr import Expr, ImpliedDo, Index, Keyword, Member, Name
from psyclone_storage.ir.unit import InputOutput

_TELLS = frozenset({"iostat", "iomsg", "size", "id", "newunit"})
"""I/O control specifiers of all statements that return a value."""
_ASKS_WITH = frozenset({"unit", "file", "id"})
"""Input specifiers of `inquire`; all others return a value."""


def names_namelist(line: InputOutput) -> bool:
    """Return whether the statement transfers the variables of a namelist."""
    return any(isinstance(item, Keyword) and item.key == "nml" for item in line.controls)


def read_parts(line: InputOutput) -> Iterator[Expr]:
    """Yield the expressions that an I/O statement reads.

    They include those that it may write, because a part of their value may be preserved.
    """
    for control in line.controls:
        yield control.value if isinstance(control, Keyword) else control
    yield from line.items


def written_parts(line: InputOutput) -> Iterator[Expr]:
    """Yield the variables and parts of variables that the statement may write."""
    for at, control in enumerate(line.controls):
        value = control.value if isinstance(control, Keyword) else control
        if isinstance(value, Name | Index | Member) and _is_written(line, at, control):
            yield value
    if line.word == "read":
        for item in line.items:
            yield from _variables(item)
    for item in line.items:
        if isinstance(item, ImpliedDo):
            yield item.variable


def _is_written(line: InputOutput, at: int, control: Expr) -> bool:
    key = control.key if isinstance(control, Keyword) else ("unit" if at == 0 else "")
    if line.word == "inquire":
        return key not in _ASKS_WITH
    return key in _TELLS or (key == "unit" and line.word == "write")


def _variables(item: Expr) -> Iterator[Expr]:
    if isinstance(item, ImpliedDo):
        yield item.variable
        for inner in item.items:
            yield from _variables(inner)
    else:
        yield item
