"""Bounds of the parts of a split loop over a grid.

    first ... | inner first ... inner last | ... last

The inner bounds are clamped, so that each point is in exactly one of the three ranges. If the rank
owns too few points, the inner range is empty and the rest belongs to the last range.
"""

from __future__ import annotations

from collections.abc import Callable

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.ir.expr import Binary, Expr, Name, canonical, intrinsic, whole
from psyclone_storage.ir.loop_split import Peel, PeelSection
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.schedule import Axis, Loop
from psyclone_storage.ir.unit import Declare
from psyclone_storage.lowering.infrastructure import LoweringContext
from psyclone_storage.lowering.routine_builder import SetupSection
from psyclone_storage.lowering.strip_chains import strip_end

End = Callable[[bool], Expr]
"""The first index of a range, or with True its last."""

_CUT_ALONG = {
    PeelSection.SOUTH: Axis.NORTH,
    PeelSection.NORTH: Axis.NORTH,
    PeelSection.WEST: Axis.EAST,
    PeelSection.EAST: Axis.EAST,
}


def peeled_end(
    context: LoweringContext, loop: Loop, end: End, owned_end: End, *, last: bool
) -> Expr:
    """Return the first or last index of `loop`, which may be a part of a split loop.

    `end` returns the bounds of the original loop, `owned_end` those of the owned points.
    """
    whole_end = _peeled_end(context, loop, end, owned_end, last=last)
    return strip_end(context, loop, whole_end, last=last)


def _peeled_end(
    context: LoweringContext, loop: Loop, end: End, owned_end: End, *, last: bool
) -> Expr:
    peel, axis = loop.peel, loop.over.axis
    if peel is None:
        return end(last)
    if axis is None:
        raise InternalError(f"'{loop.uid}' counts {loop.over.value}, which grids do not have.")
    along = _CUT_ALONG.get(peel.section)
    if along is Axis.NORTH and axis is Axis.EAST:
        return end(last)
    inner_first, inner_last = _inner(context, peel, axis, end, owned_end)
    if along is not axis:
        return inner_last if last else inner_first
    if peel.section in (PeelSection.SOUTH, PeelSection.WEST):
        return _less(inner_first, 1) if last else end(False)
    return end(True) if last else _more(inner_last, 1)


def _inner(
    context: LoweringContext, peel: Peel, axis: Axis, end: End, owned_end: End
) -> tuple[Name, Name]:
    """Return the variables with the first and last index of the interior."""
    margins = peel.interior.margins
    if margins is None:
        raise InternalError(f"The parts of '{peel.of}' keep no margins.")
    sides = (margins.west, margins.east) if axis is Axis.EAST else (margins.south, margins.north)
    ends = (end(False), end(True), owned_end(False), owned_end(True))
    key = ("inner", axis, sides, *map(canonical, ends))

    def variable(which: str, value: Expr) -> Name:
        wished = Declare(f"{axis.value}_inner_{which}", context.ops.integer)
        return context.work.assigned(SetupSection.BOUNDS, (*key, which), wished, value)

    from_edge = intrinsic("max", ends[0], _more(ends[2], sides[0]))
    inner_first = variable("first", intrinsic("min", from_edge, _more(ends[1], 1)))
    to_edge = intrinsic("min", ends[1], _less(ends[3], sides[1]))
    return inner_first, variable("last", intrinsic("max", to_edge, _less(inner_first, 1)))


def _more(index: Expr, by: int) -> Expr:
    return Binary(Operator.PLUS, index, whole(by)) if by else index


def _less(index: Expr, by: int) -> Expr:
    return Binary(Operator.MINUS, index, whole(by)) if by else index
