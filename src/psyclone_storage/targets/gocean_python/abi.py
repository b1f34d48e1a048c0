"""Names of the Python grid runtime in generated code."""

from __future__ import annotations

from psyclone_storage.ir.types import Intrinsic, ScalarType

MODULE = "psyclone_storage.runtime.gocean"
HELD, POINTS, EXCHANGE, POWER, QUOTIENT = "held", "points", "exchange", "power", "quotient"
MODULE_VALUE = "module_value"
LESSER, GREATER, PICK, PUT, LAYER = "lesser", "greater", "pick", "put", "layer_or_zeros"
CHECKED = "checked_index"
LIBRARY, ROUTINE, WITHIN = "CompiledLibrary", "CompiledRoutine", "check_within"
DEVICE_LIBRARY = "DeviceLibrary"
REDUCED_ON_RANK, REDUCED_OVER_RANKS = "reduced_on_rank", "reduced_over_ranks"
ROUNDED_PART = "rounded_part"
REDUCING = (REDUCED_ON_RANK, REDUCED_OVER_RANKS, ROUNDED_PART)
TO_REAL = "float"
FUNCTIONS = frozenset({*REDUCING, TO_REAL})
"""Functions whose calls are printed as they are."""
FROM_MODULE = (
    HELD, POINTS, EXCHANGE, POWER, QUOTIENT, LESSER, GREATER, PICK, PUT, LAYER, CHECKED,
    MODULE_VALUE, *REDUCING,
)  # fmt: skip
"""What generated modules import from there by name."""

GRID, PROPERTY, READ_ONLY = "grid", "property", "data_ro"
INTERNAL, WHOLE, START, STOP, SHAPE = "internal", "whole", "start", "stop", "shape"
SUBDOMAIN = "subdomain"
LAYERS = "layers"
IS_DIRTY, SET_DIRTY, FIELD_EXCHANGE = "is_dirty", "set_dirty", "exchange"
FIELD_START, FIELD_FINISH = "start_exchange", "finish_exchange"
ONLY_DIRTY = "only_dirty"
VALUE, EXACT = "value", "exact"
NUMPY = "np"
INTEGER = ScalarType(Intrinsic.INTEGER)
REAL = ScalarType(Intrinsic.REAL)
RESERVED = frozenset(
    {*FROM_MODULE, NUMPY, "slice", "range", "min", "max", "at", "profiler", "halo_checks"}
)
"""Names that no variable of a generated module may have."""
