"""Halo depths as integer expressions."""

from __future__ import annotations

from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.region import Depth, Term, multiples
from psyclone_storage.ir.runtime_ops import HaloDepth
from psyclone_storage.lowering.infrastructure import LoweringContext


def depth_value(context: LoweringContext, depth: Depth) -> ex.Expr:
    """Return `depth` as an integer expression."""
    terms = [_term_value(context, term) for term in depth.terms]
    if not terms:
        return ex.whole(0)
    if len(terms) == 1:
        return terms[0]
    return ex.intrinsic("max", *(of_index_kind(context, term) for term in terms))


def _term_value(context: LoweringContext, term: Term) -> ex.Expr:
    parts: list[ex.Expr] = [context.value(HaloDepth())] if term.whole else []
    parts += [context.work.constant(part) for part in multiples(term)]
    if not parts:
        return ex.whole(term.constant)
    total = parts[0]
    for part in parts[1:]:
        total = ex.Binary(Operator.PLUS, total, part)
    if term.constant:
        total = ex.Binary(
            Operator.PLUS if term.constant > 0 else Operator.MINUS,
            total,
            ex.whole(abs(term.constant)),
        )
    return total


def of_index_kind(context: LoweringContext, value: ex.Expr) -> ex.Expr:
    """Return `value` with the kind of index variables, because `max` requires equal kinds."""
    kind = context.ops.integer.kind
    if not isinstance(value, ex.Literal) or kind is None:
        return value
    local = context.work.kind(kind)
    return value.with_kind(local)
