"""Names in LFRic metadata with their meaning, for all languages.

Both generations are included. A built-in is defined by its formula, which `domains.lfric` parses.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from psyclone_storage.infrastructures.lfric import (
    ANY_DISCONTINUOUS_SPACE,
    ANY_SPACE,
    DEFAULT_LIMITS,
    KINDS,
    MESH_PROPERTIES,
    OBJECT_TYPES,
    REFERENCE_ELEMENT_PROPERTIES,
    SIZES,
    space_names,
)
from psyclone_storage.ir import kernel as kern
from psyclone_storage.ir.interface import Role
from psyclone_storage.ir.types import DataType, DerivedType, Intrinsic, ScalarType

ARG_KINDS: Mapping[str, kern.ArgKind] = {
    "gh_field": kern.ArgKind.FIELD,
    "gh_operator": kern.ArgKind.OPERATOR,
    "gh_columnwise_operator": kern.ArgKind.COLUMNWISE_OPERATOR,
    "gh_scalar": kern.ArgKind.SCALAR,
    "gh_scalar_array": kern.ArgKind.SCALAR_ARRAY,
}
DATA_TYPES: Mapping[str, Intrinsic] = {
    "gh_real": Intrinsic.REAL,
    "gh_integer": Intrinsic.INTEGER,
    "gh_logical": Intrinsic.LOGICAL,
}
ACCESSES: Mapping[str, kern.Access] = MappingProxyType(
    {
        "gh_read": kern.Access.READ,
        "gh_write": kern.Access.WRITE,
        "gh_readwrite": kern.Access.READWRITE,
        "gh_inc": kern.Access.INC,
        "gh_readinc": kern.Access.READINC,
        "gh_reduction": kern.Access.REDUCTION,
        "gh_sum": kern.Access.REDUCTION,
    }
)
STENCILS: Mapping[str, kern.StencilShape] = {shape.value: shape for shape in kern.StencilShape}
MESHES: Mapping[str, kern.MeshRole] = {
    "gh_coarse": kern.MeshRole.COARSE,
    "gh_fine": kern.MeshRole.FINE,
}
ITERATIONS: Mapping[str, kern.Iteration] = {
    iteration.value: iteration
    for iteration in kern.Iteration
    if iteration is not kern.Iteration.GRID_POINT
}
ITERATIONS_2019: Mapping[str, kern.Iteration] = {"cells": kern.Iteration.CELL_COLUMN}
SHAPES: Mapping[str, kern.BasisShape] = {shape.value: shape for shape in kern.BasisShape}
OPERATIONS: Mapping[str, kern.BasisOperation] = {
    operation.value: operation for operation in kern.BasisOperation
}
COMPONENTS = (
    "meta_args",
    "meta_funcs",
    "meta_reference_element",
    "meta_mesh",
    "gh_shape",
    "gh_evaluator_targets",
    "operates_on",
)
"""The components of metadata of today, in order."""
ENTRIES: Mapping[str, str] = {
    "meta_args": "arg_type",
    "meta_funcs": "func_type",
    "meta_reference_element": "reference_element_data_type",
    "meta_mesh": "mesh_data_type",
    "gh_shape": "integer",
    "gh_evaluator_targets": "integer",
}
"""The types of the entries of those that are lists."""
STENCIL = "stencil"
DIRECTIONS: Mapping[str, int] = {"x_direction": 1, "y_direction": 2}
"""The words for the direction of a stencil that is chosen at run time, and their numbers."""
WORDS = (
    *ACCESSES,
    *DATA_TYPES,
    *STENCILS,
    *MESHES,
    *ITERATIONS,
    *SHAPES,
    *OPERATIONS,
    *space_names(DEFAULT_LIMITS),
)
"""All words that stand for themselves and are written in capitals, wherever they may stand."""
WILDCARDS = tuple(word.upper() for word in (ANY_SPACE, ANY_DISCONTINUOUS_SPACE))
"""What words for spaces begin with that stand for another one in each call."""
RANGES: Mapping[str, Role] = {
    "layers": Role.NLAYERS,
    "dofs": Role.NDF,
    "cells": Role.NCELL_2D_NO_HALOS,
    "neighbours": Role.STENCIL_SIZE,
    "fine_cells_x": Role.CELLS_PER_CELL_X,
    "fine_cells_y": Role.CELLS_PER_CELL_Y,
    "points_xy": Role.NPOINTS_XY,
    "points_z": Role.NPOINTS_Z,
    "points_xyz": Role.NPOINTS_XYZ,
    "quadrature_faces": Role.QUADRATURE_NFACES,
    "quadrature_edges": Role.QUADRATURE_NEDGES,
    "horizontal_faces": Role.NFACES_HORIZONTAL,
    "vertical_faces": Role.NFACES_VERTICAL,
    "all_faces": Role.NFACES,
    "rows": Role.CMA_NROW,
    "columns": Role.CMA_NCOL,
    "bands": Role.CMA_BANDWIDTH,
}
"""What kernels in Python loop over, and which number it is that they are passed."""
TABLES: Mapping[str, Role] = {
    "basis": Role.BASIS,
    "diff_basis": Role.DIFF_BASIS,
    "weights_xy": Role.WEIGHTS_XY,
    "weights_z": Role.WEIGHTS_Z,
    "weights_xyz": Role.WEIGHTS_XYZ,
    "normals": Role.NORMALS,
    "faces_next": Role.ADJACENT_FACE,
    "boundary_dofs": Role.BOUNDARY_DOFS,
    "banded_dofs": Role.BANDED_MAP,
    "column_dofs": Role.INDIRECTION_MAP,
}
"""The arrays that kernels in Python may look at, besides their arguments."""
FROM_ONE = frozenset({Role.ADJACENT_FACE, Role.BANDED_MAP, Role.INDIRECTION_MAP})
"""The roles of those whose elements are places, which count from 0 in Python."""
NUMBERS: Mapping[str, Role] = {
    "band_alpha": Role.CMA_ALPHA,
    "band_beta": Role.CMA_BETA,
    "band_gamma_m": Role.CMA_GAMMA_M,
    "band_gamma_p": Role.CMA_GAMMA_P,
}
"""The integers that kernels in Python may look at, besides their arguments."""
BODY_WORDS = (*RANGES, *TABLES, *NUMBERS)
DECLARED_TYPES: Mapping[str, DataType] = {
    **{name: DerivedType(name) for name in OBJECT_TYPES},
    **{name: ScalarType(Intrinsic.REAL, name) for name in SIZES},
    **{name: ScalarType(kind.intrinsic, name) for name, kind in KINDS.items()},
}
"""What programs in Python annotate variables by, as a declaration in Fortran says it."""
PROPERTIES = (*REFERENCE_ELEMENT_PROPERTIES, *MESH_PROPERTIES)
"""Words for what a mesh or its element has."""

REAL_BUILTINS = """
X_plus_Y(Z, X, Y): Z = X + Y
inc_X_plus_Y(X, Y): X = X + Y
a_plus_X(Y, a, X): Y = a + X
inc_a_plus_X(a, X): X = a + X
aX_plus_Y(Z, a, X, Y): Z = a*X + Y
inc_aX_plus_Y(a, X, Y): X = a*X + Y
inc_X_plus_bY(X, b, Y): X = X + b*Y
aX_plus_bY(Z, a, X, b, Y): Z = a*X + b*Y
inc_aX_plus_bY(a, X, b, Y): X = a*X + b*Y
aX_plus_aY(Z, a, X, Y): Z = a*(X + Y)
X_minus_Y(Z, X, Y): Z = X - Y
inc_X_minus_Y(X, Y): X = X - Y
a_minus_X(Y, a, X): Y = a - X
inc_a_minus_X(a, X): X = a - X
X_minus_a(Y, X, a): Y = X - a
inc_X_minus_a(X, a): X = X - a
aX_minus_Y(Z, a, X, Y): Z = a*X - Y
X_minus_bY(Z, X, b, Y): Z = X - b*Y
inc_X_minus_bY(X, b, Y): X = X - b*Y
aX_minus_bY(Z, a, X, b, Y): Z = a*X - b*Y
X_times_Y(Z, X, Y): Z = X*Y
inc_X_times_Y(X, Y): X = X*Y
inc_aX_times_Y(a, X, Y): X = a*X*Y
a_times_X(Y, a, X): Y = a*X
inc_a_times_X(a, X): X = a*X
X_divideby_Y(Z, X, Y): Z = X/Y
inc_X_divideby_Y(X, Y): X = X/Y
X_divideby_a(Y, X, a): Y = X/a
inc_X_divideby_a(X, a): X = X/a
a_divideby_X(Y, a, X): Y = a/X
inc_a_divideby_X(a, X): X = a/X
inc_X_powreal_a(X, a): X = X**a
inc_X_powint_n(X, n: integer): X = X**n
setval_c(X, c): X = c
setval_X(Y, X): Y = X
setval_random(X): X = random_number()
X_innerproduct_Y(r, X, Y): r = sum(X*Y)
X_innerproduct_X(r, X): r = sum(X*X)
sum_X(r, X): r = sum(X)
minval_X(r, X): r = minval(X)
maxval_X(r, X): r = maxval(X)
sign_X(Y, a, X): Y = sign(a, X)
max_aX(Y, a, X): Y = max(a, X)
inc_max_aX(a, X): X = max(a, X)
min_aX(Y, a, X): Y = min(a, X)
inc_min_aX(a, X): X = min(a, X)
real_to_int_X(Y: integer, X): Y = int(X, kind=kind(Y))
real_to_real_X(Y, X): Y = real(X, kind=kind(Y))
"""

INTEGER_BUILTINS = """
int_X_plus_Y(Z, X, Y): Z = X + Y
int_inc_X_plus_Y(X, Y): X = X + Y
int_a_plus_X(Y, a, X): Y = a + X
int_inc_a_plus_X(a, X): X = a + X
int_X_minus_Y(Z, X, Y): Z = X - Y
int_inc_X_minus_Y(X, Y): X = X - Y
int_a_minus_X(Y, a, X): Y = a - X
int_inc_a_minus_X(a, X): X = a - X
int_X_minus_a(Y, X, a): Y = X - a
int_inc_X_minus_a(X, a): X = X - a
int_X_times_Y(Z, X, Y): Z = X*Y
int_inc_X_times_Y(X, Y): X = X*Y
int_a_times_X(Y, a, X): Y = a*X
int_inc_a_times_X(a, X): X = a*X
int_setval_c(X, c): X = c
int_setval_X(Y, X): Y = X
int_sign_X(Y, a, X): Y = sign(a, X)
int_max_aX(Y, a, X): Y = max(a, X)
int_inc_max_aX(a, X): X = max(a, X)
int_min_aX(Y, a, X): Y = min(a, X)
int_inc_min_aX(a, X): X = min(a, X)
int_to_real_X(Y: real, X): Y = real(X, kind=kind(Y))
"""
BUILTINS = tuple(
    line.partition("(")[0] for line in (REAL_BUILTINS + INTEGER_BUILTINS).split("\n") if line
)
"""The names of all built-ins, as they are usually written."""
