"""Function spaces: which arguments share one, and what is asked of it.

A space that metadata name is one space in all of an invoke, and the first argument on it
stands for it. A wildcard (`any_space_<n>`, `any_discontinuous_space_<n>`, `any_w2`) is
whatever space its argument happens to be on, so it belongs to that argument: two kernels
share what is asked of it only if they pass the same object.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from psyclone_storage.backend import abi_lfric as abi
from psyclone_storage.backend.lfric.context import Context, bound, number, view
from psyclone_storage.backend.lfric.data import proxy
from psyclone_storage.backend.workspace import Section
from psyclone_storage.ir.expr import Expr, Member, Name
from psyclone_storage.ir.kernel import ArgKind
from psyclone_storage.ir.schedule import Datum, KernelCall


@dataclass(frozen=True, slots=True)
class Space:
    """A function space of an invoke.

    Two spaces with equal `key` are one. `label` ends the names of its variables. `datum` is the
    object it is taken from, `side` is `to` or `from` if that is an operator.
    """

    key: Hashable
    label: str
    datum: Datum
    side: str


def is_wildcard(name: str) -> bool:
    """Return whether `name` stands for a space that is known at run time only."""
    return name.startswith("any_")


def space_of(context: Context, call: KernelCall, arg: int, name: str = "") -> Space:
    """Return the space that the metadata of `call` call `name`, as its argument `arg` has it.

    Without a `name`, it is the space of a field, or the one that an operator maps from.
    """
    described = call.kernel.args[arg]
    datum = context.datum(call, arg)
    side = ""
    if described.kind.is_operator:
        side = "to" if name == described.space else "from"
    name = name or (described.space_from if side else described.space)
    if context.several_meshes or is_wildcard(name):
        label = f"{datum.name}_{side}" if side else datum.name
        return Space((datum.name, side), label, datum, side)
    return Space(name, name, datum, side)


def space_named(context: Context, call: KernelCall, name: str) -> Space:
    """Return the space that the metadata of `call` call `name`: of a field, else an operator."""
    candidates = [
        (arg.kind is not ArgKind.FIELD, position)
        for position, arg in enumerate(call.kernel.args)
        if name in arg.spaces
    ]
    return space_of(context, call, min(candidates)[1], name)


def space_object(context: Context, space: Space) -> Expr:
    """Return the reference to the function space itself."""
    members = {"": abi.Field.SPACE, "to": abi.Operator.SPACE_TO, "from": abi.Operator.SPACE_FROM}
    return Member(proxy(context, space.datum), members[space.side])


def ndf(context: Context, space: Space) -> Name:
    """Return the number of dofs per cell."""
    return _asked(context, Section.DOFS, space, "ndf", abi.Space.NDF)


def undf(context: Context, space: Space) -> Name:
    """Return the number of dofs on this rank, halos included."""
    return _asked(context, Section.DOFS, space, "undf", abi.Space.UNDF)


def dimension(context: Context, space: Space, differential: bool) -> Name:
    """Return the number of components of a basis function, or of its derivative."""
    if differential:
        return _asked(context, Section.BASIS, space, "diff_dim", abi.Space.DIFF_DIMENSION)
    return _asked(context, Section.BASIS, space, "dim", abi.Space.DIMENSION)


def nlayers(context: Context, call: KernelCall) -> Name:
    """Return the number of layers of the first field or operator of a call."""
    position = next(
        position for position, arg in enumerate(call.kernel.args) if not arg.kind.is_scalar
    )
    space = space_of(context, call, position)
    key = ("nlayers", space.datum.name)
    value = bound(space_object(context, space), abi.Space.NLAYERS)
    return number(context, Section.LAYERS, key, f"nlayers_{space.datum.name}", value)


def dofmap(context: Context, space: Space) -> Name:
    """Return the pointer to the map from cells to dofs, (ndf, ncells)."""
    key = ("map", space.key)
    known = view(f"map_{space.label}", abi.INTEGER, 2)
    target = bound(space_object(context, space), abi.Space.DOFMAP)
    return context.work.pointer(Section.DOFMAPS, key, known, target)


def boundary_dofs(context: Context, space: Space) -> Name:
    """Return the pointer to the mask of dofs on the top and bottom boundaries, (ndf, 2)."""
    key = ("boundary", space.key)
    known = view(f"boundary_dofs_{space.label}", abi.INTEGER, 2)
    target = bound(space_object(context, space), abi.Space.BOUNDARY_DOFS)
    return context.work.pointer(Section.BOUNDARY, key, known, target)


def nodes(context: Context, space: Space) -> Name:
    """Return the pointer to the positions of the nodes in the reference cell, (3, ndf)."""
    key = ("nodes", space.key)
    known = view(f"nodes_{space.label}", abi.REAL, 2)
    target = bound(space_object(context, space), abi.Space.NODES)
    return context.work.pointer(Section.BASIS, key, known, target)


def _asked(
    context: Context, section: Section, space: Space, stem: str, procedure: abi.Space
) -> Name:
    value = bound(space_object(context, space), procedure)
    return number(context, section, (stem, space.key), f"{stem}_{space.label}", value)
