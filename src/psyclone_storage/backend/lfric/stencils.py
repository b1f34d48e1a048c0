"""Stencils: the neighbours of each cell at which a kernel reads a field.

Calls that read one field with the same extent, shape and direction share one map.
"""

from __future__ import annotations

from psyclone_storage.backend.infrastructure import LoweringContext
from psyclone_storage.backend.lfric import abi
from psyclone_storage.backend.lfric.logs import log_call
from psyclone_storage.backend.lfric.members import bound, number, view
from psyclone_storage.backend.lfric.spaces import space_object
from psyclone_storage.backend.workspace import (
    SetupSection,
)
from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.infrastructures.lfric import INTEGER
from psyclone_storage.ir.expr import (
    Binary,
    Expr,
    Name,
    intrinsic,
    whole,
)
from psyclone_storage.ir.kernel import StencilShape
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.runtime_ops import StencilRef
from psyclone_storage.ir.unit import Branch, Declare, If, PointerAssign


def stencil_direction(context: LoweringContext, stencil: StencilRef) -> Expr:
    """Return the direction of a line that may lie along x or y."""
    if stencil.direction is None:
        raise InternalError(f"The stencil of '{stencil.space.datum.name}' has no direction.")
    known = _known_direction(context, stencil)
    if known is None:
        return stencil.direction
    return Name(context.work.imports.local(abi.LFRicModule.DIRECTION, known))


def stencil_dofmap(context: LoweringContext, stencil: StencilRef) -> Name:
    """Return the pointer to the dofs of the neighbours.

    It is (ndf, size, ncells), for separate branches (ndf, branch length, branches, ncells).
    """
    name = stencil.space.datum.name
    known = view(f"{name}_stencil_dofmap", INTEGER, 4 if stencil.branched else 3)
    target = bound(_map(context, stencil), abi.StencilMapProcedure.DOFMAP)
    key = ("stencil dofmap", stencil.key)
    return context.work.pointer(SetupSection.STENCILS, key, known, target)


def stencil_sizes(context: LoweringContext, stencil: StencilRef) -> Name:
    """Return the pointer to the numbers of neighbours: (ncells), or (branches, ncells)."""
    name = stencil.space.datum.name
    known = view(f"{name}_stencil_sizes", INTEGER, 2 if stencil.branched else 1)
    target = bound(_map(context, stencil), abi.StencilMapProcedure.SIZES)
    key = ("stencil sizes", stencil.key)
    return context.work.pointer(SetupSection.STENCILS, key, known, target)


def stencil_max_branch(context: LoweringContext, stencil: StencilRef) -> Name:
    """Return the length of the longest branch, the cell itself included."""
    wish = f"{stencil.space.datum.name}_max_branch_length"
    value = Binary(Operator.PLUS, stencil.extent, whole(1))
    return number(context, SetupSection.STENCILS, ("max branch", stencil.key), wish, value)


def _map(context: LoweringContext, stencil: StencilRef) -> Name:
    """Return the pointer to the stencil's map, and choose the map if the direction is open."""
    work, name = context.work, stencil.space.datum.name
    map_type = abi.STENCIL_2D_MAP if stencil.branched else abi.STENCIL_MAP
    known = Declare(f"{name}_stencil_map", map_type)
    key = ("stencil map", stencil.key)
    if stencil.shape is not StencilShape.XORY1D:
        return work.pointer(
            SetupSection.STENCILS, key, known, _lookup(context, stencil, stencil.shape)
        )
    direction = _known_direction(context, stencil)
    if direction is not None:
        target = _lookup(context, stencil, abi.DIRECTIONS[direction])
        return work.pointer(SetupSection.STENCILS, key, known, target)
    pointer = Declare(known.name, known.type, ("pointer",))
    variable = work.variable(SetupSection.STENCILS, key, pointer)
    if work.first(("chosen", key)):
        nothing = PointerAssign(variable, intrinsic("null"))
        work.add(SetupSection.STENCILS, nothing, _choice(context, stencil, variable))
    return variable


def _choice(context: LoweringContext, stencil: StencilRef, variable: Name) -> If:
    direction = stencil_direction(context, stencil)
    branches = tuple(
        Branch(
            Binary(
                Operator.EQUAL,
                direction,
                Name(context.work.imports.local(abi.LFRicModule.DIRECTION, name)),
            ),
            (PointerAssign(variable, _lookup(context, stencil, shape)),),
        )
        for name, shape in abi.DIRECTIONS.items()
    )
    field = stencil.space.datum.name
    routine = context.schedule.name
    words = f"{routine}: the stencil of '{field}' has a direction that is neither x nor y."
    return If(branches, (log_call(context, words, abi.Log.ERROR),))


def _lookup(context: LoweringContext, stencil: StencilRef, shape: StencilShape) -> Expr:
    """Return the reference that looks up, or on first use builds, the map of a stencil."""
    imports = context.work.imports
    space = space_object(context, stencil.space)
    if shape is StencilShape.CROSS2D:
        name = imports.local(abi.LFRicModule.STENCIL_2D, abi.STENCIL_2D_CROSS)
        return bound(space, abi.SpaceProcedure.STENCIL_2D, Name(name), stencil.extent)
    name = imports.local(abi.LFRicModule.STENCIL, abi.STENCILS[shape])
    return bound(space, abi.SpaceProcedure.STENCIL, Name(name), stencil.extent)


def _known_direction(context: LoweringContext, stencil: StencilRef) -> str | None:
    """Return the constant that the direction is, None if it is a variable of the invoke."""
    match stencil.direction:
        case Name(text) if key_of(text) in abi.DIRECTIONS:
            is_datum = any(datum.key == key_of(text) for datum in context.schedule.data)
            return None if is_datum else key_of(text)
    return None
