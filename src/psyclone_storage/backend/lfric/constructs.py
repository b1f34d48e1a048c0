"""Statements under a directive: which scalars they reduce, and partial sums."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from psyclone_storage.backend import abi_lfric as abi
from psyclone_storage.backend.constructs import Inside, enclosed
from psyclone_storage.backend.lfric.context import Context, colons, whole
from psyclone_storage.backend.lfric.data import value_type
from psyclone_storage.backend.lfric.device import region_items
from psyclone_storage.backend.lfric.exact_sums import (
    declare_reduction,
    exact_sum,
    is_exact,
    refusal,
)
from psyclone_storage.backend.lfric.formulas import combined
from psyclone_storage.backend.workspace import Section
from psyclone_storage.ir.directive import Directive as Kind
from psyclone_storage.ir.expr import Binary, Expr, Index, Name
from psyclone_storage.ir.kernel import Access, ReductionOp
from psyclone_storage.ir.schedule import Datum, DirectiveRegion, Loop
from psyclone_storage.ir.unit import Allocate, Assign, Declare, Do, Line
from psyclone_storage.ir.walk import kernel_calls, statements

Reduced = tuple[Datum, ReductionOp]


def with_partial_sums(context: Context, construct: DirectiveRegion) -> Context:
    """Return the context for what is inside `construct`, whose threads may sum on their own."""
    if not construct.reproducible:
        return context
    sums = {datum.name: _partial(context, datum) for datum, _ in _in_order(context, construct)}
    return replace(context, partial_sums={**context.partial_sums, **sums})


def construct_lines(
    context: Context, construct: DirectiveRegion, lines: tuple[Line, ...]
) -> tuple[Line, ...]:
    """Return `lines` between the directives at the head and the foot of `construct`.

    Reductions that are to be reproducible are made ready before a region of threads, and
    combined after it; exact sums are so in any order.
    """
    ordered = [
        item
        for inside in (construct, *statements(construct))
        if isinstance(inside, DirectiveRegion) and inside.reproducible
        for item in _in_order(context, inside)
    ]
    opens = construct.directive is Kind.OMP_PARALLEL and bool(ordered)
    own = (_thread(context).text,) if opens else ()
    scalars = {datum.name: op for datum, op in _combined(context, construct)}
    scalars |= dict(_exact(context, construct))
    moves = construct.directive in (Kind.ACC_DATA, Kind.OMP_TARGET)
    items = region_items(context, construct, lines) if moves else ()
    head, *rest = enclosed(construct, Inside(lines, scalars, own, items))
    if not opens:
        return (head, *rest)
    number = Assign(_thread(context), _one_more(_omp(context, "omp_get_thread_num")))
    before = [line for datum, _ in ordered for line in _made_ready(context, datum)]
    after = [_summed(context, datum, op) for datum, op in ordered]
    return (*before, head, number, *rest, *after)


def _in_order(context: Context, construct: DirectiveRegion) -> Iterator[Reduced]:
    """Yield the scalars for which threads have partial sums in a reproducible `construct`."""
    for datum, op in reduced(context, construct):
        if not is_exact(context, datum, op):
            yield datum, op


def _combined(context: Context, construct: DirectiveRegion) -> Iterator[Reduced]:
    """Yield the scalars that a clause of `construct` has to combine as they are."""
    return iter(()) if construct.reproducible else _in_order(context, construct)


def _exact(context: Context, construct: DirectiveRegion) -> Iterator[tuple[str, ReductionOp]]:
    """Yield the exact sums, by their variables, that a clause of `construct` has to combine."""
    for datum, op in reduced(context, construct):
        if is_exact(context, datum, op):
            if construct.directive.on_device:
                raise refusal(datum)
            if construct.directive.shares_work:
                declare_reduction(context)
            yield exact_sum(context, datum).text, op


def reduced(context: Context, block: Loop | DirectiveRegion) -> Iterator[Reduced]:
    """Yield the scalars that the calls inside `block` reduce to."""
    for call in kernel_calls(block):
        formula = call.kernel.formula
        if formula is None or formula.reduction is None:
            continue
        for at, described in enumerate(call.kernel.args):
            if described.access is Access.REDUCTION:
                yield context.datum(call, at), formula.reduction


# ---------------------------------------------------------------------------- partial sums


def _partials(context: Context, datum: Datum) -> Name:
    """Return the array of what each thread has found of `datum`, (padding, thread)."""
    wished = Declare(f"{datum.name}_of_threads", value_type(datum), ("allocatable",), colons(2))
    return context.work.variable(Section.COUNTERS, ("partial sums", datum.name), wished)


def _partial(context: Context, datum: Datum) -> Expr:
    return Index(_partials(context, datum), (whole(1), _thread(context)))


def _thread(context: Context) -> Name:
    return context.work.variable(Section.COUNTERS, "thread", Declare("thread", abi.INTEGER))


def _made_ready(context: Context, datum: Datum) -> Iterator[Line]:
    """Yield the making of the partial sums, each with the start value that `datum` has by now."""
    array = _partials(context, datum)
    if context.work.first(("allocated", array)):
        threads = _omp(context, "omp_get_max_threads")
        yield Allocate((Index(array, (whole(context.padding), threads)),))
        context.work.releases(array)
    yield Assign(array, Name(datum.name))


def _summed(context: Context, datum: Datum, op: ReductionOp) -> Do:
    """Return the loop that combines the partial sums in the order of the threads."""
    array, name = _partials(context, datum), Name(datum.name)
    last = Index(Name("size"), (array, whole(2)))
    value = combined(op, name, _partial(context, datum))
    return Do(_thread(context).text, whole(1), last, (Assign(name, value),))


def _omp(context: Context, function: str) -> Expr:
    return Index(Name(context.work.imports.local("omp_lib", function)), ())


def _one_more(value: Expr) -> Expr:
    return Binary("+", value, whole(1))
