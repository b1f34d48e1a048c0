"""Halo exchanges, marks of what is clean, and reductions over ranks."""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.backend import abi_lfric as abi
from psyclone_storage.backend.lfric.bounds import depth_value
from psyclone_storage.backend.lfric.context import Context, bound, whole
from psyclone_storage.backend.lfric.data import proxy, value_type
from psyclone_storage.backend.lfric.device import carried_lines
from psyclone_storage.backend.lfric.exact_sums import begun, ended, is_exact
from psyclone_storage.backend.lfric.spaces import Space
from psyclone_storage.backend.workspace import Section
from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.ir.expr import (
    ArrayLiteral,
    Expr,
    Index,
    Keyword,
    Literal,
    Member,
    Name,
    Unary,
)
from psyclone_storage.ir.kernel import ReductionOp
from psyclone_storage.ir.region import NOTHING, Depth
from psyclone_storage.ir.schedule import Datum, GlobalReduction, HaloExchange, MarkHalo, Phase
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.unit import Assign, Branch, Call, Comment, Declare, If, Line

_PHASES = {
    Phase.WHOLE: abi.Field.EXCHANGE,
    Phase.START: abi.Field.START,
    Phase.FINISH: abi.Field.FINISH,
}
_LEAST = Depth.of(1)


def exchange_lines(context: Context, exchange: HaloExchange) -> tuple[Line, ...]:
    """Return a halo exchange, under a test of the dirty flag if only run time can tell.

    The annexed dofs alone are brought up to date by an exchange of one level.
    """
    datum = context.schedule.datum(exchange.datum)
    value = _levels(context, exchange, datum)
    exchanges = [
        line
        for component in _components(datum, exchange.component)
        for line in _exchange(context, exchange, component, value)
    ]
    return (*_explanation(exchange), *exchanges)


def joint_lines(context: Context, exchanges: tuple[HaloExchange, ...]) -> tuple[Line, ...]:
    """Return one call for exchanges of one phase, which asks itself which fields are dirty."""
    owners: list[Expr] = []
    depths: list[Expr] = []
    for exchange in exchanges:
        datum = context.schedule.datum(exchange.datum)
        value = _levels(context, exchange, datum)
        for owner in _proxies(context, datum, exchange.component):
            owners.append(owner)
            depths.append(value)
    fields, levels = ArrayLiteral(tuple(owners)), ArrayLiteral(tuple(depths))
    notes = dict.fromkeys(line for exchange in exchanges for line in _explanation(exchange))
    return (*notes, _TOGETHER, _joint_call(context, exchanges, (fields, levels)))


_TOGETHER = Comment("What is dirty of these goes in one message to each neighbour")


def _joint_call(
    context: Context, exchanges: tuple[HaloExchange, ...], arguments: tuple[Expr, Expr]
) -> Call:
    module = str(abi.JOINT_EXCHANGE.module)
    if exchanges[0].phase is Phase.WHOLE:
        exchange_fields = context.work.imports.local(module, abi.EXCHANGE_FIELDS)
        return Call(Name(exchange_fields), arguments)
    key = ("joint", frozenset((item.datum, item.component) for item in exchanges))
    wished = Declare("joint_exchange", abi.JOINT_EXCHANGE)
    both = context.work.variable(Section.COUNTERS, key, wished)
    if exchanges[0].phase is Phase.START:
        return Call(Member(both, abi.JointExchange.START), arguments)
    return Call(Member(both, abi.JointExchange.FINISH))


def _levels(context: Context, exchange: HaloExchange, datum: Datum) -> Expr:
    """Return the depth of an exchange; for annexed dofs alone it is 1."""
    depth = _LEAST if exchange.depth == NOTHING else exchange.depth
    return depth_value(context, depth, _space(datum))


def _explanation(exchange: HaloExchange) -> Iterator[Comment]:
    """Yield who needs the exchange and who made it necessary, for the first reason there is."""
    for reason in exchange.reasons[:1]:
        reader, writer = (uid.partition("@")[0] for uid in (reason.reader, reason.writer))
        yield Comment(f"{exchange.datum} is read by {reader} {reason.read}")
        if writer:
            yield Comment(f"and {writer} left {reason.written}")


def _exchange(
    context: Context, exchange: HaloExchange, component: int | None, depth: Expr
) -> tuple[Line, ...]:
    """Return the exchange of one component, with its transfers, which its guard is about, too."""
    datum = context.schedule.datum(exchange.datum)
    owner, levels = proxy(context, datum, component), (Keyword("depth", depth),)
    call = Call(Member(owner, _PHASES[exchange.phase]), levels)
    lines = carried_lines(context, exchange, component, call)
    if not exchange.guarded:
        return lines
    return (If((Branch(bound(owner, abi.Field.IS_DIRTY, *levels), lines),)),)


def mark_lines(context: Context, mark: MarkHalo) -> tuple[Line, ...]:
    """Return the record of which levels of a halo a loop left dirty, and which clean."""
    datum = context.schedule.datum(mark.datum)
    lines: list[Line] = []
    for owner in _proxies(context, datum, mark.component):
        if mark.dirty:
            lines.append(Call(Member(owner, abi.Field.SET_DIRTY)))
        if mark.clean != NOTHING:
            depth = depth_value(context, mark.clean, _space(datum))
            lines.append(Call(Member(owner, abi.Field.SET_CLEAN), (depth,)))
    return tuple(lines)


def _space(datum: Datum) -> Space:
    """Return the space of a field under a key of its own, which is enough to find its mesh."""
    return Space((datum.name, ""), datum.name, datum, "")


def _proxies(context: Context, datum: Datum, component: int | None) -> tuple[Expr, ...]:
    """Return the proxies of one component, or of all if none is named."""
    return tuple(proxy(context, datum, part) for part in _components(datum, component))


def _components(datum: Datum, component: int | None) -> tuple[int | None, ...]:
    """Return one component, or all if none is named."""
    if component is not None or datum.vector == 1:
        return (component,)
    return tuple(range(1, datum.vector + 1))


# ---------------------------------------------------------------------------- reductions


def reduction_start(context: Context, datum: Datum, operation: ReductionOp) -> Assign:
    """Return the assignment of what leaves every other operand as it is, or of an empty exact sum.

    A rank without dofs contributes just that, so it is 0 for a sum, the largest value for a
    minimum, and the least for a maximum.
    """
    if is_exact(context, datum, operation):
        return begun(context, datum)
    name = Name(datum.name)
    largest = Index(Name("huge"), (name,))
    match operation:
        case ReductionOp.SUM:
            return Assign(name, _zero(context, value_type(datum)))
        case ReductionOp.MIN:
            return Assign(name, largest)
        case ReductionOp.MAX:
            return Assign(name, Unary("-", largest))


def reduction_lines(context: Context, reduction: GlobalReduction) -> tuple[Line, ...]:
    """Return the combination of the partial values of all ranks.

    Raises `CompileError` G001 if the infrastructure cannot reduce values of that kind.
    """
    datum = context.schedule.datum(reduction.datum)
    if is_exact(context, datum, reduction.op):
        return (ended(context, datum),)
    kind = value_type(datum).kind or ""
    if kind not in abi.REDUCTION_TYPES:
        raise CompileError(
            Diagnostic(
                "G001",
                f"The infrastructure has no reduction over ranks for '{datum.name}', a value "
                f"of kind '{kind}'.",
                datum.span,
                hint=f"Declare it with one of the kinds {', '.join(sorted(abi.REDUCTION_TYPES))}.",
            )
        )
    wished = Declare(f"{datum.name}_on_ranks", abi.REDUCTION_TYPES[kind])
    partial = context.work.variable(Section.COUNTERS, ("reduction", datum.name), wished)
    return (
        Assign(Member(partial, abi.Scalar.VALUE), Name(datum.name)),
        Assign(Name(datum.name), bound(partial, abi.REDUCTIONS[reduction.op])),
    )


def _zero(context: Context, data_type: ScalarType) -> Expr:
    if data_type.intrinsic is Intrinsic.INTEGER:
        return whole(0)
    kind = data_type.kind and context.work.kind(data_type.kind)
    return Literal(f"0.0_{kind}" if kind else "0.0", Intrinsic.REAL, kind)
