"""Sums of reals that are made without rounding, and rounded once (ADR 0021).

In the place of the scalar stands a long accumulator of the infrastructure, to which threads and
ranks add in any order with the same result. Owns its variable and the statements that begin, add
and end. Sums of integers are exact as they are, a minimum and a maximum do not depend on an order.
"""

from __future__ import annotations

from psyclone_storage.backend import abi_lfric as abi
from psyclone_storage.backend.lfric.context import Context, bound
from psyclone_storage.backend.lfric.data import value_type
from psyclone_storage.backend.workspace import Section
from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.ir.expr import Expr, Index, Keyword, Member, Name
from psyclone_storage.ir.kernel import ReductionOp
from psyclone_storage.ir.schedule import Datum
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.ir.unit import Assign, Call, Declare, DirectiveLine


def is_exact(context: Context, datum: Datum, operation: ReductionOp) -> bool:
    """Return whether `datum` is reduced to by an exact sum."""
    summed = operation is ReductionOp.SUM and value_type(datum).intrinsic is Intrinsic.REAL
    return context.exact_sums and summed


def exact_sum(context: Context, datum: Datum) -> Name:
    """Return the variable that is summed into in the place of the scalar `datum`."""
    wished = Declare(f"{datum.name}_exact", abi.EXACT_SUM)
    return context.work.variable(Section.COUNTERS, ("exact sum", datum.name), wished)


def begun(context: Context, datum: Datum) -> Assign:
    """Return the assignment of an empty sum."""
    return Assign(exact_sum(context, datum), Index(Name(_type_name(context)), ()))


def added(context: Context, datum: Datum, value: Expr) -> Call:
    """Return the call that adds one value, which is widened before."""
    widened = _as_real(value, context.work.kind(abi.EXACT_KIND))
    return Call(Member(exact_sum(context, datum), abi.ExactSum.ADD), (widened,))


def ended(context: Context, datum: Datum) -> Assign:
    """Return the assignment of the rounded sum to the scalar: over all ranks, if there are any."""
    procedure = abi.ExactSum.SUM if context.schedule.distributed else abi.ExactSum.SUM_OF_RANK
    total = bound(exact_sum(context, datum), procedure)
    kind = value_type(datum).kind
    return Assign(Name(datum.name), _as_real(total, kind and context.work.kind(kind)))


def declare_reduction(context: Context) -> None:
    """Tell the compiler how the sums of threads become one."""
    name = _type_name(context)
    context.work.specify(
        DirectiveLine(
            f"omp declare reduction(+ : {name} : omp_out = omp_out + omp_in)"
            f" initializer(omp_priv = {name}())"
        )
    )


def refusal(datum: Datum) -> CompileError:
    """Return what is said where a device should sum exactly to `datum` (G002)."""
    return CompileError(
        Diagnostic(
            "G002",
            f"A device cannot sum exactly to '{datum.name}', as EXACT_SUMS asks.",
            datum.span,
            hint="Leave the loop that sums on the host, or set EXACT_SUMS = false.",
        )
    )


def _type_name(context: Context) -> str:
    return context.work.imports.local(str(abi.EXACT_SUM.module), abi.EXACT_SUM.name)


def _as_real(value: Expr, kind: str | None) -> Expr:
    """Return `value` as a real of a kind; without one, as a default real."""
    return Index(Name("real"), (value, Keyword("kind", Name(kind))) if kind else (value,))
