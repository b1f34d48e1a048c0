"""Definite assignment: subroutines that write all of their output in every call.

A kernel may leave some of the data unchanged that its metadata declare as written: boundary kernels
test a mask first. The old values are only unnecessary if they can never be observed. A statement
that is not understood counts as a path on which nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple

from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import (
    blocks_of,
    expressions_of,
    names_in,
    names_of_line,
    walk_lines,
)
from psyclone_storage.ir.routine import Routine


class _Definiteness(Enum):
    """The state of an element after some statements.

    It is written, not yet written (open), or can no longer be proved to be written (lost).
    """

    WRITTEN = "written"
    OPEN = "open"
    LOST = "lost"


def writes_its_point(code: Routine, dummy: str) -> bool:
    """Return whether `code`, for a grid point, assigns `dummy` at that point on every path.

    No statement may read `dummy` before. The indices of the point are the first two arguments.
    """
    point = tuple(code.dummy_keys[:2])
    return _behind(code.body, key_of(dummy), point) is _Definiteness.WRITTEN


def writes_once(code: Routine, dummy: str) -> bool:
    """Return whether `code`, for a dof, assigns the scalar `dummy` on every control-flow path.

    No statement may read `dummy` before.
    """
    return _behind(code.body, key_of(dummy), ()) is _Definiteness.WRITTEN


class ColumnNames(NamedTuple):
    """The names of layer count, dof count and dofmap of a field in a column kernel."""

    layers: str
    dofs: str
    dofmap: str


def writes_columns(code: Routine, dummy: str, names: ColumnNames) -> bool:
    """Return whether `code`, for a cell column, assigns all values of `dummy` in the column.

    It recognises loops over all dofs of a cell and all layers, in either order, around an
    assignment to `dummy(dofmap(df) + k)`. The access "write" in metadata is a weaker statement:
    such a kernel may set only the lowest level, or only the dofs of one face. No statement may read
    `dummy` before, nor other elements of it within the loops. No statement may leave the loops
    early.
    """
    key = key_of(dummy)
    for line in code.body:
        mentioned = key in _mentioned((line,))
        if isinstance(line, un.Do) and mentioned:
            return _is_nest_over_columns(line, key, names)
        if mentioned or _leaves(line) or not isinstance(line, _PlainLine):
            return False
    return False


_PlainLine = (
    un.Assign | un.Do | un.If | un.Call | un.Blank | un.Comment | un.Continue | un.DirectiveLine
)


def _is_nest_over_columns(outer: un.Do, key: str, names: ColumnNames) -> bool:
    """Return whether two nested loops over dofs and layers assign all elements of an array."""
    inner = [
        line
        for line in outer.body
        if not isinstance(line, un.Blank | un.Comment | un.DirectiveLine)
    ]
    if len(inner) != 1 or not isinstance(inner[0], un.Do) or _leaves(outer):
        return False
    for dofs, layers in ((outer, inner[0]), (inner[0], outer)):
        offset = _offset_of_layers(layers, names)
        if _counts(dofs, 1, ex.Name(names.dofs)) and offset is not None:
            here = _element(dofs.variable, layers.variable, offset, names)
            return _writes_first(inner[0].body, key, here)
    return False


def _counts(loop: un.Do, first: int, last: ex.Expr) -> bool:
    """Return whether a loop counts from `first` to `last` in steps of one."""
    by_one = loop.step is None or ex.integer_value(loop.step) == 1
    return by_one and ex.integer_value(loop.start) == first and ex.same(loop.stop, last)


def _offset_of_layers(loop: un.Do, names: ColumnNames) -> int | None:
    """Return the first value of the counter of a loop over all layers; else None."""
    layers = ex.Name(names.layers)
    if _counts(loop, 0, ex.Binary(Operator.MINUS, layers, ex.whole(1))):
        return 0
    return 1 if _counts(loop, 1, layers) else None


def _element(dof: ex.Name, layer: ex.Name, offset: int, names: ColumnNames) -> frozenset[str]:
    """Return the possible spellings of the subscript of a dof in a layer."""
    dofmap = ex.Element(ex.Name(names.dofmap), (dof,))
    sums: list[ex.Expr] = [
        ex.Binary(Operator.PLUS, dofmap, layer),
        ex.Binary(Operator.PLUS, layer, dofmap),
    ]
    if offset:
        inside = ex.Binary(Operator.MINUS, layer, ex.whole(offset))
        sums = [*(ex.Binary(Operator.MINUS, one, ex.whole(offset)) for one in sums),
                ex.Binary(Operator.PLUS, dofmap, inside)]  # fmt: skip
    return frozenset(map(ex.canonical, sums))


def _writes_first(body: tuple[un.Line, ...], key: str, here: frozenset[str]) -> bool:
    """Return whether `body` assigns the element `here` before reading it, and no other one."""
    written = False
    for line in body:
        looked = key in _mentioned((line,))
        if not written and looked:
            if not isinstance(line, un.Assign) or key in names_in(line.value):
                return False
            if not _is_element(line.target, key, here):
                return False
            written = True
        elif looked and not _is_about(line, key, here):
            return False
    return written


def _is_element(expr: ex.Expr, key: str, here: frozenset[str]) -> bool:
    match expr:
        case ex.Index(ex.Name() as base, (item,)):
            return base.key == key and ex.canonical(item) in here
    return False


def _is_about(line: un.Line, key: str, here: frozenset[str]) -> bool:
    """Return whether a statement accesses only the element `here` of an array."""
    lines = tuple(walk_lines((line,)))
    parts = [part for one in lines for expr in expressions_of(one) for part in ex.walk(expr)]
    mentions = sum(isinstance(part, ex.Name) and part.key == key for part in parts)
    return mentions == sum(_is_element(part, key, here) for part in parts)


def _behind(lines: Iterable[un.Line], key: str, point: tuple[str, ...]) -> _Definiteness:
    """Return the state of the element of `key` at `point` after `lines`."""
    for line in lines:
        match line:
            case un.Blank() | un.Comment() | un.Continue() | un.DirectiveLine():
                state = _Definiteness.OPEN
            case un.Assign():
                state = _assigned(line, key, point)
            case un.If():
                state = _chosen(line, key, point)
            case un.Do() | un.Call():
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


def _assigned(line: un.Assign, key: str, point: tuple[str, ...]) -> _Definiteness:
    match line.target:
        case ex.Name() as target if target.key == key and not point:
            looked = key in names_in(line.value)
            return _Definiteness.LOST if looked else _Definiteness.WRITTEN
        case ex.Index(ex.Name() as base, items) if base.key == key:
            here = tuple(item.key if isinstance(item, ex.Name) else "" for item in items)
            looked = key in names_in(line.value)
            return _Definiteness.WRITTEN if here == point and not looked else _Definiteness.LOST
    return _Definiteness.LOST if key in names_of_line(line) else _Definiteness.OPEN


def _chosen(line: un.If, key: str, point: tuple[str, ...]) -> _Definiteness:
    if any(key in names_in(branch.condition) for branch in line.branches):
        return _Definiteness.LOST
    blocks = (*(branch.body for branch in line.branches), line.otherwise)
    states = {_behind(block, key, point) for block in blocks}
    if _Definiteness.LOST in states:
        return _Definiteness.LOST
    return _Definiteness.WRITTEN if states == {_Definiteness.WRITTEN} else _Definiteness.OPEN


def _leaves(line: un.Line) -> bool:
    """Return whether a nested statement may jump out of the statement or is not understood."""
    return any(not isinstance(inner, _PlainLine) for inner in walk_lines((line,)))


def _mentioned(lines: Iterable[un.Line]) -> set[str]:
    """Return the names in `lines` and in nested statements."""
    found: set[str] = set()
    for line in lines:
        found |= names_of_line(line)
        for block in blocks_of(line):
            found |= _mentioned(block)
    return found
