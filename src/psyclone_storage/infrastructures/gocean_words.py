"""The words of GOcean metadata, and what those for accesses mean: one table for all languages.

What settings need of them is in `gocean`, which imports no class of a kernel.
"""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.infrastructures.gocean import (
    ALL,
    EXTERNAL,
    FIELD_TYPES,
    INTERNAL,
    OFFSETS,
    POINTWISE,
    READ,
    SCALARS,
)
from psyclone_storage.ir.kernel import Access

ACCESSES: Mapping[str, Access] = {
    READ: Access.READ,
    "go_write": Access.WRITE,
    "go_readwrite": Access.READWRITE,
}
WORDS = (*ACCESSES, *FIELD_TYPES, *SCALARS, POINTWISE, INTERNAL, EXTERNAL, ALL, *OFFSETS)
"""All words that stand for themselves, wherever they may stand."""
