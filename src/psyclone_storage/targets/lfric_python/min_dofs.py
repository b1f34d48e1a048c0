"""Minimum number of dofs per cell, derived from constant subscripts in kernel code.

A kernel that accesses the seventh dof of a cell with six dofs reads an invalid index and then
arbitrary data. Kernels assume an element order, but the order of a field is known only at run time.
Code under conditions on the number of dofs, or on scalar arguments, is ignored: it may handle other
orders.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from psyclone_storage.ir.expr import Element, Expr, Name, integer_value, walk, whole
from psyclone_storage.ir.interface import Dummy, Role
from psyclone_storage.ir.kernel import Kernel
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.rewrite import blocks_of, expressions_of, names_in, substituted, walk_lines
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.schedule import KernelCall
from psyclone_storage.ir.unit import Cycle, Do, Exit, If, Line, Return

_PLACES = {Role.DOFMAP: 0, Role.STENCIL_MAP: 0, Role.BASIS: 1, Role.DIFF_BASIS: 1}
"""Which index of an array about one space counts the dofs of a cell."""
_PLAIN = {Role.CELL, Role.NLAYERS, Role.FIELD, Role.DOFMAP, Role.STENCIL_MAP, Role.OPERATOR}
"""What does not tell the order of elements: a choice by these is one that each order has."""
_COUNTS = {Role.NLAYERS, Role.NDF, Role.STENCIL_SIZE, Role.NPOINTS_XY, Role.NPOINTS_Z,
           Role.NPOINTS_XYZ, Role.QUADRATURE_NFACES, Role.QUADRATURE_NEDGES}  # fmt: skip
"""What is at least one: a loop up to it has a turn."""
_LEAVING = (Return, Exit, Cycle)
Needed = tuple[int, str, int]
"""The position of an argument, a side of it ('' of a field), and a number of dofs."""


def least_dofs(call: KernelCall) -> Iterator[Needed]:
    """Yield the known requirements of a kernel's code on its arguments."""
    for code in call.known_codes:
        dummies = {key_of(name): dummy
                   for name, dummy in zip(code.dummies, call.dummies, strict=False)}  # fmt: skip
        for element in _elements(code, dummies):
            base = element.base
            dummy = dummies.get(key_of(base.text)) if isinstance(base, Name) else None
            if dummy is not None and dummy.arg is not None:
                yield from _needed(call.kernel, dummy, dummy.arg, element.items)


def _elements(code: Routine, dummies: Mapping[str, Dummy]) -> Iterator[Element]:
    """Yield the array elements accessed for every element order.

    For loops with constant bounds, the first and the last iteration are considered.
    """
    known = _PlainChoices(dummies)
    for line in _reached(code.body, known):
        for ends in zip(*known.counters.values(), strict=True) if known.counters else ((),):
            values = {name: whole(end) for name, end in zip(known.counters, ends, strict=True)}
            for expr in expressions_of(line):
                there = substituted(expr, values) if values else expr
                yield from (part for part in walk(there) if isinstance(part, Element))


class _PlainChoices:
    """Conditions in kernel code, classified by whether they depend on the element order."""

    def __init__(self, dummies: Mapping[str, Dummy]) -> None:
        self._plain = {key for key, dummy in dummies.items() if dummy.role in _PLAIN}
        self._counts = {key for key, dummy in dummies.items() if dummy.role in _COUNTS}
        self.may_leave = False
        """Whether a call may have ended, for some order, before what comes next."""
        self.counters: dict[str, tuple[int, int]] = {}
        """The first and the last value of counters, of loops whose bounds are numbers."""

    def are_plain(self, line: If) -> bool:
        """Return whether conditions depend only on values of fields, levels and counters."""
        found = {name for one in line.branches for name in map(key_of, names_in(one.condition))}
        return found <= self._plain

    def has_turns(self, line: Do) -> bool:
        """Return whether a loop has iterations for every order, such as over layers or dofs."""
        first, last = integer_value(line.start), integer_value(line.stop)
        if line.step is not None or (first is not None and last is not None and first > last):
            return False
        found = {*map(key_of, names_in(line.start)), *map(key_of, names_in(line.stop))}
        return found <= self._counts

    def enter(self, line: Do) -> None:
        """Treat the loop counter as independent of the order, inside and after the loop."""
        self._plain.add(line.variable.key)
        first, last = integer_value(line.start), integer_value(line.stop)
        if first is not None and last is not None and line.step is None:
            self.counters[line.variable.key] = first, last

    def leave(self, line: Do) -> None:
        """Remove the range of a loop counter."""
        self.counters.pop(line.variable.key, None)


def _reached(lines: Iterable[Line], known: _PlainChoices) -> Iterator[Line]:
    for line in lines:
        if known.may_leave:
            return
        match line:
            case Do() if known.has_turns(line):
                yield line
                known.enter(line)
                yield from _reached(line.body, known)
                known.leave(line)
            case If() if known.are_plain(line):
                yield line
                for block in blocks_of(line):
                    yield from _reached(block, known)
            case _ if blocks_of(line):
                inside = walk_lines((line,))
                known.may_leave = any(isinstance(one, _LEAVING) for one in inside)
            case _:
                yield line


def _needed(
    kernel: Kernel, dummy: Dummy, position: int, items: tuple[Expr, ...]
) -> Iterator[Needed]:
    """Yield the numbers of dofs that the subscripts of an array element require."""
    arg = kernel.args[position]
    if dummy.role is Role.OPERATOR:
        # The last two of three are the rows and columns of the matrix of a cell.
        for side, item in zip(("to", "from"), items[-2:], strict=True):
            if number := integer_value(item):
                yield position, side, number
    elif (place := _PLACES.get(dummy.role)) is not None and place < len(items):
        side = "" if not arg.kind.is_operator else "to" if arg.space == dummy.space else "from"
        if number := integer_value(items[place]):
            yield position, side, number
