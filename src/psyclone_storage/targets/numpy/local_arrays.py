"""Local arrays and constants of a procedure, created at its start."""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.ir.expr import Binary, Expr, Name, Range, Star, whole
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.unit import Assign, Declare
from psyclone_storage.targets.numpy.expressions import UnsupportedError
from psyclone_storage.targets.numpy.statements import ProcedureWriter

_DTYPES = {
    Intrinsic.REAL: "",
    Intrinsic.INTEGER: ", dtype=np.int32",
    Intrinsic.LOGICAL: ", dtype=bool",
}


def array_definitions(writer: ProcedureWriter) -> Iterator[str]:
    """Yield statements that create the local arrays and constants of a procedure."""
    code = writer.code
    for item in code.declarations:
        if not isinstance(item, Declare) or item.key in code.dummy_keys:
            continue
        name = writer.name(Name(item.name))
        if item.value is not None and "parameter" in item.attributes:
            assert isinstance(item.type, ScalarType)
            if item.shape:
                of_type = _DTYPES[item.type.intrinsic] or ", dtype=float"
                yield f"{name} = np.array({writer.spelling.of(item.value)}{of_type})"
            else:
                yield f"{name} = {writer.converted(Assign(Name(item.name), item.value))}"
        elif item.value is not None:
            raise UnsupportedError(f"'{item.name}' keeps its value from call to call")
        elif item.shape:
            assert isinstance(item.type, ScalarType)
            extents = [_extent(writer, one) for one in item.shape]
            shape = extents[0] if len(extents) == 1 else f"({', '.join(extents)})"
            is_short = item.type.intrinsic is Intrinsic.REAL and writer.is_short(Name(item.name))
            dtype = ", dtype=np.float32" if is_short else _DTYPES[item.type.intrinsic]
            order = ', order="F"' if len(extents) > 1 else ""
            yield f"{name} = np.empty({shape}{dtype}{order})"


def _extent(writer: ProcedureWriter, one: Expr) -> str:
    lower: Expr = whole(1)
    if isinstance(one, Range):
        if one.upper is None:
            raise UnsupportedError("an array has no extent that is known")
        lower, one = one.lower or lower, one.upper
    if isinstance(one, Star):
        raise UnsupportedError("an array has no extent that is known")
    text = writer.shifted(Binary(Operator.MINUS, one, lower), 1)
    return text if text.isidentifier() or text.isdecimal() else f"max({text}, 0)"
