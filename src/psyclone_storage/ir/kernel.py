"""Kernels with interpreted metadata.

One set of classes serves all domains; each domain uses the parts that apply to it.
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

    `INC` adds to dofs that are shared between cells; the previous values of the outermost dofs may
    be stale. `READINC` also reads the previous values, which must be valid everywhere.
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
    """Kind of a kernel argument."""

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
        """The maximum distance of a neighbour, 0 without any."""
        return max((max(abs(i), abs(j)) for i, j in self.offsets), default=0)

    @property
    def offsets(self) -> tuple[tuple[int, int], ...]:
        """The points read, as offsets `(i, j)` from the current point.

        `i` increases to the east and `j` to the north. The point itself is included if it is read.
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
        """The stencil in metadata syntax: `000,110,000`."""
        return ",".join("".join(map(str, row)) for row in self.rows)


class MeshRole(Enum):
    """Mesh of an argument of an inter-grid kernel: coarse or fine."""

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
    """Points at which basis functions are evaluated."""

    XYOZ = "gh_quadrature_xyoz"
    FACE = "gh_quadrature_face"
    EDGE = "gh_quadrature_edge"
    EVALUATOR = "gh_evaluator"

    @property
    def is_quadrature(self) -> bool:
        """Return whether the algorithm passes a quadrature object for this shape."""
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
    """Generation of LFRic metadata and calling sequence."""

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
    """One kernel argument, as described in the metadata.

    - `space`: function space or grid point type; for an operator, the space that it maps to.
    - `space_from`: the space that an operator maps from.
    - `vector`: number of components of a field vector. `rank`: rank of a scalar array.
    - `grid_property`: name of a grid property.
    - `layers`, `data_per_dof`: number of layers, or of values per dof, if they differ from the
      default. Each is a number, or a name for a run-time value; empty means the default.
    - `is_mask`: the kernel is called only for cells in which the first value of the field is
      positive.
    - `precision`: real kind, if a call has determined it; empty means the default.
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
        """The key of the argument's dofmap on its space.

        Arguments with equal keys share a dofmap.
        """
        return self.layers, self.data_per_dof

    @property
    def has_own_dofmap(self) -> bool:
        """Return whether the argument has a dofmap of its own on its function space."""
        return bool(self.layers or self.data_per_dof)

    @property
    def spaces(self) -> tuple[str, ...]:
        """The function spaces of the argument: for an operator, first `to`, then `from`."""
        return tuple(space for space in (self.space, self.space_from) if space)


@dataclass(frozen=True, slots=True)
class SpaceFunctions:
    """Basis operations that a kernel requires for one function space, in metadata order."""

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
    """Loop bounds of a named set of grid points.

    Each bound is an expression of `FIRST_INTERNAL` and `LAST_INTERNAL`.
    """

    outer_start: Expr
    outer_stop: Expr
    inner_start: Expr
    inner_stop: Expr


@dataclass(frozen=True, slots=True)
class GridPoints:
    """The grid points for which a kernel is called.

    `name` is the name in the metadata. `offset` defines which points of the staggered grid share an
    index. `bounds` is set for user-defined sets of points.
    """

    name: str
    offset: str
    bounds: GridBounds | None = None


@dataclass(frozen=True, slots=True)
class Formula:
    """The formula of a built-in for one dof.

    `letters` lists the letters that represent the arguments in `value`, in argument order. Without
    `reduction`, the value is assigned to the written argument; otherwise it is combined with it.
    `is_random` marks a pseudo-random number, for which the order of dofs and calls matters.
    """

    letters: tuple[str, ...]
    value: Expr
    reduction: ReductionOp | None = None
    is_random: bool = False


@dataclass(frozen=True, slots=True)
class Kernel(Named, FromModule):
    """A kernel or built-in: its iteration space, arguments and further requirements.

    `name` is the name used in an invoke, `procedure` the subroutine to call and `module` the module
    of both. A built-in has no module but a `formula`. `implementations` are the specific
    subroutines if `procedure` is a generic interface, otherwise the procedure itself. A kernel on a
    structured grid has `points`.
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
        """The position of the mask argument, which selects the cells to process.

        None without one.
        """
        return next((at for at, arg in enumerate(self.args) if arg.is_mask), None)

    @property
    def is_intergrid(self) -> bool:
        """Return whether the kernel maps fields between two meshes."""
        return any(arg.mesh is not None for arg in self.args)

    @property
    def has_several_meshes(self) -> bool:
        """Return whether the arguments may use several meshes or several dofmaps on one space."""
        return any(arg.mesh is not None or arg.has_own_dofmap for arg in self.args)

    @property
    def quadratures(self) -> tuple[BasisShape, ...]:
        """The shapes for which the algorithm passes a quadrature object, in order."""
        return tuple(shape for shape in self.shapes if shape.is_quadrature)
