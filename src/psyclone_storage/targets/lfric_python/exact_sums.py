"""Exact sums of reals, rounded once at the end.

A runtime object replaces the scalar; loops in C add to its digits. Python code creates it between
the loops, and requests its sum over all ranks.
"""

from __future__ import annotations

from psyclone_storage.infrastructures.lfric import SINGLE
from psyclone_storage.ir.expr import CallFunction, Member, Name, StructureConstructor, whole
from psyclone_storage.ir.runtime_ops import AddExactly, BeginExactSum, EndExactSum
from psyclone_storage.ir.schedule import Datum
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.unit import Assign, Call, Declare, Line
from psyclone_storage.languages.c.exact_sums import ADD_EXACTLY, LENGTH
from psyclone_storage.lowering.infrastructure import LoweringContext
from psyclone_storage.lowering.routine_builder import SetupSection
from psyclone_storage.targets.lfric_python import abi
from psyclone_storage.targets.lfric_python.runtime_values import ranks_of

_DIGITS = ScalarType(Intrinsic.INTEGER, "8")


def runtime_exact_sum(context: LoweringContext, datum: Datum) -> Name:
    """Return the variable of the accumulator that replaces the scalar `datum`."""
    wished = Declare(f"{datum.name}_exact", _DIGITS, (), (whole(LENGTH),))
    return context.work.variable(SetupSection.COUNTERS, ("exact sum", datum.name), wished)


def is_exact_sum(item: Declare) -> bool:
    """Return whether a variable is an exact sum."""
    return item.type == _DIGITS and item.shape == (whole(LENGTH),)


def begin_runtime_sum(context: LoweringContext, asked: BeginExactSum) -> tuple[Line, ...]:
    """Return the assignment that resets the sum."""
    return (
        Assign(
            runtime_exact_sum(context, asked.datum), StructureConstructor(Name(abi.EXACT_SUM), ())
        ),
    )


def add_to_runtime_sum(context: LoweringContext, asked: AddExactly) -> tuple[Line, ...]:
    """Return the call that adds one value."""
    return (Call(Name(ADD_EXACTLY), (runtime_exact_sum(context, asked.datum), asked.value)),)


def end_runtime_sum(context: LoweringContext, asked: EndExactSum) -> tuple[Line, ...]:
    """Return the assignment of the rounded sum to the scalar, over all ranks if distributed."""
    found = runtime_exact_sum(context, asked.datum)
    total = CallFunction(Member(found, abi.SUM_OF_RANK), ())
    if asked.over_ranks:
        total = CallFunction(Member(found, abi.SUM), (ranks_of(context, asked.datum),))
    if context.ops.value_type(asked.datum) == SINGLE:
        total = CallFunction(Member(Name("np"), "float32"), (total,))
    return (Assign(Member(Name(asked.datum.name), abi.VALUE), total),)
