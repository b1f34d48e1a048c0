"""Variable declarations that an algorithm needs to call one kernel."""

from __future__ import annotations

from psyclone_storage.domains.lfric.slots import Slot, SlotKind, slots_of
from psyclone_storage.infrastructures.lfric import (
    INTEGER,
    OBJECT_TYPES,
    QUADRATURE_TYPES,
    default_type,
)
from psyclone_storage.ir.expr import Expr, Range, whole
from psyclone_storage.ir.kernel import Access, Kernel
from psyclone_storage.ir.types import DerivedType
from psyclone_storage.ir.unit import Declare

_WORDS = {
    SlotKind.EXTENT: "extent",
    SlotKind.DIRECTION: "direction",
}


def passed_to(kernel: Kernel) -> tuple[Declare, ...]:
    """Return the declaration of a variable for each argument of a call of `kernel`.

    A type is the default for undeclared arguments, with its module.
    """
    return tuple(_passed(kernel, slot) for slot in slots_of(kernel))


def _passed(kernel: Kernel, slot: Slot) -> Declare:
    number = slot.number + 1
    if slot.kind is SlotKind.QUADRATURE:
        known = QUADRATURE_TYPES[kernel.quadratures[slot.number]].type
        return Declare(f"quadrature_{number}", known, ("intent(in)",))
    if slot.kind is SlotKind.HALO_DEPTH:
        return Declare("halo_depth", INTEGER, ("intent(in)",))
    if slot.kind is not SlotKind.ARGUMENT:
        return Declare(f"{_WORDS[slot.kind]}_{number}", INTEGER, ("intent(in)",))
    arg = kernel.args[slot.number]
    found = default_type(arg.kind, arg.intrinsic)
    if isinstance(found, DerivedType):
        found = OBJECT_TYPES[found.name].type
    word = "scalar" if arg.kind.is_scalar else "operator" if arg.kind.is_operator else "field"
    intent = "intent(in)" if arg.access is Access.READ else "intent(inout)"
    shape: tuple[Expr | Range, ...] = (Range(),) * arg.rank
    if arg.vector > 1:
        shape = (whole(arg.vector),)
    return Declare(f"{word}_{number}", found, (intent,), shape)
