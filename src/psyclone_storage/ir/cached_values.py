"""Arrays of caches for values that depend only on a grid property."""

from __future__ import annotations

from enum import Enum

from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.expr import Expr


class CachePart(Enum):
    """An array of a cache: the values, and the bits of the elements from which they follow."""

    VALUES = "values"
    KEYS = "keys"


@dataclass(frozen=True, slots=True)
class CachedArray:
    """An array of a cache that persists between invokes, with the shape of a grid property.

    `name` identifies the value in the kernel call `call`. The property is `grid_property` of the
    grid of `field`.
    """

    call: str
    name: str
    part: CachePart
    grid_property: str
    field: Expr
