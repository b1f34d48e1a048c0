"""Lowering of loops fused under a run-time test: the fused loop and the original loops.

The bounds of the original loops, compared before the loop on each rank, select the version. The
loops contain no exchanges. Both versions include the enclosing directives.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.ir.expr import Binary, Expr, canonical
from psyclone_storage.ir.loop_versions import loops_with_parts, source_loops, taken_apart
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.runtime_ops import LoopEnd, LoopStart
from psyclone_storage.ir.schedule import DirectiveRegion, Loop, Statement
from psyclone_storage.ir.unit import Blank, Branch, Comment, If, Line
from psyclone_storage.lowering.infrastructure import LoweringContext
from psyclone_storage.lowering.reductions import end_exact_sums, starts
from psyclone_storage.lowering.statements import nested


def versions(context: LoweringContext, statement: Loop | DirectiveRegion) -> tuple[Line, ...]:
    """Return the `if` that selects between the fused and the original loops of `statement`."""
    conditions = {
        canonical(condition): condition
        for loop in loops_with_parts(statement)
        for condition in _agreement(context, loop)
    }
    fused = _lines(context, statement)
    if not conditions:
        return fused
    apart: list[Line] = []
    for part in taken_apart(statement):
        apart += [Blank()] if apart else []
        apart += _lines(context, part)
    agree = reduce(lambda one, two: Binary(Operator.AND, one, two), conditions.values())
    comment = Comment("One loop where the bounds agree, else each by itself")
    return (comment, If((Branch(agree, fused),), tuple(apart)))


def _lines(context: LoweringContext, statement: Statement) -> tuple[Line, ...]:
    if not isinstance(statement, Loop | DirectiveRegion):
        raise InternalError(f"'{statement.uid}' has no versions.")
    return (
        *starts(context, statement),
        *nested(context, statement),
        *end_exact_sums(context, statement),
    )


def _agreement(context: LoweringContext, loop: Loop) -> Iterator[Expr]:
    """Yield the conditions that the bounds of all original loops of `loop` agree."""
    first, *others = source_loops(loop)
    for part in others:
        for asked in (LoopStart, LoopEnd):
            mine, theirs = context.value(asked(first)), context.value(asked(part))
            if canonical(mine) != canonical(theirs):
                yield Binary(Operator.EQUAL, mine, theirs)
