"""The types that an LFRic algorithm may declare, and what data each of them holds.

The declared type decides the precision of the data; the metadata only asks for real, integer
or logical data. Modules and proxies of these types are the back end's business.
"""

from __future__ import annotations

from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.kernel import ArgKind, BasisShape
from psyclone_storage.ir.types import DerivedType, Intrinsic, ScalarType


@dataclass(frozen=True, slots=True)
class Holds:
    """What an object of a derived type is, and the type of its data."""

    kind: ArgKind
    data: ScalarType


def _real(kind: ArgKind, precision: str) -> Holds:
    return Holds(kind, ScalarType(Intrinsic.REAL, precision))


_PRECISIONS = {
    "": "r_def",
    "r_solver_": "r_solver",
    "r_tran_": "r_tran",
    "r_bl_": "r_bl",
}

OBJECT_TYPES: dict[str, Holds] = {
    **{f"{p}field_type": _real(ArgKind.FIELD, kind) for p, kind in _PRECISIONS.items()},
    "field_real32_type": _real(ArgKind.FIELD, "real32"),
    "field_real64_type": _real(ArgKind.FIELD, "real64"),
    "integer_field_type": Holds(ArgKind.FIELD, ScalarType(Intrinsic.INTEGER, "i_def")),
    "operator_type": _real(ArgKind.OPERATOR, "r_def"),
    "r_solver_operator_type": _real(ArgKind.OPERATOR, "r_solver"),
    "r_tran_operator_type": _real(ArgKind.OPERATOR, "r_tran"),
    "operator_real32_type": _real(ArgKind.OPERATOR, "real32"),
    "operator_real64_type": _real(ArgKind.OPERATOR, "real64"),
    "columnwise_operator_type": _real(ArgKind.COLUMNWISE_OPERATOR, "r_solver"),
}

# A component `vector` of one of these is an array of the type on the right.
VECTOR_TYPES: dict[str, str] = {
    "field_vector_type": "field_type",
    "r_solver_field_vector_type": "r_solver_field_type",
    "r_tran_field_vector_type": "r_tran_field_type",
    "r_bl_field_vector_type": "r_bl_field_type",
}

QUADRATURE_TYPES: dict[BasisShape, str] = {
    BasisShape.XYOZ: "quadrature_xyoz_type",
    BasisShape.FACE: "quadrature_face_type",
    BasisShape.EDGE: "quadrature_edge_type",
}

DEFAULT_KINDS: dict[Intrinsic, str] = {
    Intrinsic.REAL: "r_def",
    Intrinsic.INTEGER: "i_def",
    Intrinsic.LOGICAL: "l_def",
}


def default_type(kind: ArgKind, intrinsic: Intrinsic) -> DerivedType | ScalarType:
    """Return the type that an undeclared argument is taken to have."""
    if kind.is_scalar:
        return ScalarType(intrinsic, DEFAULT_KINDS[intrinsic])
    if kind is ArgKind.OPERATOR:
        return DerivedType("operator_type")
    if kind is ArgKind.COLUMNWISE_OPERATOR:
        return DerivedType("columnwise_operator_type")
    return DerivedType("field_type" if intrinsic is Intrinsic.REAL else "integer_field_type")
