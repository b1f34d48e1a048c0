"""Common parts of the tables for meshes in Python: data, numbers and arrays of the set-up.

A field vector is a Python sequence, whose items are counted from 0.
"""

from __future__ import annotations

from collections.abc import Hashable

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.source import Span
from psyclone_storage.infrastructures.lfric import INTEGER
from psyclone_storage.ir.expr import Element, Expr, Member, Name, whole
from psyclone_storage.ir.schedule import Datum
from psyclone_storage.ir.types import ScalarType
from psyclone_storage.ir.unit import Declare
from psyclone_storage.ir.walk import kernel_calls
from psyclone_storage.lowering.infrastructure import LoweringContext
from psyclone_storage.lowering.routine_builder import SetupSection, colons
from psyclone_storage.targets.lfric_python import abi

_IN_FORTRAN = "Leave this call in a program in Fortran."


def no_form(what: str, span: Span | None, hint: str = _IN_FORTRAN) -> CompileError:
    """Return the error for a feature that the Python runtime does not support (G010)."""
    message = f"The runtime for LFRic in Python has no {what}."
    return CompileError(Diagnostic("G010", message, span, hint=hint))


EXTENTS_OF = "extents of "
"""An attribute of a variable that has the extents of an array which is passed, with its name."""


def component_of(datum: Datum, component: int | None) -> Expr:
    """Return the object of a datum, or one of the fields of a vector."""
    if datum.vector <= 1:
        return Name(datum.name)
    return Element(Name(datum.name), (whole((component or 1) - 1),))


def ranks_of(context: LoweringContext, scalar: Datum) -> Expr:
    """Return the communicator over which a scalar is reduced: that of a field of the same call."""
    field = next(
        context.of(actual)
        for call in kernel_calls(context.schedule)
        if any(one.datum == scalar.name for one in call.args)
        for described, actual in zip(call.kernel.args, call.args, strict=True)
        if not described.kind.is_scalar
    )
    return Member(Member(component_of(field, None), abi.MESH), abi.RANKS)


def runtime_data_array(
    context: LoweringContext, datum: Datum, component: int | None = None
) -> Name:
    """Return the value array of a field, a field-vector component or an operator."""
    part = f"_{component or 1}" if datum.vector > 1 else ""
    rank = 3 if datum.kind is not None and datum.kind.is_operator else 1
    wished = Declare(f"{datum.name}{part}_data", context.ops.value_type(datum), (), colons(rank))
    key = ("values", datum.name, component or 1)
    return context.work.variable(SetupSection.COUNTERS, key, wished)


def runtime_number(
    context: LoweringContext, section: SetupSection, key: Hashable, name: str, value: Expr
) -> Name:
    """Return the set-up variable for a number."""
    return context.work.assigned(section, key, Declare(name, INTEGER), value)


def table(
    context: LoweringContext,
    section: SetupSection,
    key: Hashable,
    wished: Declare,
    value: Expr,
) -> Name:
    """Return the set-up variable for an array of the mesh."""
    return context.work.assigned(section, key, wished, value)


def array_of(name: str, type_: ScalarType, rank: int) -> Declare:
    """Return the declaration of an array with the given rank."""
    return Declare(name, type_, (), colons(rank))
