"""Operations that a lowered invoke requests from an infrastructure: a closed set of records.

Lowering creates them independently of API and target. An infrastructure maps the class of a record
to a function that returns an expression for a `Value` or statements for an `Action`. At least one
infrastructure supports each record.
"""

from __future__ import annotations

from collections.abc import Hashable

from psyclone_storage.base.fresh import Fresh
from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.cached_values import CachedArray
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

    Spaces with equal `key` are the same. `label` is the suffix of its variables. `datum` is the
    object that provides the space; if it is an operator, `side` is `to` or `from`.
    """

    key: Hashable
    label: str
    datum: Datum
    side: str


@dataclass(frozen=True, slots=True)
class StencilRef:
    """A stencil of one call: its field, extent, shape and direction.

    With `of_cells`, it is the stencil of an operator: it contains cells, and `space` is any space
    of their mesh.
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
        """Return whether the map has separate branches for the directions."""
        return self.shape is StencilShape.CROSS2D


# ---------------------------------------------------------------------------- values: data


@dataclass(frozen=True, slots=True)
class DataOf:
    """The value array of a field, a field-vector component or an operator."""

    datum: Datum
    component: int | None = None
    place: Side = Side.HOST


@dataclass(frozen=True, slots=True)
class ExtentsOf:
    """The extents of an array of scalars, as an integer array."""

    datum: Datum


@dataclass(frozen=True, slots=True)
class OperatorCells:
    """The number of cells in all layers for which an operator has a matrix."""

    datum: Datum


@dataclass(frozen=True, slots=True)
class BandNumber:
    """A size parameter of the banded matrix of a columnwise operator."""

    datum: Datum
    role: Role


@dataclass(frozen=True, slots=True)
class ColumnMap:
    """The dof numbering of a columnwise operator for its space on `side` (`to` or `from`)."""

    datum: Datum
    role: Role
    side: str


@dataclass(frozen=True, slots=True)
class GridPropertyOf:
    """A property of the grid of `field`, by its metadata name."""

    name: str
    field: Expr


# ---------------------------------------------------------------------------- values: loops


@dataclass(frozen=True, slots=True)
class LoopStart:
    """The first index of a loop or of the loop over its tiles."""

    loop: Loop


@dataclass(frozen=True, slots=True)
class LoopEnd:
    """The last index of a loop.

    `within` are the enclosing counters on which it depends: the colour and the tile of the colour.
    """

    loop: Loop
    within: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class ColourMap:
    """The cell at a position within a colour, or within a tile of a colour."""

    space: SpaceRef
    position: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class PointsEnd:
    """The first or last index, along one axis, of the points for which a kernel is called."""

    call: KernelCall
    arg: int
    axis: Axis
    last: bool


@dataclass(frozen=True, slots=True)
class HaloDepth:
    """The number of halo levels that all fields in whole-halo loops have."""


# ---------------------------------------------------------------------------- values: spaces


@dataclass(frozen=True, slots=True)
class Layers:
    """The number of layers in the mesh of a space."""

    space: SpaceRef


@dataclass(frozen=True, slots=True)
class LayersOf:
    """The number of layers of a field on a grid."""

    datum: Datum


@dataclass(frozen=True, slots=True)
class DofsPerCell:
    """The number of dofs of a space per cell (ndf)."""

    space: SpaceRef


@dataclass(frozen=True, slots=True)
class DofsOnRank:
    """The number of dofs of a space on this rank, including halos (undf)."""

    space: SpaceRef


@dataclass(frozen=True, slots=True)
class DataPerDof:
    """The number of values per dof of fields on a space."""

    space: SpaceRef


@dataclass(frozen=True, slots=True)
class Dofmap:
    """The map from cells to dofs, with shape (ndf, ncells)."""

    space: SpaceRef


@dataclass(frozen=True, slots=True)
class BoundaryDofs:
    """The mask of dofs on the bottom and top boundaries, with shape (ndf, 2)."""

    space: SpaceRef


@dataclass(frozen=True, slots=True)
class Orientation:
    """The orientation of the dofs in one cell."""

    space: SpaceRef
    cell: Expr


@dataclass(frozen=True, slots=True)
class BasisAtPoints:
    """Basis functions of a space, or their derivatives, at quadrature points.

    `size` is the number of components of a value, None if only the space knows it at run time.
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
    """The number of cells in one layer on this rank, or only of those that it owns."""

    space: SpaceRef
    owned: bool = False


@dataclass(frozen=True, slots=True)
class MeshPair:
    """A property of a pair of meshes that an inter-grid kernel receives."""

    coarse: SpaceRef
    fine: SpaceRef
    role: Role


@dataclass(frozen=True, slots=True)
class FaceCount:
    """The number of horizontal, vertical or all faces of the reference element."""

    space: SpaceRef
    role: Role


@dataclass(frozen=True, slots=True)
class Normals:
    """The normals with the metadata name `name`, with shape (3, faces)."""

    space: SpaceRef
    name: str


@dataclass(frozen=True, slots=True)
class AdjacentFaces:
    """The faces shared with each neighbour of a cell, with shape (nfaces, ncells)."""

    space: SpaceRef


@dataclass(frozen=True, slots=True)
class StencilMap:
    """The dofs of stencil cells, with shape (ndf, size, ncells); branches add a dimension."""

    stencil: StencilRef


@dataclass(frozen=True, slots=True)
class StencilSizes:
    """The sizes of stencils, with shape (ncells) or (branches, ncells)."""

    stencil: StencilRef


@dataclass(frozen=True, slots=True)
class StencilDirection:
    """The direction of a one-dimensional stencil along x or y."""

    stencil: StencilRef


@dataclass(frozen=True, slots=True)
class StencilCells:
    """The cells of stencils, with shape (size, ncells) or (branch length, branches, ncells)."""

    stencil: StencilRef


@dataclass(frozen=True, slots=True)
class LongestBranch:
    """The maximum branch length of a stencil, including the centre cell."""

    stencil: StencilRef


# ---------------------------------------------------------------------------- values: halos, sums


@dataclass(frozen=True, slots=True)
class IsDirty:
    """A test whether the halo of a field is stale at a level up to `depth`."""

    datum: Datum
    component: int | None
    depth: Expr


@dataclass(frozen=True, slots=True)
class ExactSum:
    """The accumulator of an exact sum, used instead of a scalar."""

    datum: Datum


RuntimeValue = (
    DataOf
    | ExtentsOf
    | OperatorCells
    | BandNumber
    | ColumnMap
    | GridPropertyOf
    | CachedArray
    | LoopStart
    | LoopEnd
    | ColourMap
    | PointsEnd
    | HaloDepth
    | Layers
    | LayersOf
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
    """A halo exchange to level `depth` using the host copy, or the start or end of one.

    With `beside_device`, it is enclosed by transfers from and to the device. With `in_strips`, the
    exchange itself transfers only the values that it sends and receives.
    """

    datum: Datum
    component: int | None
    depth: Expr
    phase: Phase
    beside_device: bool = False
    in_strips: bool = False


@dataclass(frozen=True, slots=True)
class ExchangeTogether:
    """A halo exchange of several fields with one message to each neighbour.

    `depths` match `exchanges`. With `dirty_only`, fields with clean halos are left out.
    """

    exchanges: tuple[HaloExchange, ...]
    depths: tuple[Expr, ...]
    dirty_only: bool


@dataclass(frozen=True, slots=True)
class MarkDirty:
    """Marks the halo of a field as stale."""

    datum: Datum
    component: int | None


@dataclass(frozen=True, slots=True)
class MarkClean:
    """Marks the halo of a field as clean to level `depth`."""

    datum: Datum
    component: int | None
    depth: Expr


@dataclass(frozen=True, slots=True)
class FillDofs:
    """Assigns a value to unread dofs of a field: annexed dofs and halo levels.

    Annexed dofs are set if `annexed`. Levels after `beyond` to `depth` are set, from level 1 if
    `beyond` equals None. Without `depth` no level is set.
    """

    datum: Datum
    component: int | None
    annexed: bool
    beyond: Expr | None
    depth: Expr | None


@dataclass(frozen=True, slots=True)
class BeginHaloChecks:
    """The begin of the halo checks of an invoke; every n-th call compares values (`every`).

    With `keeps_annexed`, annexed dofs are clean between invokes.
    """

    every: int
    keeps_annexed: bool


@dataclass(frozen=True, slots=True)
class EndHaloChecks:
    """The end of the halo checks of an invoke, which stops the program after errors."""


@dataclass(frozen=True, slots=True)
class CheckHalo:
    """A check that the halo of a field is clean to level `depth`, and as its flags say.

    With `annexed`, annexed dofs must be clean too. `reader` completes "level 1 is dirty and ...".
    """

    datum: Datum
    component: int | None
    depth: Expr
    annexed: bool
    reader: str


@dataclass(frozen=True, slots=True)
class NoteWrite:
    """Notes a write of a field by the loop `writer`, and spoils what the loop left dirty.

    The loop computed the halo to level `clean`. It left annexed dofs in the state `annexed`; they
    are as clean as before if it is MAYBE. The values of `trusted` loops are neither spoilt nor
    compared.
    """

    datum: Datum
    component: int | None
    clean: Expr
    annexed: Fresh
    trusted: bool
    writer: str


@dataclass(frozen=True, slots=True)
class Reduce:
    """A reduction of a scalar over all ranks."""

    datum: Datum
    op: ReductionOp


@dataclass(frozen=True, slots=True)
class ReducePoints:
    """A reduction of fields over the grid points of a rank, which the runtime computes.

    An `exact` sum is rounded when the reduction ends.
    """

    call: KernelCall
    exact: bool


@dataclass(frozen=True, slots=True)
class BeginExactSum:
    """Resets the exact sum of a scalar to zero."""

    datum: Datum


@dataclass(frozen=True, slots=True)
class AddExactly:
    """Adds a value to the exact sum of a scalar."""

    datum: Datum
    value: Expr


@dataclass(frozen=True, slots=True)
class EndExactSum:
    """Rounds the exact sum and assigns it to the scalar.

    With `over_ranks`, the sum over all ranks.
    """

    datum: Datum
    over_ranks: bool


@dataclass(frozen=True, slots=True)
class EnterDevice:
    """Copies data of device regions to the device if they are not present.

    `data` are fields and operators. Other data are found in the `calls` and `lines` of the regions.
    """

    data: tuple[str, ...]
    queue: int
    calls: tuple[KernelCall, ...]
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class CopyTo:
    """Copies the values of a datum to `side` from the other side.

    With `guarded`, nothing happens if the device has no copy. With `halo_depth`, only the values of
    an exchange to that depth are copied: the halo to the device, the sent values to the host.
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
    | BeginHaloChecks
    | EndHaloChecks
    | CheckHalo
    | NoteWrite
    | Reduce
    | ReducePoints
    | BeginExactSum
    | AddExactly
    | EndExactSum
    | EnterDevice
    | CopyTo
)
