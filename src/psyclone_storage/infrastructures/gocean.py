"""GOcean and dl_esm_inf: types of grid points, offsets, sets of points, grids and kinds.

Names are in the current spelling of metadata, in lower case. `domains.gocean.table` defines the
locations of the points of each type.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.types import Intrinsic, ScalarType

# ---------------------------------------------------------------------------- words of metadata

T_POINTS, U_POINTS, V_POINTS, F_POINTS = "go_ct", "go_cu", "go_cv", "go_cf"
POINT_TYPES = (T_POINTS, U_POINTS, V_POINTS, F_POINTS)
ANY_TYPE = "go_every"
FIELD_TYPES = (*POINT_TYPES, ANY_TYPE)
"""The types of grid points that a field is on, and the word for any of them."""

NORTH_EAST, SOUTH_WEST = "go_offset_ne", "go_offset_sw"
ANY_OFFSET = "go_offset_any"
OFFSETS = ("go_offset_se", SOUTH_WEST, NORTH_EAST, "go_offset_nw", ANY_OFFSET)
"""Where the points of the other types lie that have the index of a T point."""

INTERNAL, EXTERNAL, ALL = "go_internal_pts", "go_external_pts", "go_all_pts"
"""The sets of points that every infrastructure has; settings add others."""

ENTRY, COMPONENTS = "go_arg", ("meta_args", "iterates_over", "index_offset")
POINTWISE, STENCIL = "go_pointwise", "go_stencil"
SCALARS: Mapping[str, Intrinsic] = {
    "go_r_scalar": Intrinsic.REAL,
    "go_i_scalar": Intrinsic.INTEGER,
}
READ = "go_read"
LAYERS = "go_layers"
"""A field with a value for each layer at each point: our extension, for kernels in Python."""
PROPERTIES = (
    *(f"go_grid_{what}_{place}" for what in ("area", "dx", "dy") for place in "tuv"),
    "go_grid_lat_u",
    "go_grid_lat_v",
    "go_grid_mask_t",
    "go_grid_dx_const",
    "go_grid_dy_const",
)
"""Properties of a grid as everybody has them; which there are, and of what type, settings say."""

# ---------------------------------------------------------------------------- values

WORKING_PRECISION = "go_wp"
INTEGER = ScalarType(Intrinsic.INTEGER)
REAL = ScalarType(Intrinsic.REAL, WORKING_PRECISION)


def value_type(intrinsic: Intrinsic, precision: str = "") -> ScalarType:
    """Return the type of the values of a field, a scalar or a grid property."""
    if intrinsic is not Intrinsic.REAL:
        return ScalarType(intrinsic)
    return ScalarType(intrinsic, precision) if precision else REAL


@dataclass(frozen=True, slots=True)
class FieldForm:
    """The type of a field's values, its name in NumPy, and whether there are layers."""

    values: ScalarType
    numpy: str
    has_layers: bool


SINGLE = ScalarType(Intrinsic.REAL, "go_sp")
VALUE_WORDS: Mapping[str, ScalarType] = {"go_float32": SINGLE, "go_int32": INTEGER}
"""Types of a field's values other than reals of 64 bits: our extension, for kernels in Python."""
_VALUES = {"r": (REAL, "float64"), "s": (SINGLE, "float32"), "i": (INTEGER, "int32")}
FIELD_FORMS: Mapping[str, FieldForm] = {
    f"{letter}{2 + has_layers}d_field": FieldForm(values, numpy, has_layers)
    for letter, (values, numpy) in _VALUES.items()
    for has_layers in (False, True)
}
"""The forms of fields by the names of their types; Fortran has the first one alone."""
FIELD_TYPE = "r2d_field"


def field_type(values: ScalarType, *, has_layers: bool) -> str:
    """Return the name of the type of a field."""
    forms = FIELD_FORMS.items()
    return next(name for name, one in forms if (one.values, one.has_layers) == (values, has_layers))


# ---------------------------------------------------------------------------- grids


@dataclass(frozen=True, slots=True)
class GridProperty:
    """Grid property: its location, and the kernel argument for it.

    - `path`: a Fortran expression with `{0}` in place of the field variable, such as
      `{0}%grid%area_t`.

    - `rank`: 0 for one value, 2 for one value per grid point.
    """

    path: str
    rank: int
    intrinsic: Intrinsic


class RequiredProperty(StrEnum):
    """Entries of the setting `grid-properties` that generated code requires (spec 5.2)."""

    X_STOP = "go_grid_xstop"
    Y_STOP = "go_grid_ystop"
    DATA = "go_grid_data"
    INTERNAL_INNER_START = "go_grid_internal_inner_start"
    INTERNAL_INNER_STOP = "go_grid_internal_inner_stop"
    INTERNAL_OUTER_START = "go_grid_internal_outer_start"
    INTERNAL_OUTER_STOP = "go_grid_internal_outer_stop"
    WHOLE_INNER_START = "go_grid_whole_inner_start"
    WHOLE_INNER_STOP = "go_grid_whole_inner_stop"
    WHOLE_OUTER_START = "go_grid_whole_outer_start"
    WHOLE_OUTER_STOP = "go_grid_whole_outer_stop"
