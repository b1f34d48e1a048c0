"""Variables that I/O statements read and write, in addition to files.

The statement does not name the variables of its namelist; a caller that needs them looks them up.
"""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.ir.expr import Expr, ImpliedDo, Index, Keyword, Member, Name
from psyclone_storage.ir.unit import InputOutput

_TELLS = frozenset({"iostat", "iomsg", "size", "id", "newunit"})
"""Controls of all statements that tell something about what was done."""
_ASKS_WITH = frozenset({"unit", "file", "id"})
"""Controls of `inquire` that say what is asked about: all others are answers."""


def names_namelist(line: InputOutput) -> bool:
    """Return whether the statement may transfer variables that it does not name."""
    return any(isinstance(item, Keyword) and item.key == "nml" for item in line.controls)


def read_parts(line: InputOutput) -> Iterator[Expr]:
    """Yield what the statement reads; what it may write is among that, as a part of it may stay."""
    for control in line.controls:
        yield control.value if isinstance(control, Keyword) else control
    yield from line.items


def written_parts(line: InputOutput) -> Iterator[Expr]:
    """Yield the variables, or parts of them, that the statement may write."""
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
