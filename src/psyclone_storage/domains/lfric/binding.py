"""Binding of a call in an LFRic algorithm to the data of its invoke.

Arguments are matched with the metadata by position. If a call disagrees with its metadata, all
diagnostics are returned instead.
"""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.base.records import replace
from psyclone_storage.domains.build import BoundCall
from psyclone_storage.domains.data import ArgumentUse
from psyclone_storage.domains.declared import Declared, declared, is_variable
from psyclone_storage.domains.lfric.agreement import (
    check_argument,
    check_repeated_arguments,
    wrong_count,
)
from psyclone_storage.domains.lfric.arguments import build_lfric_dummies
from psyclone_storage.domains.lfric.slots import (
    BindingContext,
    Slot,
    SlotKind,
    component_of_vector,
    slots_of,
)
from psyclone_storage.infrastructures.lfric import (
    INTEGER,
    OBJECT_TYPES,
    QUADRATURE_TYPES,
    default_type,
)
from psyclone_storage.ir.expr import Expr, Name, canonical, is_constant, walk
from psyclone_storage.ir.kernel import ArgKind, Kernel, KernelArg
from psyclone_storage.ir.parsed import ParsedArgument, ParsedCall
from psyclone_storage.ir.schedule import Actual, DatumRole, KernelCall
from psyclone_storage.ir.types import DataType, DerivedType, ScalarType


def vectors_of(call: ParsedCall, kernel: Kernel) -> Iterator[str]:
    """Yield the canonical text of each field vector that `call` passes as a whole."""
    for slot, given in zip(slots_of(kernel), call.args, strict=False):
        if slot.kind is SlotKind.ARGUMENT and kernel.args[slot.number].vector > 1:
            yield canonical(given.expr)


def bind_lfric_call(
    call: ParsedCall, kernel: Kernel, around: BindingContext, uid: str
) -> BoundCall:
    """Match the arguments of `call` with the metadata of `kernel`."""
    slots = slots_of(kernel)
    if len(slots) != len(call.args):
        return BoundCall(None, (wrong_count(call, kernel, slots),))
    problems = list(check_repeated_arguments(call, kernel, slots))
    actuals: dict[Slot, Actual] = {}
    for slot, given in zip(slots, call.args, strict=True):
        found = list(check_argument(slot, given, kernel, around))
        problems += found
        if not found:
            actuals[slot] = _actual(slot, given, kernel, around)
    if problems:
        return BoundCall(None, tuple(problems))
    return BoundCall(_assembled(call, kernel, actuals, uid), ())


def _assembled(
    call: ParsedCall, kernel: Kernel, actuals: dict[Slot, Actual], uid: str
) -> KernelCall:
    def value(kind: SlotKind, number: int = 0) -> Expr | None:
        actual = actuals.get(Slot(kind, number))
        return actual.value if actual else None

    args = tuple(
        Actual(
            given.datum,
            given.value,
            given.component,
            value(SlotKind.EXTENT, position),
            value(SlotKind.DIRECTION, position),
            given.span,
        )
        for position in range(len(kernel.args))
        for given in (actuals[Slot(SlotKind.ARGUMENT, position)],)
    )
    quadratures = tuple(
        actuals[Slot(SlotKind.QUADRATURE, number)] for number in range(len(kernel.quadratures))
    )
    depth = value(SlotKind.HALO_DEPTH)
    dummies = build_lfric_dummies(kernel)
    return KernelCall(uid, kernel, args, dummies, quadratures, depth, span=call.span)


# ------------------------------------------------------------------ what an argument becomes


def _actual(slot: Slot, given: ParsedArgument, kernel: Kernel, around: BindingContext) -> Actual:
    if slot.kind is not SlotKind.QUADRATURE and is_constant(given.expr):
        return Actual(None, given.expr, span=given.span)
    if slot.kind is SlotKind.ARGUMENT:
        arg = kernel.args[slot.number]
        part = component_of_vector(given.expr, arg, around)
        if part is not None:
            vector, component = part
            wanted = _wanted(slot, ParsedArgument(vector, given.span), kernel)
            datum = around.data.add(replace(wanted, vector=max(2, component)))
            return Actual(datum.name, Name(datum.name), component, span=given.span)
    datum = around.data.add(_wanted(slot, given, kernel))
    return Actual(datum.name, Name(datum.name), span=given.span)


_ROLES = {
    SlotKind.ARGUMENT: DatumRole.ARGUMENT,
    SlotKind.EXTENT: DatumRole.EXTENT,
    SlotKind.DIRECTION: DatumRole.DIRECTION,
    SlotKind.QUADRATURE: DatumRole.QUADRATURE,
    SlotKind.HALO_DEPTH: DatumRole.HALO_DEPTH,
}


def _wanted(slot: Slot, given: ParsedArgument, kernel: Kernel) -> ArgumentUse:
    role = _ROLES[slot.kind]
    known = declared(given.expr)
    if slot.kind is SlotKind.QUADRATURE:
        shape = kernel.quadratures[slot.number]
        return ArgumentUse(given.expr, DerivedType(QUADRATURE_TYPES[shape].name), given.span, role)
    if slot.kind is not SlotKind.ARGUMENT:
        is_scalar = known is not None and isinstance(known.type, ScalarType)
        kind_known = known.type if known and is_scalar else INTEGER
        return ArgumentUse(given.expr, kind_known, given.span, role)
    arg = kernel.args[slot.number]
    return ArgumentUse(
        given.expr,
        _type_of(arg, known or _declared_inside(given.expr, arg)),
        given.span,
        role,
        arg.kind,
        arg.vector,
        arg.rank,
        arg.access,
    )


def _declared_inside(expr: Expr, arg: KernelArg) -> Declared | None:
    """Return the declaration of the first operand of `expr` with the argument's type.

    An expression has the kind of its operands, which normally have the same kind.
    """
    if arg.kind is not ArgKind.SCALAR or is_variable(expr):
        return None
    for part in walk(expr):
        known = declared(part) if is_variable(part) else None
        if known and isinstance(known.type, ScalarType) and known.type.intrinsic is arg.intrinsic:
            return known
    return None


def _type_of(arg: KernelArg, known: Declared | None) -> DataType:
    """Return the declared type if it implies the precision, else the default for the argument."""
    if known is not None:
        if arg.kind.is_scalar and isinstance(known.type, ScalarType):
            return known.type
        if isinstance(known.type, DerivedType) and known.type.name in OBJECT_TYPES:
            return DerivedType(known.type.name)
    return default_type(arg.kind, arg.intrinsic)
