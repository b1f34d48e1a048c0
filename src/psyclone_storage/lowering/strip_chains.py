"""Lowering of chains of loops over a grid, which run strip by strip (`transform.strip_chain`).

    do j_strip = first, last, rows
      do j = max(start1, j_strip - 0), min(stop1, j_strip + rows - 1 - 0)
      do j = max(start2, j_strip - 1), min(stop2, j_strip + rows - 1 - 1)
    end do

Adjacent statements of one chain form a loop over strips; any other statement between them ends it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from itertools import groupby

from psyclone_storage.base.records import replace
from psyclone_storage.ir.expr import Binary, Expr, Name, canonical, intrinsic, whole
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.runtime_ops import LoopEnd, LoopStart
from psyclone_storage.ir.schedule import Axis, Compound, DirectiveRegion, Loop, Statement
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.unit import Declare, Do, Line
from psyclone_storage.ir.walk import kernel_calls, with_inside
from psyclone_storage.lowering.infrastructure import LoweringContext, StripOfRows
from psyclone_storage.lowering.routine_builder import SetupSection
from psyclone_storage.lowering.threads import one_thread

LowerInStrip = Callable[[LoweringContext, Statement], tuple[Line, ...]]

_MEBIBYTE = 1024 * 1024
_BYTES = 8
_FEWEST_ROWS = 2


def stripped_loop(statement: Statement) -> Loop | None:
    """Return the loop over rows of a statement that belongs to a chain, or None."""
    if not isinstance(statement, Loop | DirectiveRegion):
        return None
    loops = (item for item in with_inside(statement) if isinstance(item, Loop) and item.strips)
    return next(loops, None)


def _runs_in_strips(context: LoweringContext) -> bool:
    """Return whether the target supports chains: bounds must be known without storages."""
    return context.ops.outlines and context.ops.holding is None and not context.on_device


def by_chain(
    context: LoweringContext, body: tuple[Statement, ...]
) -> Iterator[tuple[Statement, ...]]:
    """Yield the statements of `body` one by one, but those of one chain as a group."""

    def chain_of(numbered: tuple[int, Statement]) -> Hashable:
        number, statement = numbered
        is_region = isinstance(statement, DirectiveRegion) and not statement.directive.shares_work
        loop = None if is_region else stripped_loop(statement)
        if loop is None or loop.strips is None or not _runs_in_strips(context):
            return number
        return loop.strips.chain

    for _, items in groupby(enumerate(body), key=chain_of):
        yield tuple(statement for _, statement in items)


def chain_lines(
    context: LoweringContext, statements: tuple[Statement, ...], lower: LowerInStrip
) -> tuple[Line, ...]:
    """Return the loop over strips around the statements of one chain."""
    loops = [loop for item in statements if (loop := stripped_loop(item)) is not None]
    uid, integer = loops[0].uid, context.ops.integer

    def variable(which: str, value: Expr) -> Name:
        wished = Declare(which, integer)
        return context.work.assigned(SetupSection.BOUNDS, ("chain", uid, which), wished, value)

    first = variable("first_row", _most("min", [_bound(context, LoopStart(one)) for one in loops]))
    last = variable("last_row", _most("max", [_bound(context, LoopEnd(one)) for one in loops]))
    rows = variable("strip_rows", _rows(context, statements, loops[0], (first, last)))
    counter = context.counter("j_strip")
    inside = replace(context, strip=StripOfRows(counter, rows))
    body = tuple(line for item in statements for line in lower(inside, item))
    return (Do(counter, first, last, body, rows),)


def _rows(
    context: LoweringContext,
    statements: tuple[Statement, ...],
    rows: Loop,
    ends: tuple[Name, Name],
) -> Expr:
    """Return the rows of a strip: a given number, or as many as fit in the cache.

    Several threads run all rows of a loop together, so that each thread computes the same rows in
    all loops, and waits for the others only after each loop.
    """
    strips = rows.strips
    assert strips is not None
    if strips.rows:
        return whole(strips.rows)
    length = _columns(context, statements)
    arrays = {
        (actual.datum, described.grid_property)
        for item in statements
        if isinstance(item, Compound)
        for call in kernel_calls(item)
        for described, actual in zip(call.kernel.args, call.args, strict=True)
        if not described.kind.is_scalar
    }
    fitting = strips.cache * _MEBIBYTE // (_BYTES * max(1, len(arrays)))
    share = Binary(Operator.DIVIDE, whole(fitting), intrinsic("max", whole(1), length))
    fitting_rows = intrinsic("max", whole(_FEWEST_ROWS), share)
    if not any(isinstance(item, DirectiveRegion) for item in statements):
        return fitting_rows
    distance = Binary(Operator.MINUS, ends[1], ends[0])
    all_rows = intrinsic("max", whole(1), Binary(Operator.PLUS, distance, whole(1)))
    alone = one_thread(context.work, SetupSection.BOUNDS, ScalarType(Intrinsic.LOGICAL))
    return intrinsic("merge", fitting_rows, all_rows, alone)


def _columns(context: LoweringContext, statements: tuple[Statement, ...]) -> Expr:
    """Return the number of columns of the first loop over columns in a chain."""
    inside = (one for item in statements for one in with_inside(item) if isinstance(one, Loop))
    columns = next(loop for loop in inside if loop.over.axis is Axis.EAST)
    last, start = context.value(LoopEnd(columns)), context.value(LoopStart(columns))
    return Binary(Operator.PLUS, Binary(Operator.MINUS, last, start), whole(1))


def _bound(context: LoweringContext, asked: LoopStart | LoopEnd) -> Expr:
    """Return the strip counter at which a loop starts or ends."""
    assert asked.loop.strips is not None
    return _shifted(context.value(asked), asked.loop.strips.shift)


def _shifted(bound: Expr, by: int) -> Expr:
    """Return `bound + by`."""
    if not by:
        return bound
    return Binary(Operator.PLUS if by > 0 else Operator.MINUS, bound, whole(abs(by)))


def _most(word: str, bounds: list[Expr]) -> Expr:
    different = tuple({canonical(one): one for one in bounds}.values())
    return different[0] if len(different) == 1 else intrinsic(word, *different)


def strip_end(context: LoweringContext, loop: Loop, end: Expr, *, last: bool) -> Expr:
    """Return the first or last row of `loop` in the current strip, given that of all its rows."""
    strip, strips = context.strip, loop.strips
    if strip is None or strips is None:
        return end
    if not last:
        return intrinsic("max", end, _shifted(strip.first, -strips.shift))
    after = Binary(Operator.PLUS, strip.first, strip.rows)
    return intrinsic("min", end, _shifted(after, -strips.shift - 1))
