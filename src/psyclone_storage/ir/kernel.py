"""Kernels with interpreted metadata.

One class per concept, for every domain: a domain uses the parts that it knows.
"""

from __future__ import annotations

from enum import Enum

from psyclone_storage.base.records import dataclass, field
from psyclone_storage.base.source import Span
from psyclone_storage.ir.expr import Expr, Name
from psyclone_storage.ir.keys import FromModule, Named
from psyclone_storage.ir.types import Intrinsic


class Access(Enum):
    """Access of a kernel to an argument.

    `INC` adds to dofs that are shared between cells; the old value of the outermost ones may be
    stale. `READINC` does the same but really reads the old value, everywhere.
    """

    READ = "read"
    WRITE = "write"
    READWRITE = "readwrite"
    INC = "inc"
    READINC = "readinc"
    REDUCTION = "reduction"

    def __init__(self, word: str) -> None:
        self.reads = word not in ("write", "reduction")
        """Whether the value before the call matters."""
        self.writes = word != "read"
        """Whether the value changes."""
        self.increments = word in ("inc", "readinc")
        """Whether several cells add to the same dof, so that parallel cells race."""


class ArgKind(Enum):
    """Kind of object of an argument."""

    FIELD = "field"
    OPERATOR = "operator"
    COLUMNWISE_OPERATOR = "columnwise operator"
    SCALAR = "scalar"
    SCALAR_ARRAY = "scalar array"
    GRID_PROPERTY = "grid property"

    def __init__(self, word: str) -> None:
        self.is_operator = word in ("operator", "columnwise operator")
        """Whether it maps one function space to another."""
        self.is_scalar = word in ("scalar", "scalar array")
        """Whether it is a scalar or an array of scalars, not a field or an operator."""


class StencilShape(Enum):
    """Shape of a stencil."""

    X1D = "x1d"
    Y1D = "y1d"
    XORY1D = "xory1d"
    CROSS = "cross"
    CROSS2D = "cross2d"
    REGION = "region"


@dataclass(frozen=True, slots=True)
class GridStencil:
    """The neighbours that a kernel reads on a grid.

    `rows` go from north to south. Of three rows, the counts from west to east are how many points
    are read in each direction; the one in the middle is 1 if the kernel reads the point itself. A
    box of five rows or more has a 1 for each point that is read.
    """

    rows: tuple[tuple[int, ...], ...]

    @property
    def depth(self) -> int:
        """The distance of the furthest neighbour, 0 without one."""
        return max((max(abs(i), abs(j)) for i, j in self.offsets), default=0)

    @property
    def offsets(self) -> tuple[tuple[int, int], ...]:
        """The points that are looked at, as distances `(i, j)` from the point itself.

        `i` grows to the east and `j` to the north. The point itself is listed if it is looked at.
        """
        far = len(self.rows) // 2
        return tuple(
            (east * step, north * step)
            for north, row in zip(range(far, -far - 1, -1), self.rows, strict=True)
            for east, count in zip(range(-far, far + 1), row, strict=True)
            for step in range(1, count + 1)
        )

    @property
    def value(self) -> str:
        """The stencil as metadata spell it: `000,110,000`."""
        return ",".join("".join(map(str, row)) for row in self.rows)


class MeshRole(Enum):
    """On which of its two meshes an argument of an inter-grid kernel lives."""

    COARSE = "coarse"
    FINE = "fine"


class Iteration(Enum):
    """Iteration space of a kernel, from its metadata."""

    CELL_COLUMN = "cell_column"
    OWNED_CELL_COLUMN = "owned_cell_column"
    HALO_CELL_COLUMN = "halo_cell_column"
    OWNED_AND_HALO_CELL_COLUMN = "owned_and_halo_cell_column"
    DOF = "dof"
    OWNED_DOF = "owned_dof"
    OWNED_AND_HALO_DOF = "owned_and_halo_dof"
    DOMAIN = "domain"
    GRID_POINT = "grid point"

    def __init__(self, word: str) -> None:
        self.over_dofs = word.endswith("dof")
        """Whether the kernel is called once per dof."""
        self.takes_halo_depth = "halo" in word
        """Whether the algorithm passes the depth of halo to compute."""


class BasisShape(Enum):
    """Places at which basis functions are evaluated."""

    XYOZ = "gh_quadrature_xyoz"
    FACE = "gh_quadrature_face"
    EDGE = "gh_quadrature_edge"
    EVALUATOR = "gh_evaluator"

    @property
    def is_quadrature(self) -> bool:
        """Return whether the algorithm passes a quadrature object for it."""
        return self is not BasisShape.EVALUATOR


class BasisOperation(Enum):
    """Quantity that is evaluated for a function space."""

    BASIS = "gh_basis"
    DIFF_BASIS = "gh_diff_basis"
    ORIENTATION = "gh_orientation"


class CmaKind(Enum):
    """Operation of a kernel on columnwise (CMA) operators."""

    ASSEMBLY = "assembly"
    APPLY = "apply"
    MATRIX_MATRIX = "matrix-matrix"


class Generation(Enum):
    """Generation of the metadata and of the calling sequence of a kernel."""

    Y2019 = "2019"
    CURRENT = "current"


class ReductionOp(Enum):
    """Operation that combines partial values of a reduction."""

    SUM = "sum"
    MIN = "min"
    MAX = "max"
    PRODUCT = "product"
    AND = "and"
    OR = "or"
    EQUIVALENT = "equivalent"
    NOT_EQUIVALENT = "not equivalent"


@dataclass(frozen=True, slots=True)
class KernelArg:
    """One argument of a kernel, as its metadata describes it.

    `space` is the function space or grid point type, of an operator the one it maps *to*;
    `space_from` is the one an operator maps from. `vector` is the number of components of a
    field vector. `rank` is the rank of a scalar array. `grid_property` is a property's name.
    `layers` and `data_per_dof` say that it has another number of layers than the first field or
    operator, or several values at a dof: the number, or a name for one that is known at run time.
    Empty, they say nothing. `is_mask` says that the kernel is called for those cells only where the
    field's first value is above 0. `precision` is the kind of real data, where a call has told;
    empty, it is the usual one.
    """

    kind: ArgKind
    intrinsic: Intrinsic
    access: Access
    space: str = ""
    space_from: str = ""
    vector: int = 1
    stencil: StencilShape | GridStencil | None = None
    mesh: MeshRole | None = None
    rank: int = 0
    grid_property: str = ""
    layers: str = ""
    data_per_dof: str = ""
    is_mask: bool = False
    precision: str = ""
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def numbering(self) -> tuple[str, str]:
        """The key of its dofmap on its space; arguments with equal keys share one."""
        return self.layers, self.data_per_dof

    @property
    def has_own_dofmap(self) -> bool:
        """Return whether its numbering differs from that of other data on its space."""
        return bool(self.layers or self.data_per_dof)

    @property
    def spaces(self) -> tuple[str, ...]:
        """The function spaces it lives on, an operator's `to` before its `from`."""
        return tuple(space for space in (self.space, self.space_from) if space)


@dataclass(frozen=True, slots=True)
class SpaceFunctions:
    """Evaluations that a kernel requires for one function space, in the order of its metadata."""

    space: str
    operations: tuple[BasisOperation, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


FIRST_INTERNAL = Name("first internal index")
LAST_INTERNAL = Name("last internal index")
"""Parameters of the bounds of a grid: the ends of its internal region in one direction."""

FIELD_ON_GRID = Name("field on the grid")
"""The parameter of an expression that leads from a field to what its grid holds."""


@dataclass(frozen=True, slots=True)
class GridBounds:
    """Start and stop of the loops over a named set of grid points.

    Each is an expression of `FIRST_INTERNAL` and `LAST_INTERNAL`.
    """

    outer_start: Expr
    outer_stop: Expr
    inner_start: Expr
    inner_stop: Expr


@dataclass(frozen=True, slots=True)
class GridPoints:
    """The points of a structured grid that a kernel is called for.

    `name` is that of metadata. `offset` says which points of the staggered grid share an index.
    `bounds` are those of a set that is not built in.
    """

    name: str
    offset: str
    bounds: GridBounds | None = None


@dataclass(frozen=True, slots=True)
class Formula:
    """Formula of a built-in at one dof.

    `value` names the built-in's arguments by their letters, which `letters` lists in the order of
    the arguments. Without a `reduction` the value is assigned to the written argument; with one
    it is combined into it. One that `is_random` is the next pseudo-random number, so that the
    order of dofs matters, and that of calls.
    """

    letters: tuple[str, ...]
    value: Expr
    reduction: ReductionOp | None = None
    is_random: bool = False


@dataclass(frozen=True, slots=True)
class Kernel(Named, FromModule):
    """A kernel or built-in: its iteration space, arguments and further requirements.

    `name` is the name used in an invoke, `procedure` the subroutine to call, `module` where both
    come from (empty for a built-in, which has a `formula`). `implementations` are its specific
    subroutines: itself, or those of an interface. A kernel for points of a structured
    grid has `points`.
    """

    name: str
    module: str
    procedure: str
    iteration: Iteration
    args: tuple[KernelArg, ...]
    functions: tuple[SpaceFunctions, ...] = ()
    shapes: tuple[BasisShape, ...] = ()
    targets: tuple[str, ...] = ()
    reference_element: tuple[str, ...] = ()
    mesh_properties: tuple[str, ...] = ()
    cma: CmaKind | None = None
    formula: Formula | None = None
    points: GridPoints | None = None
    implementations: tuple[str, ...] = ()
    generation: Generation = Generation.CURRENT
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def is_builtin(self) -> bool:
        """Return whether the kernel is a built-in."""
        return self.formula is not None

    @property
    def mask(self) -> int | None:
        """The position of the argument that says for which cells the kernel is called."""
        return next((at for at, arg in enumerate(self.args) if arg.is_mask), None)

    @property
    def is_intergrid(self) -> bool:
        """Return whether it maps fields between two meshes."""
        return any(arg.mesh is not None for arg in self.args)

    @property
    def has_several_meshes(self) -> bool:
        """Return whether its arguments may be on several meshes, or have several numberings."""
        return any(arg.mesh is not None or arg.has_own_dofmap for arg in self.args)

    @property
    def quadratures(self) -> tuple[BasisShape, ...]:
        """The shapes for which the algorithm passes a quadrature object, in order."""
        return tuple(shape for shape in self.shapes if shape.is_quadrature)
