"""Expressions of Python while they are printed: texts with types, and what cannot be printed.

A real number of single precision is a text whose value in Python, where all are of double
precision, is the same number.
"""

from __future__ import annotations

import struct

from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.base.source import Span
from psyclone_storage.ir.expr import Literal
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.ir.typing import CType

CHOICE, OR, AND, NOT, COMPARED, SUM, PRODUCT, SIGN, POWER, ATOM = range(10)
"""How strongly operators bind, as Python has it."""

INTEGER = CType(Intrinsic.INTEGER, 4)
WIDE = CType(Intrinsic.INTEGER, 8)
SINGLE = CType(Intrinsic.REAL, 4)
DOUBLE = CType(Intrinsic.REAL, 8)
LOGICAL = CType(Intrinsic.LOGICAL, 4)
_DIGITS_KEPT = 4
_BEYOND_INTEGERS = 2**31


class NoPythonError(Exception):
    """Something has no form in Python that is known to compute the same; the text says why.

    The `place` is that of a name, where one is to blame.
    """

    def __init__(self, reason: str, place: Span | None = None) -> None:
        super().__init__(reason)
        self.reason, self.place = reason, place


@dataclass(frozen=True, slots=True)
class TypedText:
    """A text of Python with its type; `rank` is that of its outermost operator."""

    text: str
    type: CType
    rank: int = ATOM

    def within(self, rank: int) -> str:
        """Return the text as an operand of an operator that binds as `rank` says."""
        return f"({self.text})" if self.rank < rank else self.text


def number(literal: Literal, type_: CType) -> TypedText:
    """Return a constant; raise `NoPythonError` if its type is none of those of kernels."""
    match literal.intrinsic:
        case Intrinsic.LOGICAL:
            return TypedText(str(bool(literal.value)), LOGICAL)
        case Intrinsic.INTEGER if type_ == INTEGER:
            return TypedText(str(literal.value), type_)
        case Intrinsic.INTEGER if (
            type_ == WIDE and int(literal.text.partition("_")[0]) < _BEYOND_INTEGERS
        ):
            return TypedText(str(literal.value), type_)
        case Intrinsic.REAL if type_ in (SINGLE, DOUBLE):
            value = float(literal.value)
            if type_ == SINGLE:
                value = _rounded(value, literal.text)
            if value == float("inf"):
                raise NoPythonError(f"'{literal.text}' is more than a number can be")
            return TypedText(repr(value), type_)
    raise NoPythonError(f"'{literal.text}' is no number of a kernel in Python")


def _rounded(value: float, text: str) -> float:
    try:
        found: float = struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        raise NoPythonError(f"'{text}' is more than a number can be") from None
    return found


def as_double(value: TypedText) -> TypedText:
    """Return a number as a real one of double precision, as an operation converts it."""
    if value.type.is_integer:
        if value.text.isdigit():
            # More digits than a real number has would not be the same number.
            return TypedText(f"{value.text}.0", DOUBLE)
        return TypedText(f"float({value.text})", DOUBLE)
    return replace(value, type=DOUBLE)


def as_single(value: TypedText) -> TypedText:
    """Return a number rounded to single precision."""
    if value.type == SINGLE:
        return value
    if value.text.isdigit() and len(value.text) <= _DIGITS_KEPT:
        return TypedText(f"{value.text}.0", SINGLE)
    return TypedText(f"float(np.float32({value.text}))", SINGLE)
