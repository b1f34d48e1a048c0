"""Function spaces of arguments, and which arguments share one.

A space named in metadata is the same space throughout an invoke; its first argument represents it.
A wildcard (`any_space_<n>`, `any_discontinuous_space_<n>`, `any_w2`) is the space of its argument,
so two kernels share it only if they pass the same object.
"""

from __future__ import annotations

from psyclone_storage.base.records import replace
from psyclone_storage.ir.kernel import ArgKind
from psyclone_storage.ir.runtime_ops import SpaceRef
from psyclone_storage.ir.schedule import KernelCall
from psyclone_storage.lowering.infrastructure import LoweringContext


def space_of(context: LoweringContext, call: KernelCall, arg: int, name: str = "") -> SpaceRef:
    """Return the space that the metadata of `call` call `name`, taken from argument `arg`.

    Without `name`, it is the space of a field, or the one that an operator maps from.
    """
    described = call.kernel.args[arg]
    datum = context.datum(call, arg)
    side = ""
    if described.kind.is_operator:
        side = "to" if name == described.space else "from"
    name = name or (described.space_from if side else described.space)
    if context.several_meshes or name.startswith("any_"):
        label = f"{datum.name}_{side}" if side else datum.name
        return SpaceRef((datum.name, side), label, datum, side)
    return SpaceRef(name, name, datum, side)


def space_named(context: LoweringContext, call: KernelCall, name: str) -> SpaceRef:
    """Return the space that the metadata of `call` call `name`, preferably from a field."""
    candidates = [
        (arg.kind is not ArgKind.FIELD, position)
        for position, arg in enumerate(call.kernel.args)
        if name in arg.spaces
    ]
    return space_of(context, call, min(candidates)[1], name)


def iteration_space(context: LoweringContext, call: KernelCall) -> SpaceRef:
    """Return the space of the first field or operator of a call, used to find its mesh."""
    first = next(at for at, arg in enumerate(call.kernel.args) if not arg.kind.is_scalar)
    return space_of(context, call, first)


def mesh_space(context: LoweringContext, call: KernelCall) -> SpaceRef:
    """Return the iteration space, with a key shared by all spaces on its mesh."""
    space = iteration_space(context, call)
    return replace(space, key=("mesh", space.datum.name if context.several_meshes else ""))
