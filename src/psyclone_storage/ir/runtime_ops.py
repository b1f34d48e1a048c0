"""Requests of a lowered invoke to an infrastructure: a closed set of records.

Lowering creates them, in the same way for all APIs and targets. An infrastructure has one table
from the class of a record to a function: it returns an expression for a `Value`, statements for an
`Action`. Each record is supported by at least one infrastructure.
"""

from __future__ import annotations

from collections.abc import Hashable

from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.expr import Expr, canonical
from psyclone_storage.ir.interface import Role
from psyclone_storage.ir.kernel import BasisOperation, BasisShape, ReductionOp, StencilShape
from psyclone_storage.ir.schedule import Axis, Datum, HaloExchange, KernelCall, Loop, Phase
from psyclone_storage.ir.transfer import Side
from psyclone_storage.ir.unit import Line

# ---------------------------------------------------------------------------- what they are about


@dataclass(frozen=True, slots=True)
class SpaceRef:
    """A function space of an invoke.

    Two with equal `key` are one. `label` ends the names of its variables. `datum` is the
    object it is taken from, `side` is `to` or `from` if that is an operator.
    """

    key: Hashable
    label: str
    datum: Datum
    side: str


@dataclass(frozen=True, slots=True)
class StencilRef:
    """A stencil of one call: its field, how far it reaches, its shape and direction.

    One `of_cells` is that of an operator: it names cells, and `space` is any space of their mesh.
    """

    space: SpaceRef
    extent: Expr
    shape: StencilShape
    direction: Expr | None
    of_cells: bool = False

    @property
    def key(self) -> Hashable:
        """A key that is equal for equal stencils."""
        direction = canonical(self.direction) if self.direction else ""
        owner = self.space.key if self.of_cells else self.space.datum.name
        return (owner, canonical(self.extent), self.shape, direction)

    @property
    def branched(self) -> bool:
        """Return whether the branches of the stencil are separate."""
        return self.shape is StencilShape.CROSS2D


# ---------------------------------------------------------------------------- values: data


@dataclass(frozen=True, slots=True)
class DataOf:
    """The array of the values of a field, one component of a field vector, or an operator."""

    datum: Datum
    component: int | None = None
    place: Side = Side.HOST


@dataclass(frozen=True, slots=True)
class ExtentsOf:
    """The integer array of the extents of an array of scalars."""

    datum: Datum


@dataclass(frozen=True, slots=True)
class OperatorCells:
    """The number of cells, in all layers, that an operator has a matrix for."""

    datum: Datum


@dataclass(frozen=True, slots=True)
class BandNumber:
    """One of the numbers that describe the bands of a columnwise operator."""

    datum: Datum
    role: Role


@dataclass(frozen=True, slots=True)
class ColumnMap:
    """The numbering by a columnwise operator of the dofs of its space on `side`, `to` or `from`."""

    datum: Datum
    role: Role
    side: str


@dataclass(frozen=True, slots=True)
class GridPropertyOf:
    """A property of the grid that `field` is on, by the name that metadata have for it."""

    name: str
    field: Expr


# ---------------------------------------------------------------------------- values: loops


@dataclass(frozen=True, slots=True)
class LoopStart:
    """The first index that a loop, or the loops for its tiles, run over."""

    loop: Loop


@dataclass(frozen=True, slots=True)
class LoopEnd:
    """The last index of a loop; `within` are the counters that its end depends on.

    These are the colour, and the tile of that colour.
    """

    loop: Loop
    within: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class ColourMap:
    """The cell at a position in a colour, or in a tile of a colour."""

    space: SpaceRef
    position: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class PointsEnd:
    """The first or the last index, in one direction, of the points that a call is for."""

    call: KernelCall
    arg: int
    axis: Axis
    last: bool


@dataclass(frozen=True, slots=True)
class HaloDepth:
    """The number of halo levels that all fields of the loops through the whole halo have."""


# ---------------------------------------------------------------------------- values: spaces


@dataclass(frozen=True, slots=True)
class Layers:
    """The number of layers of the mesh of a space."""

    space: SpaceRef


@dataclass(frozen=True, slots=True)
class DofsPerCell:
    """The number of dofs of a space in one cell."""

    space: SpaceRef


@dataclass(frozen=True, slots=True)
class DofsOnRank:
    """The number of dofs of a space on this rank, halos included."""

    space: SpaceRef


@dataclass(frozen=True, slots=True)
class DataPerDof:
    """The number of values that fields on a space have at each dof."""

    space: SpaceRef


@dataclass(frozen=True, slots=True)
class Dofmap:
    """The map from cells to dofs, (ndf, ncells)."""

    space: SpaceRef


@dataclass(frozen=True, slots=True)
class BoundaryDofs:
    """The mask of dofs on the top and bottom boundaries, (ndf, 2)."""

    space: SpaceRef


@dataclass(frozen=True, slots=True)
class Orientation:
    """The orientation of the dofs of one cell."""

    space: SpaceRef
    cell: Expr


@dataclass(frozen=True, slots=True)
class BasisAtPoints:
    """Basis functions of a space, or their derivatives, at the points of a quadrature rule.

    `size` is the length of their values, None where the space has to be asked.
    """

    space: SpaceRef
    operation: BasisOperation
    size: int | None
    rule: Datum
    shape: BasisShape


@dataclass(frozen=True, slots=True)
class BasisAtNodes:
    """Basis functions of a space, or their derivatives, at the nodes of a target space."""

    space: SpaceRef
    operation: BasisOperation
    size: int | None
    target: SpaceRef


@dataclass(frozen=True, slots=True)
class QuadraturePart:
    """A number of points, faces or edges of a quadrature rule, or its weights."""

    rule: Datum
    shape: BasisShape
    role: Role


# ---------------------------------------------------------------------------- values: the mesh


@dataclass(frozen=True, slots=True)
class CellCount:
    """The number of cells in a layer on this rank: all of them, or those that are `owned`."""

    space: SpaceRef
    owned: bool = False


@dataclass(frozen=True, slots=True)
class MeshPair:
    """Quantity of a pair of meshes that an inter-grid kernel receives."""

    coarse: SpaceRef
    fine: SpaceRef
    role: Role


@dataclass(frozen=True, slots=True)
class FaceCount:
    """The number of horizontal, vertical or all faces of the reference cell."""

    space: SpaceRef
    role: Role


@dataclass(frozen=True, slots=True)
class Normals:
    """The array of normals that metadata call `name`, (3, faces)."""

    space: SpaceRef
    name: str


@dataclass(frozen=True, slots=True)
class AdjacentFaces:
    """The faces that neighbours share with each cell, (nfaces, ncells)."""

    space: SpaceRef


@dataclass(frozen=True, slots=True)
class StencilMap:
    """The dofs of the neighbours: (ndf, size, ncells), with a dimension more for branches."""

    stencil: StencilRef


@dataclass(frozen=True, slots=True)
class StencilSizes:
    """The numbers of neighbours: (ncells), or (branches, ncells)."""

    stencil: StencilRef


@dataclass(frozen=True, slots=True)
class StencilDirection:
    """The direction of a line that may lie along x or y."""

    stencil: StencilRef


@dataclass(frozen=True, slots=True)
class StencilCells:
    """The cells of stencils: (size, ncells), or (branch length, branches, ncells)."""

    stencil: StencilRef


@dataclass(frozen=True, slots=True)
class LongestBranch:
    """The length of the longest branch of a stencil, the cell itself included."""

    stencil: StencilRef


# ---------------------------------------------------------------------------- values: halos, sums


@dataclass(frozen=True, slots=True)
class IsDirty:
    """Test whether the halo of a field is stale down to `depth`."""

    datum: Datum
    component: int | None
    depth: Expr


@dataclass(frozen=True, slots=True)
class ExactSum:
    """The accumulator of an exact sum, which replaces a scalar."""

    datum: Datum


RuntimeValue = (
    DataOf
    | ExtentsOf
    | OperatorCells
    | BandNumber
    | ColumnMap
    | GridPropertyOf
    | LoopStart
    | LoopEnd
    | ColourMap
    | PointsEnd
    | HaloDepth
    | Layers
    | DofsPerCell
    | DofsOnRank
    | DataPerDof
    | Dofmap
    | BoundaryDofs
    | Orientation
    | BasisAtPoints
    | BasisAtNodes
    | QuadraturePart
    | CellCount
    | MeshPair
    | FaceCount
    | Normals
    | AdjacentFaces
    | StencilMap
    | StencilSizes
    | StencilDirection
    | StencilCells
    | LongestBranch
    | IsDirty
    | ExactSum
)

# ---------------------------------------------------------------------------- actions


@dataclass(frozen=True, slots=True)
class Exchange:
    """Make the halo of a field clean down to `depth`, by the host's copy, or begin or end that.

    With `beside_device` the copies from and to a device are made around it; with `in_strips` it
    makes them itself, of what it sends and receives.
    """

    datum: Datum
    component: int | None
    depth: Expr
    phase: Phase
    beside_device: bool = False
    in_strips: bool = False


@dataclass(frozen=True, slots=True)
class ExchangeTogether:
    """Make the halos of several fields clean in one message to each neighbour.

    `depths` match `exchanges`. With `dirty_only` those are left out that are clean.
    """

    exchanges: tuple[HaloExchange, ...]
    depths: tuple[Expr, ...]
    dirty_only: bool


@dataclass(frozen=True, slots=True)
class MarkDirty:
    """Record that the halo of a field is stale."""

    datum: Datum
    component: int | None


@dataclass(frozen=True, slots=True)
class MarkClean:
    """Record that the halo of a field is right down to `depth`."""

    datum: Datum
    component: int | None
    depth: Expr


@dataclass(frozen=True, slots=True)
class FillDofs:
    """Set unread dofs of a field: annexed ones if `annexed`, and levels of its halo.

    The levels are those after `beyond` down to `depth`, from level 1 if `beyond` is None; without a
    `depth` no level is set.
    """

    datum: Datum
    component: int | None
    annexed: bool
    beyond: Expr | None
    depth: Expr | None


@dataclass(frozen=True, slots=True)
class Reduce:
    """Combine the values that all ranks have for a scalar."""

    datum: Datum
    op: ReductionOp


@dataclass(frozen=True, slots=True)
class BeginExactSum:
    """Make the exact sum for a scalar empty."""

    datum: Datum


@dataclass(frozen=True, slots=True)
class AddExactly:
    """Add one value to the exact sum for a scalar."""

    datum: Datum
    value: Expr


@dataclass(frozen=True, slots=True)
class EndExactSum:
    """Round the exact sum of one rank, or with `over_ranks` of all, once, and assign it."""

    datum: Datum
    over_ranks: bool


@dataclass(frozen=True, slots=True)
class EnterDevice:
    """Give a device what the regions of a routine take, of what it does not have yet.

    `data` are fields and operators; the rest is to be found from the `calls` and `lines` of the
    regions.
    """

    data: tuple[str, ...]
    queue: int
    calls: tuple[KernelCall, ...]
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class CopyTo:
    """Make one side's copy of the values of a datum equal to the other's.

    `guarded` means that the device may have none: then nothing happens. With `halo_depth` no more
    is copied than an exchange to that depth is about: to the device the halo, to the host what is
    sent.
    """

    side: Side
    datum: Datum
    component: int | None
    guarded: bool
    halo_depth: Expr | None = None


RuntimeAction = (
    Exchange
    | ExchangeTogether
    | MarkDirty
    | MarkClean
    | FillDofs
    | Reduce
    | BeginExactSum
    | AddExactly
    | EndExactSum
    | EnterDevice
    | CopyTo
)
