"""Minimum number of dofs per cell, derived from constant subscripts in kernel code.

A kernel that accesses the seventh dof of a cell with six dofs reads an invalid index and then
arbitrary data. Kernels assume an element order, but the order of a field is known only at run time.
Code under conditions on the number of dofs, or on scalar arguments, is ignored: it may handle other
orders.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from psyclone_storage.analysis.bodies.reached import names_of_conditions, reached_lines
from psyclone_storage.ir.expr import Element, Expr, Name, integer_value, walk, whole
from psyclone_storage.ir.interface import Dummy, Role
from psyclone_storage.ir.kernel import Kernel
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.rewrite import expressions_of, names_in, substituted
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.schedule import KernelCall
from psyclone_storage.ir.unit import Do, If

_PLACES = {Role.DOFMAP: 0, Role.STENCIL_MAP: 0, Role.BASIS: 1, Role.DIFF_BASIS: 1}
"""Which index of an array about one space counts the dofs of a cell."""
_PLAIN = {Role.CELL, Role.NLAYERS, Role.FIELD, Role.DOFMAP, Role.STENCIL_MAP, Role.OPERATOR}
"""What does not tell the order of elements: a choice by these is one that each order has."""
_COUNTS = {Role.NLAYERS, Role.NDF, Role.STENCIL_SIZE, Role.NPOINTS_XY, Role.NPOINTS_Z,
           Role.NPOINTS_XYZ, Role.QUADRATURE_NFACES, Role.QUADRATURE_NEDGES}  # fmt: skip
"""What is at least one: a loop up to it has a turn."""
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
    plain = {key for key, dummy in dummies.items() if dummy.role in _PLAIN}
    counts = {key for key, dummy in dummies.items() if dummy.role in _COUNTS}

    def enters(loop: Do) -> bool:
        """Return whether a loop has iterations for each order; its counter is plain from here."""
        if not _has_turns(loop, counts):
            return False
        plain.add(loop.variable.key)
        return True

    def is_plain(line: If) -> bool:
        return names_of_conditions(line) <= plain

    for line, loops in reached_lines(code.body, is_plain, enters):
        for values in _turns(loops):
            for expr in expressions_of(line):
                there = substituted(expr, values) if values else expr
                yield from (part for part in walk(there) if isinstance(part, Element))


def _has_turns(loop: Do, counts: Collection[str]) -> bool:
    """Return whether a loop has iterations for every order, such as over layers or dofs."""
    first, last = integer_value(loop.start), integer_value(loop.stop)
    if loop.step is not None or (first is not None and last is not None and first > last):
        return False
    return all(key_of(name) in counts for end in (loop.start, loop.stop) for name in names_in(end))


def _turns(loops: Iterable[Do]) -> Iterator[dict[str, Expr]]:
    """Yield the first, then the last value of the counters of loops with constant bounds."""
    ends = {}
    for loop in loops:
        first, last = integer_value(loop.start), integer_value(loop.stop)
        if first is not None and last is not None:
            ends[loop.variable.key] = whole(first), whole(last)
    for turn in range(2 if ends else 1):
        yield {key: values[turn] for key, values in ends.items()}


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
