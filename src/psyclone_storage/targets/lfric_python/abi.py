"""Names of the Python LFRic runtime in generated code."""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.ir.interface import Role
from psyclone_storage.ir.kernel import ReductionOp, StencilShape

MODULE = "psyclone_storage.runtime.lfric"
LIBRARY, DEVICE_LIBRARY, ROUTINE, EXCHANGE, START, CHECK_VECTOR = (
    "CompiledLibrary",
    "DeviceLibrary",
    "CompiledRoutine",
    "exchange",
    "start_exchange",
    "check_vector",
)
SPACE_OF: Mapping[str, str] = {"": "space", "to": "to_space", "from": "from_space"}
"""The space of a field, and the two of an operator."""
DOFS_OF: Mapping[str, str] = {"": "dofs", "to": "to_dofs", "from": "from_dofs"}
"""What says how many dofs of a cell such a space has at least."""
MESH, RANKS, ELEMENT = "mesh", "ranks", "reference_element"
LAYERS, HALO_DEPTH, CELLS, OWNED_CELLS = "nlayers", "halo_depth", "ncells_2d", "last_edge_cell"
COLOURS, TILE_COLOURS = "ncolours", "ntilecolours"
COLOUR_MAP, TILE_MAP = "colour_map", "tile_map"
ENDS_OF_COLOURS = ("last_edge_cells_of_colours", "last_halo_cells_of_colours")
ENDS_OF_TILE_COLOURS = ("last_edge_tiles_of_colours", "last_halo_tiles_of_colours")
ENDS_OF_TILES = ("last_edge_cells_of_tiles", "last_halo_cells_of_tiles")
LAST_HALO_CELL, LAST_INNER_CELL = "last_halo_cell", "last_inner_cell"
CELLS_OF_SPACE = "ncell"
NDF, UNDF, NDATA, DOFMAP, BOUNDARY = "ndf", "undf", "ndata", "dofmap", "boundary_dofs"
LAST_OWNED, LAST_ANNEXED, LAST_HALO = "last_dof_owned", "last_dof_annexed", "last_dof_halo"
BASIS, DIFF_BASIS = "basis", "diff_basis"
ADJACENT_FACE = "adjacent_face"
OPERATOR_CELLS = "ncell_3d"
BAND_NUMBERS: Mapping[Role, str] = {
    Role.CMA_NROW: "nrow",
    Role.CMA_NCOL: "ncol",
    Role.CMA_BANDWIDTH: "bandwidth",
    Role.CMA_ALPHA: "alpha",
    Role.CMA_BETA: "beta",
    Role.CMA_GAMMA_M: "gamma_m",
    Role.CMA_GAMMA_P: "gamma_p",
}
COLUMN_MAPS: Mapping[Role, tuple[str, int]] = {
    Role.BANDED_MAP: ("banded_dofmap", 2),
    Role.INDIRECTION_MAP: ("indirection_dofmap", 1),
}
"""How a columnwise operator numbers the dofs of its spaces, without the side, and the ranks."""
MAP_TO, CELLS_OF_MAP = "map_to", "cells"
STENCIL, STENCIL_MAP, STENCIL_SIZES, STENCIL_SIZE = "stencil", "dofmap", "sizes", "size"
STENCIL_CELLS = "cells"
STENCILS: Mapping[StencilShape, str] = {
    StencilShape.X1D: "x1d",
    StencilShape.Y1D: "y1d",
    StencilShape.CROSS: "cross",
    StencilShape.CROSS2D: "cross2d",
    StencilShape.REGION: "region",
}
IN_PAIRS: Mapping[Role, str] = {
    Role.CELLS_PER_CELL_X: "ncell_per_x",
    Role.CELLS_PER_CELL_Y: "ncell_per_y",
}
FACES: Mapping[Role, str] = {
    Role.NFACES: "nfaces",
    Role.NFACES_HORIZONTAL: "nfaces_horizontal",
    Role.NFACES_VERTICAL: "nfaces_vertical",
}
RULE_NUMBERS: Mapping[Role, str] = {
    Role.NPOINTS_XY: "np_xy",
    Role.NPOINTS_Z: "np_z",
    Role.NPOINTS_XYZ: "np_xyz",
    Role.QUADRATURE_NFACES: "nfaces",
    Role.QUADRATURE_NEDGES: "nedges",
}
RULE_WEIGHTS: Mapping[Role, tuple[str, int]] = {
    Role.WEIGHTS_XY: ("weights_xy", 1),
    Role.WEIGHTS_Z: ("weights_z", 1),
    Role.WEIGHTS_XYZ: ("weights_xyz", 2),
}
"""The arrays of a quadrature rule, with their ranks."""
IS_DIRTY, SET_DIRTY, SET_CLEAN = "is_dirty", "set_dirty", "set_clean"
FIELD_EXCHANGE, FIELD_START, FIELD_FINISH = "exchange", "start_exchange", "finish_exchange"
REACH, SAME_DOFS = "reach", "same_dofs"
ONLY_DIRTY = "only_dirty"
VALUE = "value"
ADDRESS = "address"
EXACT_SUM, SUM, SUM_OF_RANK = "ExactSum", "total", "total_of_rank"
"""A sum without rounding, and what gives the rounded one: of all ranks, and of this one."""
SCALAR_ARRAY, SHAPE, EXTENTS, VALUES = "scalar_array", "shape", "extents", "values"
"""What makes an array ready to be passed, and what is asked of it."""
HELD, SCALAR, POWER, WHOLE_POWER, QUOTIENT = "held", "scalar", "power", "whole_power", "quotient"
LESSER, GREATER, ADDED, LEAST, GREATEST = "lesser", "greater", "added", "least", "greatest"
MODULE_VALUE, OF_LIBRARY, CHECKED = "module_value", "of_library", "checked_index"
WHOLE, KEPT = "whole_number", "kept_whole"
"""What makes integers of reals, and what sees that one has 32 bits."""
ADD_TO_SUM = "add"
IN_KERNELS = (POWER, WHOLE_POWER, QUOTIENT, LESSER, GREATER, ADDED, LEAST, GREATEST, MODULE_VALUE,
              OF_LIBRARY, CHECKED, WHOLE, KEPT)  # fmt: skip
FOR_NUMPY = (*IN_KERNELS, HELD, SCALAR, SCALAR_ARRAY, EXACT_SUM, EXCHANGE, CHECK_VECTOR)
"""What modules that compute by NumPy import by name."""
NUMPY_WORDS = frozenset({*IN_KERNELS, "np", "range", "slice", "min", "max", "int"})
"""Names that no variable of a kernel may have there."""
REDUCTIONS: Mapping[ReductionOp, str] = {
    ReductionOp.SUM: "total",
    ReductionOp.MIN: "least",
    ReductionOp.MAX: "greatest",
}
RESERVED = frozenset(
    {EXCHANGE, START, EXACT_SUM, LIBRARY, DEVICE_LIBRARY, ROUTINE, HELD, SCALAR, *NUMPY_WORDS,
     SCALAR_ARRAY, "run", "given", "data", "reals", "counts", "tables", "ctypes", "len", "float",
     "profiler", "halo_checks"}
)  # fmt: skip
"""Names that no variable of a generated module may have."""
