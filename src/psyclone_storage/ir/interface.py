"""The dummy arguments of a kernel's subroutine, described by their roles.

A domain derives the list from the kernel's metadata. The back end uses it to pass actual arguments,
the stub generator to declare dummy arguments, and the kernel check to compare an existing
subroutine with its metadata.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from psyclone_storage.base.records import dataclass
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.kernel import Access, BasisOperation, BasisShape
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.types import Intent, ScalarType


class Role(Enum):
    """Role of a dummy argument of a kernel."""

    CELL = "cell"
    NLAYERS = "nlayers"
    NCELL_2D = "ncell_2d"
    NCELL_2D_NO_HALOS = "ncell_2d_no_halos"
    CELL_MAP = "cell_map"
    CELLS_PER_CELL_X = "ncpc_x"
    CELLS_PER_CELL_Y = "ncpc_y"
    CELLS_PER_CELL = "ncpc"
    NCELL_FINE = "ncell_fine"
    FIELD = "field"
    DOF_VALUE = "dof_value"
    DATA_PER_DOF = "ndata"
    FIELD_LAYERS = "field_nlayers"
    STENCIL_SIZE = "stencil_size"
    STENCIL_DIRECTION = "stencil_direction"
    STENCIL_MAX_BRANCH = "stencil_max_branch"
    STENCIL_MAP = "stencil_map"
    STENCIL_CELLS = "stencil_cells"
    OPERATOR_NCELL_3D = "operator_ncell_3d"
    OPERATOR = "operator"
    CMA_MATRIX = "cma_matrix"
    CMA_NROW = "cma_nrow"
    CMA_NCOL = "cma_ncol"
    CMA_BANDWIDTH = "cma_bandwidth"
    CMA_ALPHA = "cma_alpha"
    CMA_BETA = "cma_beta"
    CMA_GAMMA_M = "cma_gamma_m"
    CMA_GAMMA_P = "cma_gamma_p"
    SCALAR = "scalar"
    ARRAY_SHAPE = "array_shape"
    SCALAR_ARRAY = "scalar_array"
    NDF = "ndf"
    UNDF = "undf"
    DOFMAP = "dofmap"
    WHOLE_DOFMAP = "whole_dofmap"
    BANDED_MAP = "banded_map"
    INDIRECTION_MAP = "indirection_map"
    BASIS = "basis"
    DIFF_BASIS = "diff_basis"
    ORIENTATION = "orientation"
    BOUNDARY_DOFS = "boundary_dofs"
    NFACES_HORIZONTAL = "nfaces_h"
    NFACES_VERTICAL = "nfaces_v"
    NFACES = "nfaces"
    NORMALS = "normals"
    ADJACENT_FACE = "adjacent_face"
    NPOINTS_XY = "np_xy"
    NPOINTS_Z = "np_z"
    WEIGHTS_XY = "weights_xy"
    WEIGHTS_Z = "weights_z"
    NPOINTS_XYZ = "np_xyz"
    WEIGHTS_XYZ = "weights_xyz"
    QUADRATURE_NFACES = "quadrature_nfaces"
    QUADRATURE_NEDGES = "quadrature_nedges"
    GRID_INDEX_I = "i"
    GRID_INDEX_J = "j"
    GRID_PROPERTY = "grid_property"
    FIRST_COLUMN = "xstart"
    LAST_COLUMN = "xstop"
    FIRST_ROW = "ystart"
    LAST_ROW = "ystop"
    STRIP_FIRST = "first"
    STRIP_LAST = "last"
    IMPORTED = "imported"


OF_VALUES = frozenset(
    {
        Role.FIELD,
        Role.OPERATOR,
        Role.CMA_MATRIX,
        Role.SCALAR,
        Role.SCALAR_ARRAY,
        Role.DOF_VALUE,
        Role.GRID_PROPERTY,
    }
)
"""The roles of dummies that have the values of an argument of metadata."""
ANY = ex.Range()
"""The extent of what is passed, whatever it is."""


def shape_of_extents(*parts: str | int | ex.Expr) -> tuple[ex.Expr, ...]:
    """Return a shape with one extent for each part: a name, an integer or an expression."""
    return tuple(map(_extent, parts))


def _extent(part: str | int | ex.Expr) -> ex.Expr:
    match part:
        case str():
            return ex.Name(part)
        case int():
            return ex.whole(part)
    return part


@dataclass(frozen=True, slots=True)
class Dummy:
    """A dummy argument of a kernel's subroutine.

    - `arg`: the position of the metadata argument to which it belongs. For a function space, this
      is the first argument on `space`.
    - `component`: the component of a field vector, from 1.
    - `shape`: the extents, in terms of other dummy arguments; `ANY` if the caller chooses the
      extent; empty for a scalar.
    - `quadrature`, `operation`, `target`: distinguish arrays of basis functions.
    - `property_name`: the reference-element or mesh property.
    - `reach`: offsets from the current point at which an array may be read, None if the metadata do
      not list them.
    """

    role: Role
    name: str
    type: ScalarType
    shape: tuple[ex.Expr, ...] = ()
    arg: int | None = None
    component: int | None = None
    space: str = ""
    quadrature: BasisShape | None = None
    operation: BasisOperation | None = None
    target: str = ""
    property_name: str = ""
    access: Access = Access.READ
    reach: tuple[tuple[int, int], ...] | None = None

    @property
    def intent(self) -> Intent:
        """The intent, which is `inout` for each written argument.

        An array that is only written may keep some of its values.
        """
        return Intent.INOUT if self.access.writes else Intent.IN

    @property
    def rank(self) -> int:
        """The number of dimensions, 0 for a scalar."""
        return len(self.shape)


@dataclass(frozen=True, slots=True)
class SelectingWords:
    """Words by which a Python kernel selects one dummy argument of a role.

    The first word is one of `first`: a function space, a property, a quadrature rule or an argument
    name. Further words follow.
    """

    first: tuple[str, ...]
    behind: tuple[str, ...] = ()

    def fit(self, said: Sequence[str]) -> bool:
        """Return whether the lower-case words `said` select this dummy argument."""
        if not said:
            return True
        return said[0] in self.first and all(one in self.behind for one in said[1:])


def selecting_words(dummy: Dummy, own: Sequence[str]) -> SelectingWords:
    """Return the lower-case words that select `dummy`.

    `own` are the names of the kernel's arguments.
    """
    if dummy.space and dummy.role is not Role.STENCIL_SIZE:
        behind = () if dummy.quadrature is None else (dummy.target, dummy.quadrature.value)
        return SelectingWords((dummy.space,), tuple(filter(None, behind)))
    if dummy.property_name:
        return SelectingWords((dummy.property_name,))
    if dummy.quadrature is not None:
        return SelectingWords((dummy.quadrature.value,))
    return SelectingWords(() if dummy.arg is None else (key_of(own[dummy.arg]),))


@dataclass(frozen=True, slots=True)
class LayerCount:
    """A number of layers: a constant, plus the layers of the field for an argument if given."""

    arg: int | None
    constant: int


@dataclass(frozen=True, slots=True)
class LayerBound:
    """The field for `arg` needs `least` layers, if the one for `given.arg` has `given.constant`."""

    arg: int
    least: LayerCount
    given: LayerCount | None = None
