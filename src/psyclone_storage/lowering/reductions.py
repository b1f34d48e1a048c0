"""Lowering of reductions: initial values, partial sums of threads and final values.

The infrastructure implements exact sums with an accumulator object instead of the scalar.
"""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.base.records import replace
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.kernel import Access, ReductionOp
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.runtime_ops import BeginExactSum, EndExactSum, Reduce, ReducePoints
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
    """Yield the scalars that calls inside `block` reduce, with the operations."""
    for call in kernel_calls(block):
        formula = call.kernel.formula
        if formula is None or formula.reduction is None:
            continue
        for at, described in enumerate(call.kernel.args):
            if described.access is Access.REDUCTION:
                yield context.datum(call, at), formula.reduction


def is_exact(context: LoweringContext, datum: Datum, operation: ReductionOp) -> bool:
    """Return whether `datum` is an exact sum.

    Integer sums are exact anyway, and minimum and maximum do not depend on the order.
    """
    if operation is not ReductionOp.SUM:
        return False
    if not context.ops.exact_sums and not _is_reproducible(context, datum):
        return False
    return _scalar_type(datum).intrinsic is Intrinsic.REAL


def _is_reproducible(context: LoweringContext, datum: Datum) -> bool:
    """Return whether a sum must be reproducible and therefore exact."""
    return not context.ops.sums_in_order and any(
        isinstance(region, DirectiveRegion)
        and region.options.reproducible
        and any(one.name == datum.name for one, _ in reduced(context, region))
        for region in statements(context.schedule)
    )


def combine_partial(operation: ReductionOp, target: ex.Expr, value: ex.Expr) -> ex.Expr:
    """Return the combination of the partial result `target` with `value`."""
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
    """Yield statements that initialise the reductions of `block`."""
    for datum, operation in reduced(context, block):
        if is_exact(context, datum, operation):
            yield from context.lines(BeginExactSum(datum))
        else:
            yield Assign(ex.Name(datum.name), _neutral(context, datum, operation))


def is_reduction(loop: Loop) -> bool:
    """Return whether the calls in `loop` reduce fields."""
    calls = kernel_calls(loop)
    return all(call.kernel.formula and call.kernel.formula.reduction for call in calls)


def points_reduction(context: LoweringContext, loop: Loop) -> tuple[Line, ...]:
    """Return the statements of a reduction over grid points, which the runtime computes.

    Without distributed memory, it is complete afterwards.
    """
    (call,) = kernel_calls(loop)
    ((datum, operation),) = reduced(context, loop)
    lines = context.lines(ReducePoints(call, is_exact(context, datum, operation)))
    return (*lines, *end_exact_sums(context, loop))


def end_exact_sums(context: LoweringContext, block: Loop | DirectiveRegion) -> Iterator[Line]:
    """Yield statements that finish exact sums without a reduction over ranks."""
    for datum, operation in reduced(context, block):
        if not context.schedule.distributed and is_exact(context, datum, operation):
            yield from context.lines(EndExactSum(datum, over_ranks=False))


def reduction_lines(context: LoweringContext, reduction: GlobalReduction) -> tuple[Line, ...]:
    """Return the statements of a reduction over all ranks."""
    datum = context.schedule.datum(reduction.datum)
    if is_exact(context, datum, reduction.op):
        return context.lines(EndExactSum(datum, over_ranks=context.schedule.distributed))
    return context.lines(Reduce(datum, reduction.op))


def _neutral(context: LoweringContext, datum: Datum, operation: ReductionOp) -> ex.Expr:
    """Return the neutral element of a reduction: 0, the largest or the smallest value.

    Ranks without dofs contribute it.
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
    """Return whether threads have partial sums in `region` that are combined in thread order."""
    return region.options.reproducible and context.ops.sums_in_order


def with_partial_sums(context: LoweringContext, region: DirectiveRegion) -> LoweringContext:
    """Return the context for the statements inside `region`, with its partial sums."""
    if not sums_in_order(context, region):
        return context
    sums = {
        datum.name: _partial(context, datum) for datum, _ in ordered_reductions(context, region)
    }
    return replace(context, partial_sums={**context.partial_sums, **sums})


def ordered_reductions(context: LoweringContext, region: DirectiveRegion) -> Iterator[Reduced]:
    """Yield the scalars that have partial sums in a reproducible `region`."""
    for datum, op in reduced(context, region):
        if not is_exact(context, datum, op):
            yield datum, op


def thread_number(context: LoweringContext) -> Assign:
    """Return the assignment of the thread number, counted from 1."""
    number = ex.CallFunction(
        ex.Name(context.work.imports.local("omp_lib", "omp_get_thread_num")), ()
    )
    return Assign(context.counter("thread"), ex.Binary(Operator.PLUS, number, ex.whole(1)))


def initial_partial_sums(context: LoweringContext, datum: Datum) -> Iterator[Line]:
    """Yield the statements that allocate partial sums and set them to the current value."""
    array = _partials(context, datum)
    if context.work.first(("allocated", array)):
        threads = ex.CallFunction(
            ex.Name(context.work.imports.local("omp_lib", "omp_get_max_threads")), ()
        )
        yield Allocate((ex.Extents(array, (ex.whole(context.ops.padding), threads)),))
        context.work.releases(array)
    yield Assign(array, ex.Name(datum.name))


def summed(context: LoweringContext, datum: Datum, op: ReductionOp) -> Do:
    """Return the loop that combines partial sums in thread order."""
    array, name = _partials(context, datum), ex.Name(datum.name)
    last = ex.intrinsic("size", array, ex.whole(2))
    value = combine_partial(op, name, _partial(context, datum))
    return Do(context.counter("thread"), ex.whole(1), last, (Assign(name, value),))


def _partials(context: LoweringContext, datum: Datum) -> ex.Name:
    """Return the array of partial sums of `datum`, with shape (padding, thread)."""
    name = f"{datum.name}_of_threads"
    wished = Declare(name, _scalar_type(datum), ("allocatable",), colons(2))
    return context.work.variable(SetupSection.COUNTERS, ("partial sums", datum.name), wished)


def _partial(context: LoweringContext, datum: Datum) -> ex.Expr:
    return ex.Element(_partials(context, datum), (ex.whole(1), context.counter("thread")))
