"""The dummy arguments of a kernel's subroutine, as roles.

A domain derives this list from a kernel's metadata once. Three readers use it: the back end, to
pass the actual arguments; the stub generator, to declare the dummies; the kernel check, to
compare a written subroutine with them.
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
    """Return the shape with one of `parts` for each dimension: a name, a number, an expression."""
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
    """One dummy argument.

    `arg` is the position in the metadata's arguments that it belongs to: of the argument itself, or
    of the first one on the function space `space`. `component` counts the parts of a field
    vector from 1. `shape` has the extents of an array, in the names of the other dummies, `ANY`
    where the caller decides; a scalar has none. `quadrature`, `operation` and `target` distinguish
    basis arrays; `property_name` is that of a reference-element or mesh property.
    `reach` are the points, as distances from the one that the kernel is called for, at which an
    array may be read; None where metadata do not say.
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
        """The access of the subroutine; an array that is only written may keep some values."""
        return Intent.INOUT if self.access.writes else Intent.IN

    @property
    def rank(self) -> int:
        """The number of dimensions, 0 for a scalar."""
        return len(self.shape)


@dataclass(frozen=True, slots=True)
class SelectingWords:
    """The words by which Python kernels select one dummy of a role.

    One of `first` is the first word: a function space, a property, a rule of quadrature, or the
    name of an argument; further words follow.
    """

    first: tuple[str, ...]
    behind: tuple[str, ...] = ()

    def fit(self, said: Sequence[str]) -> bool:
        """Return whether what is said, in lower case, means this dummy."""
        if not said:
            return True
        return said[0] in self.first and all(one in self.behind for one in said[1:])


def selecting_words(dummy: Dummy, own: Sequence[str]) -> SelectingWords:
    """Return the words for a dummy, in lower case; `own` are the names of the arguments."""
    if dummy.space and dummy.role is not Role.STENCIL_SIZE:
        behind = () if dummy.quadrature is None else (dummy.target, dummy.quadrature.value)
        return SelectingWords((dummy.space,), tuple(filter(None, behind)))
    if dummy.property_name:
        return SelectingWords((dummy.property_name,))
    if dummy.quadrature is not None:
        return SelectingWords((dummy.quadrature.value,))
    return SelectingWords(() if dummy.arg is None else (key_of(own[dummy.arg]),))
