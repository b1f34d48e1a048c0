"""Dummy arguments of a GOcean kernel's subroutine (spec 5.1).

The indices `i` and `j` are followed by the number of layers of each field that has layers, and by
one dummy for each metadata entry, in order.
"""

from __future__ import annotations

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.infrastructures.gocean import INTEGER, value_type
from psyclone_storage.ir.interface import ANY, Dummy, Role
from psyclone_storage.ir.kernel import ArgKind, GridStencil, Kernel, KernelArg

_OWN, _DIMENSIONS = (0, 0), 2
_INDICES = (
    Dummy(Role.GRID_INDEX_I, "i", INTEGER),
    Dummy(Role.GRID_INDEX_J, "j", INTEGER),
)


def build_gocean_dummies(kernel: Kernel) -> tuple[Dummy, ...]:
    """Return the dummies of `kernel` in calling order."""
    args = tuple(enumerate(kernel.args))
    layers = (
        Dummy(Role.NLAYERS, f"nlayers_{position + 1}", INTEGER, (), position)
        for position, arg in args
        if arg.layers
    )
    return (*_INDICES, *layers, *(_dummy(position, arg) for position, arg in args))


def _dummy(position: int, arg: KernelArg) -> Dummy:
    data, number = value_type(arg.intrinsic, arg.precision), position + 1
    match arg.kind:
        case ArgKind.FIELD:
            name = f"field_{number}"
            return Dummy(
                Role.FIELD,
                name,
                data,
                (ANY,) * (_DIMENSIONS + bool(arg.layers)),
                position,
                access=arg.access,
                reach=arg.stencil.offsets if isinstance(arg.stencil, GridStencil) else (_OWN,),
            )
        case ArgKind.SCALAR:
            name = f"scalar_{number}"
            return Dummy(Role.SCALAR, name, data, (), position, access=arg.access)
        case ArgKind.GRID_PROPERTY:
            shape, name = (ANY,) * arg.rank, arg.grid_property.removeprefix("go_")
            return Dummy(
                Role.GRID_PROPERTY, name, data, shape, position,
                property_name=arg.grid_property,
            )  # fmt: skip
    raise InternalError(f"A GOcean kernel has no argument that is a {arg.kind.value}.")
