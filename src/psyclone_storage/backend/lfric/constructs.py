"""Statements under a directive: the clauses on data that follow from them, and partial sums.

What a thread needs for itself is read off the lowered lines: the variables that loops count
and the scalars that are assigned, but for those that are reduced. All else is shared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from psyclone_storage.backend import abi_lfric as abi
from psyclone_storage.backend.lfric.context import Context, colons, whole
from psyclone_storage.backend.lfric.data import value_type
from psyclone_storage.backend.lfric.formulas import combined
from psyclone_storage.backend.workspace import Section
from psyclone_storage.ir.expr import Binary, Expr, Index, Name
from psyclone_storage.ir.kernel import Access, ReductionOp
from psyclone_storage.ir.schedule import Construct, Datum
from psyclone_storage.ir.schedule import Directive as Kind
from psyclone_storage.ir.unit import Allocate, Assign, Declare, Do, If, Line
from psyclone_storage.ir.unit import Directive as Printed
from psyclone_storage.ir.walk import kernel_calls, statements

_OPERATORS = {ReductionOp.SUM: "+", ReductionOp.MIN: "min", ReductionOp.MAX: "max"}

PADDING = 8
"""Values from one partial sum to the next, so that no two threads write to one line of a cache."""

Reduced = tuple[Datum, ReductionOp]


def with_partial_sums(context: Context, construct: Construct) -> Context:
    """Return the context for what is inside `construct`, whose threads may sum on their own."""
    if not construct.reproducible:
        return context
    sums = {datum.name: _partial(context, datum) for datum, _ in _reduced(context, construct)}
    return replace(context, partial_sums={**context.partial_sums, **sums})


def construct_lines(
    context: Context, construct: Construct, lines: tuple[Line, ...]
) -> tuple[Line, ...]:
    """Return `lines` between the directives at the head and the foot of `construct`.

    Reductions that are to be reproducible are made ready before a region of threads, and
    combined after it.
    """
    kind = construct.directive
    ordered = [
        item
        for inside in (construct, *statements(construct))
        if isinstance(inside, Construct) and inside.reproducible
        for item in _reduced(context, inside)
    ]
    clauses = [*_data_clauses(context, construct, lines), *construct.clauses]
    head = Printed(" ".join((kind.value, ", ".join(clauses))).strip())
    foot = Printed(kind.value.replace("omp", "omp end", 1))
    if kind is not Kind.OMP_PARALLEL or not ordered:
        return (head, *lines, foot)
    number = Assign(_thread(context), _one_more(_omp(context, "omp_get_thread_num")))
    before = [line for datum, _ in ordered for line in _made_ready(context, datum)]
    after = [_summed(context, datum, op) for datum, op in ordered]
    return (*before, head, number, *lines, foot, *after)


# ---------------------------------------------------------------------------- clauses


def _data_clauses(context: Context, construct: Construct, lines: tuple[Line, ...]) -> Iterator[str]:
    reductions: dict[ReductionOp, list[str]] = {}
    if construct.directive.shares_work and not construct.reproducible:
        for datum, op in _reduced(context, construct):
            reductions.setdefault(op, []).append(datum.name)
    if construct.directive.opens_threads:
        scalars = {datum.name for datum, _ in _reduced(context, construct)}
        own = [name for name in dict.fromkeys(_assigned(lines)) if name not in scalars]
        if any(_is_reproducible(item) for item in statements(construct)):
            own.append(_thread(context).text)
        yield "default(shared)"
        yield f"private({', '.join(own)})"
    for op, names in reductions.items():
        yield f"reduction({_OPERATORS[op]}:{', '.join(names)})"


def _is_reproducible(item: object) -> bool:
    return isinstance(item, Construct) and item.reproducible


def _assigned(lines: Iterable[Line]) -> Iterator[str]:
    """Yield the names of scalars that `lines` count or assign, in order."""
    for line in lines:
        match line:
            case Do(variable=variable, body=body):
                yield variable
                yield from _assigned(body)
            case If(branches=branches, otherwise=otherwise):
                for branch in branches:
                    yield from _assigned(branch.body)
                yield from _assigned(otherwise)
            case Assign(target=Name(text)):
                yield text


def _reduced(context: Context, construct: Construct) -> Iterator[Reduced]:
    """Yield the scalars that the calls inside `construct` reduce to."""
    for call in kernel_calls(construct):
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
        yield Allocate((Index(array, (whole(PADDING), threads)),))
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
