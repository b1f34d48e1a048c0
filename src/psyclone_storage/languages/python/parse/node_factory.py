"""Construction of typed-code nodes for the Python reader: constants and operators.

A Python number becomes a constant of the real type of kernels.
"""

from __future__ import annotations

from psyclone_storage.base.records import replace
from psyclone_storage.ir.expr import Binary, CallFunction, Element, Expr, Literal, Name, Unary
from psyclone_storage.ir.operators import SPELLINGS
from psyclone_storage.ir.types import Intrinsic, ScalarType


def scalar_type(intrinsic: Intrinsic, reals: ScalarType) -> ScalarType:
    """Return the type of a value; `reals` is the type used for reals."""
    return reals if intrinsic is Intrinsic.REAL else ScalarType(intrinsic)


def signed_integer(value: int) -> Expr:
    """Return an integer constant; a negative one is a negated literal."""
    made = Literal(str(abs(value)), Intrinsic.INTEGER)
    return made if value >= 0 else unary_operation(made)


def digits(text: str) -> Expr:
    """Return an integer literal as written, including leading zeros."""
    return Literal(text, Intrinsic.INTEGER)


def real(value: float, type_: ScalarType) -> Expr:
    """Return a real constant of a type, using the shortest text that round-trips."""
    text = repr(value)
    if "." not in text and "e" in text:
        text = text.replace("e", ".0e")
    made = Literal(text, Intrinsic.REAL)
    return made if type_.kind is None else made.with_kind(type_.kind)


def infinity(type_: ScalarType) -> Expr:
    """Return the real that is larger than all numbers of a type."""
    made = Literal("1.0e9999", Intrinsic.REAL)
    return made if type_.kind is None else made.with_kind(type_.kind)


def truth(value: bool) -> Expr:
    """Return a logical constant."""
    return Literal(f".{str(value).lower()}.", Intrinsic.LOGICAL)


def binary_operation(op: str, left: Expr, right: Expr) -> Binary:
    """Return a binary operation."""
    return Binary(SPELLINGS[op], left, right)


def parenthesized(expr: Expr) -> Expr:
    """Return a binary operation marked as parenthesised; return other expressions unchanged."""
    return replace(expr, bracketed=True) if isinstance(expr, Binary) else expr


def unary_operation(operand: Expr, op: str = "-") -> Unary:
    """Return a unary operation."""
    return Unary(SPELLINGS[op], operand)


def intrinsic_call(function: str, *args: Expr) -> CallFunction:
    """Return a call of an intrinsic function."""
    return CallFunction(Name(function), args)


def element(
    array: str, index: tuple[str, str], offset: tuple[int, int], layer: tuple[Expr, ...] = ()
) -> Element:
    """Return the element of `array` at the given offset from the point `index`.

    The layer comes first, because the values of a point follow each other in memory.
    """
    return Element(Name(array), (*layer, *map(_next_to, (Name(name) for name in index), offset)))


def _next_to(index: Name, distance: int) -> Expr:
    if not distance:
        return index
    return binary_operation("+" if distance > 0 else "-", index, signed_integer(abs(distance)))
