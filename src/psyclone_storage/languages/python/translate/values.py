"""Typed Python expressions while they are printed, and translation errors.

A single-precision real is represented by a text whose double-precision value in Python is the same
number.
"""

from __future__ import annotations

import struct

from psyclone_storage.base.records import replace
from psyclone_storage.base.source import Span
from psyclone_storage.ir.expr import Literal
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.ir.typing import DOUBLE, INTEGER, LOGICAL, LONG, REAL, CType
from psyclone_storage.languages.c.types import CValue

_DIGITS_KEPT = 4
_BEYOND_INTEGERS = 2**31


class NoPythonError(Exception):
    """Error: a construct has no Python equivalent with the same results; the text has the reason.

    `place` is the location of a name that causes the error, if any.
    """

    def __init__(self, reason: str, place: Span | None = None) -> None:
        super().__init__(reason)
        self.reason, self.place = reason, place


def numeric_constant(literal: Literal, type_: CType) -> CValue:
    """Return a constant; raise `NoPythonError` if Python kernels do not support its type."""
    match literal.intrinsic:
        case Intrinsic.LOGICAL:
            return CValue(str(bool(literal.value)), LOGICAL)
        case Intrinsic.INTEGER if type_ == INTEGER:
            return CValue(str(literal.value), type_)
        case Intrinsic.INTEGER if (
            type_ == LONG and int(literal.text.partition("_")[0]) < _BEYOND_INTEGERS
        ):
            return CValue(str(literal.value), type_)
        case Intrinsic.REAL if type_ in (REAL, DOUBLE):
            value = float(literal.value)
            if type_ == REAL:
                value = _rounded(value, literal.text)
            if value == float("inf"):
                raise NoPythonError(f"'{literal.text}' is more than a number can be")
            return CValue(repr(value), type_)
    raise NoPythonError(f"'{literal.text}' is no number of a kernel in Python")


def _rounded(value: float, text: str) -> float:
    try:
        found: float = struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        raise NoPythonError(f"'{text}' is more than a number can be") from None
    return found


def as_double(value: CValue) -> CValue:
    """Return a number converted to double precision."""
    if value.type.is_integer:
        if value.text.isdigit():
            # More digits than a real number has would not be the same number.
            return CValue(f"{value.text}.0", DOUBLE)
        return CValue(f"float({value.text})", DOUBLE)
    return replace(value, type=DOUBLE)


def as_single(value: CValue) -> CValue:
    """Return a number rounded to single precision."""
    if value.type == REAL:
        return value
    if value.text.isdigit() and len(value.text) <= _DIGITS_KEPT:
        return CValue(f"{value.text}.0", REAL)
    return CValue(f"float(np.float32({value.text}))", REAL)
