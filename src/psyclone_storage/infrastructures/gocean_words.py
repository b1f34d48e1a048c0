"""Names in GOcean metadata, with the meaning of access names, for all languages.

Programs in Python import them, without the classes of the compiler.
"""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.infrastructures.gocean import (
    ALL,
    EXTERNAL,
    FIELD_TYPES,
    INTERNAL,
    LAYERS,
    OFFSETS,
    POINTWISE,
    READ,
    SCALARS,
    VALUE_WORDS,
)

ACCESSES: Mapping[str, str] = {READ: "read", "go_write": "write", "go_readwrite": "readwrite"}
"""The values of `ir.kernel.Access`."""
_OF_VALUES = (LAYERS, *VALUE_WORDS)
WORDS = (
    *ACCESSES, *FIELD_TYPES, *SCALARS, POINTWISE, INTERNAL, EXTERNAL, ALL, *_OF_VALUES, *OFFSETS,
)  # fmt: skip
"""All words that stand for themselves, wherever they may stand."""
REDUCTIONS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "sum_X": ("sum", ("X",)),
    "minval_X": ("min", ("X",)),
    "maxval_X": ("max", ("X",)),
    "X_innerproduct_Y": ("sum", ("X", "Y")),
    "X_innerproduct_X": ("sum", ("X", "X")),
}
"""Built-ins for programs in Python: the operation, and the factors of what is reduced."""
RANGES: Mapping[str, str] = {"layers": "nlayers"}
"""The ranges over which kernels in Python loop: the values of `ir.interface.Role`."""
