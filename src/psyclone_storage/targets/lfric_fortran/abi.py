"""Names of the LFRic infrastructure API in generated code.

All names of modules, types and type-bound procedures in generated LFRic code are in this file only.
Each enumeration lists the names of one module; a contract test looks them up in the Fortran sources
of the package. Source: LFRic core as of 2025 (spec 1.10 and 4.1).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from psyclone_storage.infrastructures.lfric import (
    KINDS,
    KINDS_MODULE,
    OBJECT_TYPES,
    QUADRATURE_TYPES,
    REFERENCE_ELEMENT_PROPERTIES,
    SPACES,
)
from psyclone_storage.ir.kernel import BasisOperation, ReductionOp, StencilShape
from psyclone_storage.ir.keys import keys_of
from psyclone_storage.ir.types import DerivedType

# ---------------------------------------------------------------------------- modules


class LFRicModule(StrEnum):
    """Modules of which single names are imported, in addition to those of the data types."""

    CONSTANTS = KINDS_MODULE
    FUNCTION_SPACE = "function_space_mod"
    SPACES = "function_space_collection_mod"
    CONTINUITY = "fs_continuity_mod"
    MESH = "mesh_mod"
    MESH_MAP = "mesh_map_mod"
    STENCIL = "stencil_dofmap_mod"
    STENCIL_2D = "stencil_2d_dofmap_mod"
    DIRECTION = "flux_direction_mod"
    REFERENCE_ELEMENT = "reference_element_mod"
    LOG = "log_mod"


JOINT_EXCHANGE = DerivedType("joint_exchange_type", "joint_exchange_mod")
"""Exchanges fields of one kind together; an extension of our own infrastructure."""
EXCHANGE_FIELDS = "exchange_fields"
"""The procedure of the same module that does so in one call."""

EXACT_SUM = DerivedType("exact_sum_type", "exact_sum_mod")
"""Sums reals of the kind `EXACT_KIND` without rounding; an extension of our own infrastructure."""


FETCH_MODULE, FETCH_SENT = "lfric_fetch_mod", "fetch_sent"
"""In `external/storage/lfric`, compiled with LFRic: what brings from a device what an exchange of
values, on a space, to a depth, sends."""

SPACE = DerivedType("function_space_type", LFRicModule.FUNCTION_SPACE)
SPACE_COLLECTION = "function_space_collection"
"""All function spaces of the program."""
SPACE_ON_MESH = "get_fs"
"""Gives one of them, by its mesh, its two element orders and its constant."""
MESH = DerivedType("mesh_type", LFRicModule.MESH)
MESH_MAP = DerivedType("mesh_map_type", LFRicModule.MESH_MAP)
STENCIL_MAP = DerivedType("stencil_dofmap_type", LFRicModule.STENCIL)
STENCIL_2D_MAP = DerivedType("stencil_2D_dofmap_type", LFRicModule.STENCIL_2D)
REFERENCE_ELEMENT = DerivedType("reference_element_type", LFRicModule.REFERENCE_ELEMENT)

# ---------------------------------------------------------------------------- members


class FieldMember(StrEnum):
    """Members of fields and their proxies."""

    PROXY = "get_proxy"
    DATA = "data"
    SPACE = "vspace"
    HALO_DEPTH = "get_field_proxy_halo_depth"
    IS_DIRTY = "is_dirty"
    SET_DIRTY = "set_dirty"
    SET_CLEAN = "set_clean"
    EXCHANGE = "halo_exchange"
    START = "halo_exchange_start"
    FINISH = "halo_exchange_finish"
    WHICH_SPACE = "which_function_space"


class OperatorMember(StrEnum):
    """Members of operators that act on cells, and their proxies."""

    PROXY = "get_proxy"
    STENCIL = "local_stencil"
    NCELL_3D = "ncell_3d"
    SPACE_TO = "fs_to"
    SPACE_FROM = "fs_from"


class Columnwise(StrEnum):
    """Members of columnwise operators and their proxies."""

    PROXY = "get_proxy"
    MATRIX = "columnwise_matrix"
    NROW = "nrow"
    NCOL = "ncol"
    BANDWIDTH = "bandwidth"
    ALPHA = "alpha"
    BETA = "beta"
    GAMMA_M = "gamma_m"
    GAMMA_P = "gamma_p"
    BANDED_TO = "column_banded_dofmap_to"
    BANDED_FROM = "column_banded_dofmap_from"
    INDIRECTION_TO = "indirection_dofmap_to"
    INDIRECTION_FROM = "indirection_dofmap_from"


class SpaceProcedure(StrEnum):
    """Type-bound procedures of function spaces."""

    NLAYERS = "get_nlayers"
    NDATA = "get_ndata"
    MESH = "get_mesh"
    NDF = "get_ndf"
    UNDF = "get_undf"
    NCELL = "get_ncell"
    DOFMAP = "get_whole_dofmap"
    LAST_OWNED = "get_last_dof_owned"
    LAST_ANNEXED = "get_last_dof_annexed"
    LAST_HALO = "get_last_dof_halo"
    DIMENSION = "get_dim_space"
    DIFF_DIMENSION = "get_dim_space_diff"
    NODES = "get_nodes"
    EVALUATE = "call_function"
    BOUNDARY_DOFS = "get_boundary_dofs"
    STENCIL = "get_stencil_dofmap"
    STENCIL_2D = "get_stencil_2D_dofmap"
    IS_READONLY = "is_readonly"
    HALO_DEPTH = "get_halo_depth"


class Mesh(StrEnum):
    """Type-bound procedures of meshes."""

    NCELLS_2D = "get_ncells_2d"
    LAST_EDGE = "get_last_edge_cell"
    LAST_INNER = "get_last_inner_cell"
    NUM_INNER = "get_num_cells_inner"
    LAST_HALO = "get_last_halo_cell"
    NCOLOURS = "get_ncolours"
    COLOUR_MAP = "get_colour_map"
    LAST_EDGE_OF_COLOURS = "get_last_edge_cell_all_colours"
    LAST_HALO_OF_COLOURS = "get_last_halo_cell_all_colours"
    NTILE_COLOURS = "get_ntilecolours"
    TILING_MAP = "get_coloured_tiling_map"
    LAST_EDGE_TILES = "get_last_edge_tile_all_colours"
    LAST_HALO_TILES = "get_last_halo_tile_all_colours"
    LAST_EDGE_OF_TILES = "get_last_edge_cell_all_colours_all_tiles"
    LAST_HALO_OF_TILES = "get_last_halo_cell_all_colours_all_tiles"
    ADJACENT_FACE = "get_adjacent_face"
    REFERENCE_ELEMENT = "get_reference_element"
    MAP_TO = "get_mesh_map"


class MeshMap(StrEnum):
    """Type-bound procedures of maps between two meshes."""

    CELLS = "get_whole_cell_map"
    PER_CELL_X = "get_ntarget_cells_per_source_x"
    PER_CELL_Y = "get_ntarget_cells_per_source_y"


class StencilMapProcedure(StrEnum):
    """Type-bound procedures of stencil maps."""

    DOFMAP = "get_whole_dofmap"
    SIZES = "get_stencil_sizes"


class ReferenceElementProcedure(StrEnum):
    """Type-bound procedures of reference elements."""

    NFACES = "get_number_faces"
    NFACES_HORIZONTAL = "get_number_horizontal_faces"
    NFACES_VERTICAL = "get_number_vertical_faces"


class Quadrature(StrEnum):
    """Members of quadrature rules and their proxies."""

    PROXY = "get_quadrature_proxy"
    EVALUATE = "compute_function"


class Scalar(StrEnum):
    """Members of the objects that reduce over ranks."""

    VALUE = "value"
    SUM = "get_sum"
    MIN = "get_min"
    MAX = "get_max"


class JointExchange(StrEnum):
    """Type-bound procedures of exchanges of several fields."""

    START = "start"
    FINISH = "finish"


class ExactSumProcedure(StrEnum):
    """Type-bound procedures of exact sums."""

    ADD = "add"
    SUM = "get_sum"
    SUM_OF_RANK = "get_sum_of_rank"


class Log(StrEnum):
    """Names of the logging module."""

    EVENT = "log_event"
    ERROR = "LOG_LEVEL_ERROR"
    WARNING = "LOG_LEVEL_WARNING"


NORMALS: Mapping[str, str] = {name: f"get_{name}" for name in REFERENCE_ELEMENT_PROPERTIES}
"""The procedures of a reference element that fill an array of normals, by metadata name."""

REDUCTIONS: Mapping[ReductionOp, Scalar] = {
    ReductionOp.SUM: Scalar.SUM,
    ReductionOp.MIN: Scalar.MIN,
    ReductionOp.MAX: Scalar.MAX,
}

# ---------------------------------------------------------------------------- named constants

STENCILS: Mapping[StencilShape, str] = {
    StencilShape.X1D: "STENCIL_1DX",
    StencilShape.Y1D: "STENCIL_1DY",
    StencilShape.CROSS: "STENCIL_CROSS",
    StencilShape.REGION: "STENCIL_REGION",
}
STENCIL_2D_CROSS = "STENCIL_2D_CROSS"
X_DIRECTION = "x_direction"
Y_DIRECTION = "y_direction"
DIRECTIONS: Mapping[str, StencilShape] = {
    X_DIRECTION: StencilShape.X1D,
    Y_DIRECTION: StencilShape.Y1D,
}
EVALUATIONS: Mapping[BasisOperation, str] = {
    BasisOperation.BASIS: "BASIS",
    BasisOperation.DIFF_BASIS: "DIFF_BASIS",
}
ORIENTATION = "get_cell_orientation"
"""Gives the orientation of a cell's dofs; asked for by kernels of 2019 only (spec 4.3)."""

RESERVED = keys_of(
    name
    for name in (
        *LFRicModule, *Log, *STENCILS.values(), STENCIL_2D_CROSS, *DIRECTIONS,
        *EVALUATIONS.values(),
        *(space.constant for space in SPACES.values() if space.constant),
        *(item.name for item in (MESH, MESH_MAP, STENCIL_MAP, STENCIL_2D_MAP, REFERENCE_ELEMENT)),
        SPACE.name, SPACE_COLLECTION, FETCH_MODULE, FETCH_SENT,
        *(name
          for item in (*OBJECT_TYPES.values(), *QUADRATURE_TYPES.values())
          for name in (item.name, item.proxy, item.module)),
        *(kind.reduced_by.name for kind in KINDS.values() if kind.reduced_by),
        *(item.name for item in (EXACT_SUM, JOINT_EXCHANGE)), "halo_check_type",
        EXCHANGE_FIELDS,
    )
)  # fmt: skip
"""Names that no variable of generated code may take, because they are or may be imported."""
