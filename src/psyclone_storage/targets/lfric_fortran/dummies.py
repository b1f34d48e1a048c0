"""Declarations of the dummy arguments of a generated routine."""

from __future__ import annotations

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.infrastructures.lfric import INTEGER, QUADRATURE_TYPES
from psyclone_storage.ir.expr import whole
from psyclone_storage.ir.kernel import Access, ArgKind
from psyclone_storage.ir.schedule import Datum, DatumRole
from psyclone_storage.ir.types import DerivedType, ScalarType
from psyclone_storage.ir.unit import Declare
from psyclone_storage.ir.walk import kernel_calls
from psyclone_storage.lowering.infrastructure import LoweringContext
from psyclone_storage.lowering.routine_builder import (
    colons,
)
from psyclone_storage.targets.lfric_fortran.field_values import object_type


def dummy_declarations(context: LoweringContext) -> tuple[Declare, ...]:
    """Return the declarations of the routine's dummy arguments, in order.

    Fields and operators are always `intent(in)`, because their data are accessed by a proxy, and
    `target`, because pointers to the data outlive the call that creates the proxy.
    """
    return tuple(_declare(context, datum) for datum in context.schedule.data)


def _declare(context: LoweringContext, datum: Datum) -> Declare:
    if datum.role is DatumRole.QUADRATURE:
        return Declare(datum.name, _quadrature_type(datum), ("target", "intent(in)"))
    if datum.role is not DatumRole.ARGUMENT:
        integer = datum.type if isinstance(datum.type, ScalarType) else INTEGER
        return Declare(datum.name, integer, ("intent(in)",))
    if datum.kind is ArgKind.SCALAR_ARRAY:
        attributes = ("contiguous", "intent(in)")
        return Declare(datum.name, datum.type, attributes, colons(datum.rank))
    if datum.kind is ArgKind.SCALAR:
        # Without 'target' compilers assume that no other dummy argument is the same variable.
        shared = ("target",) if datum.may_alias else ()
        return Declare(datum.name, datum.type, (*shared, _scalar_intent(context, datum)))
    shape = (whole(datum.vector),) if datum.vector > 1 else ()
    return Declare(datum.name, object_type(datum).type, ("target", "intent(in)"), shape)


def _quadrature_type(datum: Datum) -> DerivedType:
    for known in QUADRATURE_TYPES.values():
        named = isinstance(datum.type, DerivedType) and datum.type.name == known.name
        if named or datum.type == known.type:
            return known.type
    raise InternalError(f"'{datum.name}' is no quadrature rule.")


def _scalar_intent(context: LoweringContext, datum: Datum) -> str:
    """Return the intent of a scalar: `out` for a reduction, unless it may be read first."""
    accesses = [
        described.access
        for call in kernel_calls(context.schedule)
        for actual, described in zip(call.args, call.kernel.args, strict=True)
        if actual.datum == datum.name
    ]
    if Access.REDUCTION not in accesses:
        return "intent(in)"
    first = accesses[0] is Access.REDUCTION and not datum.may_alias
    return "intent(out)" if first else "intent(inout)"
