"""Whether a subroutine writes all that is its own, each time that it is called.

What a kernel "writes" by its metadata it may leave alone in part: kernels for boundaries look at a
mask first. Only where the old values cannot show need nobody bring them. What is not understood
counts as a way on which nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.expr import Index, Name
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.rewrite import blocks_of, names_in, names_of_line, walk_lines
from psyclone_storage.ir.unit import (
    Assign,
    Blank,
    Call,
    Comment,
    Continue,
    DirectiveLine,
    Do,
    If,
    Line,
)


class _Definiteness(Enum):
    """What is known behind some statements: the element is written, not yet, or never for sure."""

    WRITTEN = "written"
    OPEN = "open"
    LOST = "lost"


def writes_its_point(code: KernelCode, dummy: str) -> bool:
    """Return whether `code`, for a point of a grid, gives `dummy` a new value there on every way.

    Nothing may look at `dummy` before. The indices of the point are the first two arguments.
    """
    point = tuple(code.dummy_keys[:2])
    return _behind(code.body, key_of(dummy), point) is _Definiteness.WRITTEN


def writes_always(code: KernelCode, dummy: str) -> bool:
    """Return whether `code` assigns to `dummy` and no assignment depends on a condition.

    That every element is among those which loops count is for metadata to promise.
    """
    plain = Assign | Do | Blank | Comment | Continue | DirectiveLine
    key, found = key_of(dummy), False
    for line in walk_lines(code.body):
        mentions = key in _mentioned((line,))
        if isinstance(line, Assign) and key in names_in(_base(line)):
            found = True
        elif not isinstance(line, plain if mentions else plain | If | Call):
            return False
    return found


def _behind(lines: Iterable[Line], key: str, point: tuple[str, ...]) -> _Definiteness:
    """Return what is known of the element of `key` at `point` behind `lines`."""
    for line in lines:
        match line:
            case Blank() | Comment() | Continue() | DirectiveLine():
                state = _Definiteness.OPEN
            case Assign():
                state = _assigned(line, key, point)
            case If():
                state = _chosen(line, key, point)
            case Do() | Call():
                state = (
                    _Definiteness.LOST
                    if key in _mentioned((line,)) or _leaves(line)
                    else _Definiteness.OPEN
                )
            case _:
                state = _Definiteness.LOST
        if state is not _Definiteness.OPEN:
            return state
    return _Definiteness.OPEN


def _assigned(line: Assign, key: str, point: tuple[str, ...]) -> _Definiteness:
    match line.target:
        case Index(Name() as base, items) if base.key == key:
            here = tuple(item.key if isinstance(item, Name) else "" for item in items)
            looked = key in names_in(line.value)
            return _Definiteness.WRITTEN if here == point and not looked else _Definiteness.LOST
    return _Definiteness.LOST if key in names_of_line(line) else _Definiteness.OPEN


def _chosen(line: If, key: str, point: tuple[str, ...]) -> _Definiteness:
    if any(key in names_in(branch.condition) for branch in line.branches):
        return _Definiteness.LOST
    blocks = (*(branch.body for branch in line.branches), line.otherwise)
    states = {_behind(block, key, point) for block in blocks}
    if _Definiteness.LOST in states:
        return _Definiteness.LOST
    return _Definiteness.WRITTEN if states == {_Definiteness.WRITTEN} else _Definiteness.OPEN


def _leaves(line: Line) -> bool:
    """Return whether something inside of a loop may go on elsewhere than behind the loop."""
    plain = Assign | Do | If | Call | Blank | Comment | Continue | DirectiveLine
    return any(not isinstance(inner, plain) for inner in walk_lines((line,)))


def _mentioned(lines: Iterable[Line]) -> set[str]:
    """Return the names in `lines` and in the statements inside of them."""
    found: set[str] = set()
    for line in lines:
        found |= names_of_line(line)
        for block in blocks_of(line):
            found |= _mentioned(block)
    return found


def _base(line: Assign) -> Name | Index:
    target = line.target
    while isinstance(target, Index):
        target = target.base
    return target if isinstance(target, Name) else Name("")
