"""Positions of actual arguments of a kernel, and the context of its call."""

from __future__ import annotations

from enum import Enum

from psyclone_storage.base.records import dataclass
from psyclone_storage.domains.data import DataTable
from psyclone_storage.ir.expr import Expr, Index, canonical, whole_number
from psyclone_storage.ir.kernel import ArgKind, Kernel, KernelArg, StencilShape


class SlotKind(Enum):
    """Role of a position in the list of actual arguments."""

    ARGUMENT = "argument"
    EXTENT = "stencil extent"
    DIRECTION = "stencil direction"
    QUADRATURE = "quadrature"
    HALO_DEPTH = "halo depth"


@dataclass(frozen=True, slots=True)
class Slot:
    """Position in the list of actual arguments.

    - `number`: the number of its metadata argument or, for a quadrature, of its shape.
    """

    kind: SlotKind
    number: int = 0


def slots_of(kernel: Kernel) -> tuple[Slot, ...]:
    """Return the positions of the actual arguments of `kernel`, in order (spec 2.9).

    Each metadata argument is followed by the extent and direction of its stencil. Quadratures and
    the halo depth come last.
    """
    slots: list[Slot] = []
    for position, arg in enumerate(kernel.args):
        slots.append(Slot(SlotKind.ARGUMENT, position))
        if arg.stencil is not None:
            slots.append(Slot(SlotKind.EXTENT, position))
        if arg.stencil is StencilShape.XORY1D:
            slots.append(Slot(SlotKind.DIRECTION, position))
    slots += [Slot(SlotKind.QUADRATURE, number) for number in range(len(kernel.quadratures))]
    if kernel.iteration.takes_halo_depth:
        slots.append(Slot(SlotKind.HALO_DEPTH))
    return tuple(slots)


@dataclass(frozen=True, slots=True)
class BindingContext:
    """Context in which a call is bound.

    - `data`: the data of the invoke.

    - `vectors`: the texts of field vectors that calls of the invoke pass as a whole.
    """

    data: DataTable
    vectors: frozenset[str] = frozenset()


def component_of_vector(
    expr: Expr, arg: KernelArg, around: BindingContext
) -> tuple[Expr, int] | None:
    """Return the field vector and the component number for `expr`, or None.

    The function returns None unless the number is constant and the invoke also passes the whole
    vector.
    """
    if arg.kind is not ArgKind.FIELD or not isinstance(expr, Index) or len(expr.items) != 1:
        return None
    number = whole_number(expr.items[0])
    if canonical(expr.base) not in around.vectors or number is None:
        return None
    return expr.base, number
