"""Data types."""

from __future__ import annotations

from enum import Enum, StrEnum

from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.keys import OfKind


class Intrinsic(Enum):
    """Intrinsic type of a value."""

    REAL = "real"
    INTEGER = "integer"
    LOGICAL = "logical"
    CHARACTER = "character"
    COMPLEX = "complex"


class Intent(StrEnum):
    """Intent of a dummy argument."""

    IN = "in"
    OUT = "out"
    INOUT = "inout"


@dataclass(frozen=True, slots=True)
class ScalarType(OfKind):
    """An intrinsic type and its kind as written (`r_def`, `8`), None if not given."""

    intrinsic: Intrinsic
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class DerivedType:
    """A derived type by its lower-case name, and its module if known."""

    name: str
    module: str | None = None


DataType = ScalarType | DerivedType
