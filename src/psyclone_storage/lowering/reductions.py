"""Scalars that loops reduce to: how they begin, partial sums of threads, how they end.

The infrastructure makes sums without rounding: its own accumulator replaces the scalar.
"""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.base.records import replace
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.kernel import Access, ReductionOp
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.runtime_ops import BeginExactSum, EndExactSum, Reduce
from psyclone_storage.ir.schedule import Datum, DirectiveRegion, GlobalReduction, Loop
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.unit import Allocate, Assign, Declare, Do, Line
from psyclone_storage.ir.walk import kernel_calls, statements
from psyclone_storage.lowering.infrastructure import LoweringContext
from psyclone_storage.lowering.routine_builder import (
    SetupSection,
    colons,
)

Reduced = tuple[Datum, ReductionOp]


def reduced(context: LoweringContext, block: Loop | DirectiveRegion) -> Iterator[Reduced]:
    """Yield the scalars that the calls inside `block` reduce to."""
    for call in kernel_calls(block):
        formula = call.kernel.formula
        if formula is None or formula.reduction is None:
            continue
        for at, described in enumerate(call.kernel.args):
            if described.access is Access.REDUCTION:
                yield context.datum(call, at), formula.reduction


def is_exact(context: LoweringContext, datum: Datum, operation: ReductionOp) -> bool:
    """Return whether `datum` is reduced to by an exact sum.

    Sums of integers are exact as they are, a minimum and a maximum do not depend on an order.
    """
    if operation is not ReductionOp.SUM:
        return False
    if not context.ops.exact_sums and not _is_reproducible(context, datum):
        return False
    return _scalar_type(datum).intrinsic is Intrinsic.REAL


def _is_reproducible(context: LoweringContext, datum: Datum) -> bool:
    """Return whether a sum is to be reproducible, and only an exact one is."""
    return not context.ops.sums_in_order and any(
        isinstance(region, DirectiveRegion)
        and region.options.reproducible
        and any(one.name == datum.name for one, _ in reduced(context, region))
        for region in statements(context.schedule)
    )


def combine_partial(operation: ReductionOp, target: ex.Expr, value: ex.Expr) -> ex.Expr:
    """Return the partial result `target` with one more value in it."""
    match operation:
        case ReductionOp.SUM:
            return ex.Binary(Operator.PLUS, target, value)
        case ReductionOp.MIN:
            return ex.intrinsic("min", target, value)
        case ReductionOp.MAX:
            return ex.intrinsic("max", target, value)
        case _:
            raise InternalError(f"No builtin reduces by '{operation.value}'.")


# ---------------------------------------------------------------------------- begin and end


def starts(context: LoweringContext, block: Loop | DirectiveRegion) -> Iterator[Line]:
    """Yield what each scalar that `block` reduces to is before it."""
    for datum, operation in reduced(context, block):
        if is_exact(context, datum, operation):
            yield from context.lines(BeginExactSum(datum))
        else:
            yield Assign(ex.Name(datum.name), _neutral(context, datum, operation))


def end_exact_sums(context: LoweringContext, block: Loop | DirectiveRegion) -> Iterator[Line]:
    """Yield the end of each exact sum that no reduction over ranks will end."""
    for datum, operation in reduced(context, block):
        if not context.schedule.distributed and is_exact(context, datum, operation):
            yield from context.lines(EndExactSum(datum, over_ranks=False))


def reduction_lines(context: LoweringContext, reduction: GlobalReduction) -> tuple[Line, ...]:
    """Return the combination of the values of all ranks."""
    datum = context.schedule.datum(reduction.datum)
    if is_exact(context, datum, reduction.op):
        return context.lines(EndExactSum(datum, over_ranks=context.schedule.distributed))
    return context.lines(Reduce(datum, reduction.op))


def _neutral(context: LoweringContext, datum: Datum, operation: ReductionOp) -> ex.Expr:
    """Return the neutral element of a reduction.

    A rank without dofs contributes just that, so it is 0 for a sum, the largest value for a
    minimum, and the least for a maximum.
    """
    largest = ex.intrinsic("huge", ex.Name(datum.name))
    match operation:
        case ReductionOp.SUM:
            return _zero(context, _scalar_type(datum))
        case ReductionOp.MIN:
            return largest
        case ReductionOp.MAX:
            return ex.Unary(Operator.MINUS, largest)
        case _:
            raise InternalError(f"No builtin reduces by '{operation.value}'.")


def _zero(context: LoweringContext, data_type: ScalarType) -> ex.Expr:
    if data_type.intrinsic is Intrinsic.INTEGER:
        return ex.whole(0)
    kind = data_type.kind and context.work.kind(data_type.kind)
    return ex.Literal(f"0.0_{kind}" if kind else "0.0", Intrinsic.REAL, kind)


def _scalar_type(datum: Datum) -> ScalarType:
    if not isinstance(datum.type, ScalarType):
        raise InternalError(f"'{datum.name}' is reduced to, but is no scalar.")
    return datum.type


# ---------------------------------------------------------------------------- partial sums


def sums_in_order(context: LoweringContext, region: DirectiveRegion) -> bool:
    """Return whether threads have sums of their own in `region`, combined in their order."""
    return region.options.reproducible and context.ops.sums_in_order


def with_partial_sums(context: LoweringContext, region: DirectiveRegion) -> LoweringContext:
    """Return the context for what is inside `region`, whose threads may sum on their own."""
    if not sums_in_order(context, region):
        return context
    sums = {
        datum.name: _partial(context, datum) for datum, _ in ordered_reductions(context, region)
    }
    return replace(context, partial_sums={**context.partial_sums, **sums})


def ordered_reductions(context: LoweringContext, region: DirectiveRegion) -> Iterator[Reduced]:
    """Yield the scalars for which threads have partial sums in a reproducible `region`."""
    for datum, op in reduced(context, region):
        if not is_exact(context, datum, op):
            yield datum, op


def thread_number(context: LoweringContext) -> Assign:
    """Return the assignment of the number of this thread, from 1."""
    number = ex.CallFunction(
        ex.Name(context.work.imports.local("omp_lib", "omp_get_thread_num")), ()
    )
    return Assign(context.counter("thread"), ex.Binary(Operator.PLUS, number, ex.whole(1)))


def initial_partial_sums(context: LoweringContext, datum: Datum) -> Iterator[Line]:
    """Yield the making of the partial sums, each with the start value that `datum` has by now."""
    array = _partials(context, datum)
    if context.work.first(("allocated", array)):
        threads = ex.CallFunction(
            ex.Name(context.work.imports.local("omp_lib", "omp_get_max_threads")), ()
        )
        yield Allocate((ex.Extents(array, (ex.whole(context.ops.padding), threads)),))
        context.work.releases(array)
    yield Assign(array, ex.Name(datum.name))


def summed(context: LoweringContext, datum: Datum, op: ReductionOp) -> Do:
    """Return the loop that combines the partial sums in the order of the threads."""
    array, name = _partials(context, datum), ex.Name(datum.name)
    last = ex.intrinsic("size", array, ex.whole(2))
    value = combine_partial(op, name, _partial(context, datum))
    return Do(context.counter("thread"), ex.whole(1), last, (Assign(name, value),))


def _partials(context: LoweringContext, datum: Datum) -> ex.Name:
    """Return the array of what each thread has found of `datum`, (padding, thread)."""
    name = f"{datum.name}_of_threads"
    wished = Declare(name, _scalar_type(datum), ("allocatable",), colons(2))
    return context.work.variable(SetupSection.COUNTERS, ("partial sums", datum.name), wished)


def _partial(context: LoweringContext, datum: Datum) -> ex.Expr:
    return ex.Element(_partials(context, datum), (ex.whole(1), context.counter("thread")))
