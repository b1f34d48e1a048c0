"""Quantities of function spaces: numbers, maps, basis functions and stencils."""

from __future__ import annotations

from collections.abc import Hashable

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.infrastructures.lfric import INTEGER, REAL
from psyclone_storage.infrastructures.lfric_words import DIRECTIONS
from psyclone_storage.ir import runtime_ops as ops
from psyclone_storage.ir.expr import CallFunction, Expr, Literal, Member, Name, canonical, whole
from psyclone_storage.ir.kernel import BasisOperation, BasisShape
from psyclone_storage.ir.runtime_ops import SpaceRef, StencilRef
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.lowering.infrastructure import LoweringContext
from psyclone_storage.lowering.routine_builder import SetupSection
from psyclone_storage.targets.lfric_python import abi
from psyclone_storage.targets.lfric_python.runtime_values import (
    array_of,
    component_of,
    no_form,
    table,
)
from psyclone_storage.targets.lfric_python.runtime_values import runtime_number as number_of

_OPERATIONS = {
    BasisOperation.BASIS: abi.BASIS,
    BasisOperation.DIFF_BASIS: abi.DIFF_BASIS,
}


def runtime_space(space: SpaceRef) -> Expr:
    """Return the function space object."""
    return Member(component_of(space.datum, None), abi.SPACE_OF[space.side])


def layers(context: LoweringContext, asked: ops.Layers) -> Expr:
    """Return the number of layers in the mesh of a space."""
    name = asked.space.datum.name
    value = Member(runtime_space(asked.space), abi.LAYERS)
    return number_of(context, SetupSection.LAYERS, ("layers", name), f"nlayers_{name}", value)


def space_number(context: LoweringContext, space: SpaceRef, which: str) -> Expr:
    """Return the number `which` of a space."""
    value = Member(runtime_space(space), which)
    return number_of(
        context, SetupSection.DOFS, (which, space.key), f"{which}_{space.label}", value
    )


def end_of(
    context: LoweringContext, space: SpaceRef, which: str, depth: Expr | None = None
) -> Expr:
    """Return the index of the last dof of some group on this rank, to a halo depth if given."""
    value: Expr = Member(runtime_space(space), which)
    key = (which, space.datum.name, canonical(depth) if depth is not None else "")
    if depth is not None:
        value = CallFunction(value, (depth,))
    return number_of(context, SetupSection.DOFS, key, f"{which}_{space.label}", value)


def array(context: LoweringContext, space: SpaceRef, which: str) -> Expr:
    """Return the array `which` of a space, such as a dofmap, (ndf, cells)."""
    wished = array_of(f"{which}_{space.label}", INTEGER, 2)
    value = Member(runtime_space(space), which)
    return table(context, SetupSection.DOFMAPS, (which, space.key), wished, value)


# ---------------------------------------------------------------------------- basis functions


def runtime_basis_at_points(context: LoweringContext, asked: ops.BasisAtPoints) -> Expr:
    """Return basis functions at the points of a quadrature rule."""
    word = _operation(asked.operation)
    rule = Name(asked.rule.name)
    wished = array_of(f"{word}_{asked.space.label}_{asked.rule.name}", REAL, 4)
    value = CallFunction(Member(runtime_space(asked.space), word), (rule,))
    key = (word, asked.space.key, asked.rule.name)
    return table(context, SetupSection.BASIS, key, wished, value)


def runtime_basis_at_nodes(context: LoweringContext, asked: ops.BasisAtNodes) -> Expr:
    """Return basis functions at the nodes of another space."""
    word = _operation(asked.operation)
    wished = array_of(f"{word}_{asked.space.label}_on_{asked.target.label}", REAL, 3)
    nodes = runtime_space(asked.target)
    value = CallFunction(Member(runtime_space(asked.space), word), (nodes,))
    key = (word, asked.space.key, "nodes", asked.target.key)
    return table(context, SetupSection.BASIS, key, wished, value)


def _operation(operation: BasisOperation) -> str:
    if operation not in _OPERATIONS:
        raise no_form("orientation of dofs", None)
    return _OPERATIONS[operation]


def part_of_rule(context: LoweringContext, asked: ops.QuadraturePart) -> Expr:
    """Return a number of points, faces or edges of a quadrature rule, or its weights."""
    rule = asked.rule.name
    if (word := abi.RULE_NUMBERS.get(asked.role)) is not None:
        value = Member(Name(rule), word)
        return number_of(context, SetupSection.QUADRATURE, (word, rule), f"{word}_{rule}", value)
    word, rank = abi.RULE_WEIGHTS[asked.role]
    if asked.shape is BasisShape.EVALUATOR:
        raise no_form("weights without a quadrature", asked.rule.span)
    wished = array_of(f"{word}_{rule}", REAL, rank)
    value = Member(Name(rule), word)
    return table(context, SetupSection.QUADRATURE, (word, rule), wished, value)


# ---------------------------------------------------------------------------- stencils


def _stencil(context: LoweringContext, stencil: StencilRef) -> Expr:
    if stencil.direction is None:
        shape: Expr = Literal(f'"{abi.STENCILS[stencil.shape]}"', Intrinsic.CHARACTER)
    else:
        shape = _direction(context, stencil.direction)
    owner = runtime_space(stencil.space)
    owner = Member(owner, abi.MESH) if stencil.of_cells else owner
    return CallFunction(Member(owner, abi.STENCIL), (shape, stencil.extent))


def _stem(stencil: StencilRef) -> str:
    """Return the suffix of variable names for a stencil."""
    return f"cells_{stencil.space.label}" if stencil.of_cells else stencil.space.label


def stencil_map(context: LoweringContext, asked: ops.StencilMap) -> Expr:
    """Return the dofs of stencil cells, (ndf, size, cells); branches add a dimension."""
    stencil = asked.stencil
    rank = 4 if stencil.branched else 3
    wished = array_of(f"stencil_{stencil.space.label}", INTEGER, rank)
    value = Member(_stencil(context, stencil), abi.STENCIL_MAP)
    return table(context, SetupSection.STENCILS, ("stencil", stencil.key), wished, value)


def runtime_stencil_sizes(context: LoweringContext, asked: ops.StencilSizes) -> Expr:
    """Return the sizes of stencils, with shape (cells) or (branches, cells)."""
    stencil = asked.stencil
    rank = 2 if stencil.branched else 1
    wished = array_of(f"stencil_sizes_{_stem(stencil)}", INTEGER, rank)
    value = Member(_stencil(context, stencil), abi.STENCIL_SIZES)
    return table(context, SetupSection.STENCILS, ("sizes", *_key(stencil)), wished, value)


def longest_branch(context: LoweringContext, asked: ops.LongestBranch) -> Expr:
    """Return the maximum branch length of a stencil, including the centre cell."""
    stencil = asked.stencil
    value = Member(_stencil(context, stencil), abi.STENCIL_SIZE)
    name = f"stencil_branch_{_stem(stencil)}"
    return number_of(context, SetupSection.STENCILS, ("branch", *_key(stencil)), name, value)


def _direction(context: LoweringContext, said: Expr) -> Expr:
    """Return the number of a direction: a variable of the invoke, or a named constant."""
    is_word = isinstance(said, Name) and said.key in DIRECTIONS
    if (
        isinstance(said, Name)
        and is_word
        and all(one.key != said.key for one in context.schedule.data)
    ):
        return whole(DIRECTIONS[said.key])
    return said


def direction(context: LoweringContext, asked: ops.StencilDirection) -> Expr:
    """Return the direction of a one-dimensional stencil, as passed to kernels."""
    if asked.stencil.direction is None:
        raise InternalError(f"The stencil of '{asked.stencil.space.datum.name}' has no direction.")
    return _direction(context, asked.stencil.direction)


def runtime_stencil_cells(context: LoweringContext, asked: ops.StencilCells) -> Expr:
    """Return the stencil cells, with shape (size, cells); branches add a dimension."""
    stencil = asked.stencil
    wished = array_of(f"stencil_{_stem(stencil)}", INTEGER, 3 if stencil.branched else 2)
    value = Member(_stencil(context, stencil), abi.STENCIL_CELLS)
    return table(context, SetupSection.STENCILS, ("cells", *_key(stencil)), wished, value)


def _key(stencil: StencilRef) -> tuple[Hashable, ...]:
    """Return the key of a stencil; for stencils of cells it does not depend on the space."""
    return stencil.of_cells, stencil.key
