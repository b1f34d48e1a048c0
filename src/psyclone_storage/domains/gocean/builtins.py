"""Built-ins for grids of Python programs: reductions over the internal points of a field.

Their names and arguments are those of LFRic. The runtime computes a reduction, on the host or on
the device that has the values; the loops of the schedule represent its accesses.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from psyclone_storage.infrastructures.gocean import ANY_OFFSET, ANY_TYPE, INTERNAL
from psyclone_storage.infrastructures.gocean_words import REDUCTIONS
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.kernel import (
    Access,
    ArgKind,
    Formula,
    GridPoints,
    Iteration,
    Kernel,
    KernelArg,
    ReductionOp,
)
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.types import Intrinsic

_RESULT = "r"


def _kernel(name: str, op: ReductionOp, factors: tuple[str, ...]) -> Kernel:
    """Return a reduction of a field, or of the product of two."""
    fields = tuple(dict.fromkeys(factors))
    value: ex.Expr = ex.Name(factors[0])
    for factor in factors[1:]:
        value = ex.Binary(Operator.TIMES, value, ex.Name(factor))
    return Kernel(
        name=name,
        module="",
        procedure="",
        iteration=Iteration.GRID_POINT,
        args=(
            KernelArg(ArgKind.SCALAR, Intrinsic.REAL, Access.REDUCTION),
            *(
                KernelArg(ArgKind.FIELD, Intrinsic.REAL, Access.READ, space=ANY_TYPE)
                for _ in fields
            ),
        ),
        formula=Formula((_RESULT, *fields), value, op),
        points=GridPoints(INTERNAL, ANY_OFFSET),
    )


_KERNELS: Mapping[str, Kernel] = MappingProxyType(
    {
        key_of(name): _kernel(name, ReductionOp(operation), factors)
        for name, (operation, factors) in REDUCTIONS.items()
    }
)


def reduction(name: str) -> Kernel | None:
    """Return the built-in called `name`, ignoring case, or None."""
    return _KERNELS.get(key_of(name))
