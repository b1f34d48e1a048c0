"""Operators and elemental functions applied to printed C values.

The result is that of gfortran without options that permit inexact results. Parentheses are
respected, powers use the same products, and conversions follow the Fortran standard.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from psyclone_storage.ir.operators import AnyOperator, Operator, OperatorKind, Precedence
from psyclone_storage.ir.typing import DOUBLE, INTEGER, LOGICAL, REAL, CType, PrintError
from psyclone_storage.languages.c.types import CValue, common_type, is_number
from psyclone_storage.languages.intrinsics import INTRINSICS
from psyclone_storage.languages.operators import BITS, COMPLEMENT, REMAINDER, SHIFT, C

Helper = Callable[[str], str]
"""Notes that a function is called, and returns its name."""


def unary(op: AnyOperator, operand: CValue) -> CValue:
    """Apply a unary operator."""
    if (op is Operator.NOT) is operand.type.is_logical:
        if op is Operator.PLUS:
            return operand
        if op in C.prefixes:
            return _narrowed(CValue.of(C.unary(op, operand), operand.type))
    raise PrintError(f"the operator '{op.spelling}' is not printed for such values")


def binary_value(op: AnyOperator, left: CValue, right: CValue, helper: Helper) -> CValue:
    """Apply a binary operator."""
    logicals = left.type.is_logical + right.type.is_logical
    wanted = 2 if op.kind is OperatorKind.LOGICAL else 0
    if logicals not in (0, wanted):
        raise PrintError(f"the operator '{op.spelling}' is not printed for such values")
    if op is Operator.POWER:
        return power_value(left, right, helper)
    if op not in C.infixes or logicals != wanted:
        raise PrintError(f"the operator '{op.spelling}' is not printed")
    if op.kind is not OperatorKind.ARITHMETIC:
        return CValue.of(C.binary(op, left, right), LOGICAL)
    type_ = common_type(left.type, right.type)
    if op is Operator.DIVIDE and type_.is_integer and not _divides(right):
        return call_value(helper(f"psy_quotient{type_.size}"), type_, left, right)
    return _narrowed(CValue.of(C.binary(op, left, right), type_))


def _divides(divisor: CValue) -> bool:
    """Return whether `divisor` is an integer literal greater than 0."""
    return is_number(divisor.text) and int(divisor.text) > 0


def _narrowed(value: CValue) -> CValue:
    """Convert a result to its own type if C computes it in a wider integer type."""
    if value.type.is_integer and value.type.size < INTEGER.size:
        return CValue(f"({value.type.name}) ({value.text})", value.type, Precedence.PREFIX)
    return value


def power_value(base: CValue, exponent: CValue, helper: Helper) -> CValue:
    """Print a power."""
    if exponent.type.is_integer:
        size = base.type.size
        if base.type.is_integer:
            name = helper(f"psy_ipow{max(size, exponent.type.size)}")
            return call_value(name, common_type(base.type, exponent.type), base, exponent)
        if exponent.type.size > INTEGER.size:
            return call_value(helper(f"psy_lpow{size}"), base.type, base, exponent)
        return call_value(helper("psy_powi" if size == DOUBLE.size else "psy_powif"), base.type,
                          base, exponent)  # fmt: skip
    type_ = common_type(base.type, exponent.type)
    return library("pow", type_, base.converted(type_), exponent.converted(type_))


def call_value(name: str, type_: CType, *values: CValue) -> CValue:
    """Print a function call."""
    return CValue(f"{name}({', '.join(value.text for value in values)})", type_)


def library(stem: str, type_: CType, *values: CValue) -> CValue:
    """Print a call of the C math function for `type_`, for example `sinf` for single precision."""
    return call_value(f"{stem}f" if type_ == REAL else stem, type_, *values)


# ---------------------------------------------------------------------------- functions


def elemental(word: str, values: Sequence[CValue], kind: int | None, helper: Helper) -> CValue:
    """Apply an elemental intrinsic; `kind` is the result kind, or None for the default."""
    word = INTRINSICS[word].generic if word in INTRINSICS else word
    count = len(values)
    if count == 1 and word in _OF_ONE:
        return _OF_ONE[word](values[0], kind, helper)
    if count == 2 and word in _OF_TWO:
        return _OF_TWO[word](values[0], values[1], helper)
    if count >= 2 and word in {"max", "min"}:
        result = values[0]
        for value in values[1:]:
            result = extreme(word, result, value, helper)
        return result
    if count == 3 and word == "merge":
        return CValue.of(C.choose(values[2], values[0], values[1]), values[0].type)
    names = INTRINSICS.get("atan2" if (word, count) == ("atan", 2) else word)
    if names and names.c and count == names.arguments and values[0].type.is_real:
        type_ = reduce(common_type, (value.type for value in values))
        return library(names.c, type_, *(value.converted(type_) for value in values))
    raise PrintError(f"the function '{word}' is not printed for such arguments", word)


def extreme(word: str, first: CValue, second: CValue, helper: Helper) -> CValue:
    """Print the maximum or minimum of two numbers."""
    type_ = common_type(first.type, second.type)
    letter = "r" if type_.is_real else "i"
    return call_value(helper(f"psy_{word}_{letter}{type_.size}"), type_, first, second)


def _converted(value: CValue, type_: CType) -> CValue:
    if value.type.is_logical:
        raise PrintError("a truth value is converted to a number")
    return value.converted(type_)


def _to_real(value: CValue, kind: int | None, helper: Helper) -> CValue:
    del helper
    return _converted(value, CType(REAL.intrinsic, kind or REAL.size))


def _to_double(value: CValue, kind: int | None, helper: Helper) -> CValue:
    del kind, helper
    return _converted(value, DOUBLE)


def _to_integer(value: CValue, kind: int | None, helper: Helper) -> CValue:
    type_ = CType(INTEGER.intrinsic, kind or INTEGER.size)
    return _whole_of(value, type_, helper) if value.type.is_real else _converted(value, type_)


def _whole_of(value: CValue, type_: CType, helper: Helper) -> CValue:
    """Truncate a real to an integer of `type_`, with gfortran's result on a CPU."""
    return call_value(helper(f"psy_whole{type_.size}"), type_, value)


def _to_logical(value: CValue, kind: int | None, helper: Helper) -> CValue:
    del helper
    if not value.type.is_logical:
        raise PrintError("a number is converted to a truth value")
    return value.converted(CType(LOGICAL.intrinsic, kind or LOGICAL.size))


def _rounded(word: str) -> Callable[[CValue, int | None, Helper], CValue]:
    """Return a function that applies `nint`, `floor` or `ceiling`, with an integer result."""

    def made(value: CValue, kind: int | None, helper: Helper) -> CValue:
        if not value.type.is_real:
            raise PrintError("an integer is rounded")
        type_ = CType(INTEGER.intrinsic, kind or INTEGER.size)
        return _whole_of(library(INTRINSICS[word].c, value.type, value), type_, helper)

    return made


def _whole(word: str) -> Callable[[CValue, int | None, Helper], CValue]:
    """Return a function that applies `aint` or `anint`, with a real result."""

    def made(value: CValue, kind: int | None, helper: Helper) -> CValue:
        del helper
        if not value.type.is_real:
            raise PrintError("an integer is rounded")
        result = library(INTRINSICS[word].c, value.type, value)
        return result if kind is None else result.converted(CType(REAL.intrinsic, kind))

    return made


def _abs(value: CValue, kind: int | None, helper: Helper) -> CValue:
    del kind
    if value.type.is_real:
        return library(INTRINSICS["abs"].c, value.type, value)
    return call_value(helper(f"psy_iabs{value.type.size}"), value.type, value)


def _not(value: CValue, kind: int | None, helper: Helper) -> CValue:
    del kind, helper
    if not value.type.is_integer:
        raise PrintError("the bits of a real are changed")
    return _narrowed(CValue(COMPLEMENT.apply(value), value.type, COMPLEMENT.rank))


_OF_ONE: dict[str, Callable[[CValue, int | None, Helper], CValue]] = {
    "real": _to_real, "float": _to_real, "sngl": _to_real, "dble": _to_double,
    "int": _to_integer, "ifix": _to_integer, "idint": _to_integer, "logical": _to_logical,
    "nint": _rounded("nint"), "floor": _rounded("floor"), "ceiling": _rounded("ceiling"),
    "anint": _whole("anint"), "aint": _whole("aint"), "abs": _abs, "not": _not,
}  # fmt: skip


def _mod(first: CValue, second: CValue, helper: Helper) -> CValue:
    type_ = common_type(first.type, second.type)
    if type_.is_real:
        return library(INTRINSICS["mod"].c, type_, first.converted(type_), second.converted(type_))
    if not _divides(second):
        return call_value(helper(f"psy_rest{type_.size}"), type_, first, second)
    return _narrowed(CValue(REMAINDER.join(first, second), type_, REMAINDER.rank))


def _modulo(first: CValue, second: CValue, helper: Helper) -> CValue:
    type_ = common_type(first.type, second.type)
    word = "psy_modulo_r" if type_.is_real else "psy_modulo"
    return call_value(helper(f"{word}{type_.size}"), type_, first, second)


def _sign(first: CValue, second: CValue, helper: Helper) -> CValue:
    if first.type.is_real:
        return library(INTRINSICS["sign"].c, first.type, first, second.converted(first.type))
    return call_value(helper(f"psy_isign{first.type.size}"), first.type, first, second)


def _dim(first: CValue, second: CValue, helper: Helper) -> CValue:
    type_ = common_type(first.type, second.type)
    letter = "r" if type_.is_real else "i"
    return call_value(helper(f"psy_dim_{letter}{type_.size}"), type_, first, second)


def _bits(word: str) -> Callable[[CValue, CValue, Helper], CValue]:
    def made(first: CValue, second: CValue, helper: Helper) -> CValue:
        del helper
        if not (first.type.is_integer and second.type.is_integer):
            raise PrintError("the bits of a real are combined")
        text = f"({BITS[word].join(first, second)})"
        return CValue(text, common_type(first.type, second.type))

    return made


def _btest(first: CValue, second: CValue, helper: Helper) -> CValue:
    del helper
    return CValue(f"({SHIFT.join(first, second)} & 1)", LOGICAL)


def _shifted(word: str) -> Callable[[CValue, CValue, Helper], CValue]:
    def made(first: CValue, second: CValue, helper: Helper) -> CValue:
        if not (first.type.is_integer and second.type.is_integer):
            raise PrintError("the bits of a real are shifted")
        return call_value(helper(f"psy_{word}{first.type.size}"), first.type, first, second)

    return made


_OF_TWO: dict[str, Callable[[CValue, CValue, Helper], CValue]] = {
    "mod": _mod, "modulo": _modulo, "sign": _sign, "dim": _dim, "btest": _btest,
    "iand": _bits("iand"), "ior": _bits("ior"), "ieor": _bits("ieor"),
    "shiftl": _shifted("shiftl"), "shifta": _shifted("shifta"),
}  # fmt: skip

ELEMENTAL = frozenset({*INTRINSICS, *_OF_ONE, *_OF_TWO})
"""The functions that are printed element by element."""

WITH_KIND = frozenset({"real", "int", "nint", "floor", "ceiling", "anint", "aint", "logical"})
"""Those whose second argument is the kind of the result."""
