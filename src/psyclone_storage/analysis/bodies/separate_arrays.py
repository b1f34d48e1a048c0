"""Arrays that transfer no value from one iteration of a loop to another.

`coverage` proves that an iteration writes each element before it reads it. The proof here is
simpler. If all accesses to an array have the same subscripts, under the same conditions, in every
iteration, all iterations are equal to the first one. The first iteration may only read what it has
written, because a local array has no initial value.
"""

from __future__ import annotations

from collections.abc import Iterable

from psyclone_storage.analysis.bodies.accesses import unknown_procedures
from psyclone_storage.analysis.bodies.coverage import Coverage
from psyclone_storage.analysis.bodies.flow import Flow, FlowNode, Item
from psyclone_storage.analysis.bodies.independence import is_invariant
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.loops import bounds_of_loop
from psyclone_storage.ir.paths import Variable
from psyclone_storage.ir.rewrite import expressions_of, walk_lines

_STEADY = (un.Assign, un.Blank, un.Comment, un.Do, un.If, un.Select, un.Where)
"""Statements whose execution depends only on the values of their expressions."""


def is_separate(variable: Variable, loop: FlowNode, flow: Flow) -> bool:
    """Return whether no iteration of `loop` reads what an earlier one wrote to a local array.

    `loop` is not nested in another loop. Statements before it may write the array; no statement
    outside of it may read the array.
    """
    if flow.has_jumps:
        return False
    items = flow.items_of(variable[0])
    inside = tuple(one for one in items if loop.number < one.node.number < loop.stop)
    writes = [one for one in inside if one.writes]
    coverage = Coverage(flow, variable)
    open_reads = [
        one for one in inside if not one.writes and not coverage.is_covered(one, loop, writes)
    ]
    if not open_reads:
        return True
    assert isinstance(loop.line, un.Do)
    lines = tuple(walk_lines(loop.line.body))
    if not all(isinstance(one, _STEADY) for one in lines) or unknown_procedures(lines, flow.names):
        return False
    loose = [one for one in writes if not _is_steady(one, loop, flow)]
    if not all(_is_steady(one, loop, flow) for one in open_reads):
        return False
    if len(items) > len(inside):
        last = max((_top(one, loop) for one in writes), default=0)
        return not loose and all(last < _top(one, loop) for one in open_reads)
    return all(_updates(one, inside) for one in loose)


def _top(item: Item, loop: FlowNode) -> int:
    """Return the number of the statement directly in `loop` that contains an access."""
    around = [at for at in item.node.around if at > loop.number]
    return around[0] if around else item.node.number


def _updates(write: Item, items: Iterable[Item]) -> bool:
    """Return whether a statement reads exactly the elements that it writes."""
    same = (one for one in items if one.node is write.node and not one.writes)
    return any(one.access.path == write.access.path for one in same)


def _is_steady(item: Item, loop: FlowNode, flow: Flow) -> bool:
    """Return whether an access has equal subscripts in all iterations and always executes."""
    counted = frozenset[str]()
    for number in (at for at in item.node.around if at > loop.number):
        line = flow.node(number).line
        exprs = bounds_of_loop(line) if isinstance(line, un.Do) else expressions_of(line)
        if not all(is_invariant(one, loop, flow, counted) for one in exprs):
            return False
        if isinstance(line, un.Do):
            counted |= {line.variable.key}
    return _is_single(item.node.line) and all(
        is_invariant(one, loop, flow, counted) for one in item.path.subscripts
    )


def _is_single(line: un.Line) -> bool:
    """Return whether a statement has at most one condition."""
    return not isinstance(line, un.If | un.Where) or len(line.branches) == 1
