"""Exact sums of reals, rounded once at the end.

An accumulator of the infrastructure replaces the scalar. Threads and ranks add to it in any order
with the same result. This module handles its variable, initialisation, additions and end. Integer
sums are exact anyway, and minimum and maximum do not depend on the order.
"""

from __future__ import annotations

from psyclone_storage.infrastructures.lfric import EXACT_KIND
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.runtime_ops import AddExactly, BeginExactSum, EndExactSum
from psyclone_storage.ir.schedule import Datum
from psyclone_storage.ir.unit import Assign, Call, Declare, Line
from psyclone_storage.lowering.infrastructure import LoweringContext
from psyclone_storage.lowering.routine_builder import SetupSection
from psyclone_storage.targets.lfric_fortran import abi
from psyclone_storage.targets.lfric_fortran.field_values import data_type
from psyclone_storage.targets.lfric_fortran.type_bound_names import bound


def exact_sum(context: LoweringContext, datum: Datum) -> ex.Name:
    """Return the variable of the accumulator that replaces the scalar `datum`."""
    wished = Declare(f"{datum.name}_exact", abi.EXACT_SUM)
    return context.work.variable(SetupSection.COUNTERS, ("exact sum", datum.name), wished)


def begin_exact_sum(context: LoweringContext, asked: BeginExactSum) -> tuple[Line, ...]:
    """Return the assignment that resets the sum."""
    name = context.work.imports.local(str(abi.EXACT_SUM.module), abi.EXACT_SUM.name)
    return (Assign(exact_sum(context, asked.datum), ex.StructureConstructor(ex.Name(name), ())),)


def add_exactly(context: LoweringContext, asked: AddExactly) -> tuple[Line, ...]:
    """Return the call that adds one value, converted to the accumulator's kind."""
    widened = _as_real(asked.value, context.work.kind(EXACT_KIND))
    return (
        Call(ex.Member(exact_sum(context, asked.datum), abi.ExactSumProcedure.ADD), (widened,)),
    )


def end_exact_sum(context: LoweringContext, asked: EndExactSum) -> tuple[Line, ...]:
    """Return the assignment of the rounded sum to the scalar, over all ranks if distributed."""
    datum = asked.datum
    procedure = abi.ExactSumProcedure.SUM if asked.over_ranks else abi.ExactSumProcedure.SUM_OF_RANK
    total = bound(exact_sum(context, datum), procedure)
    kind = data_type(datum).kind
    return (Assign(ex.Name(datum.name), _as_real(total, kind and context.work.kind(kind))),)


def _as_real(value: ex.Expr, kind: str | None) -> ex.Expr:
    """Return `value` converted to a real kind; without one, to default real."""
    return ex.intrinsic("real", *((value, ex.Keyword("kind", ex.Name(kind))) if kind else (value,)))
