"""Operators and elemental functions of the language, applied to values of C.

What is computed is what gfortran computes without leave to be inexact: operands as they are
bracketed, powers by the same products, conversions where the standard has them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from psyclone_storage.backend.c.types import (
    AND,
    CHOICE,
    EQUALITY,
    OR,
    PREFIX,
    PRIMARY,
    PRODUCT,
    RELATION,
    SUM,
    Value,
    common_type,
    is_number,
)
from psyclone_storage.ir.typing import DOUBLE, INTEGER, LOGICAL, REAL, CType, PrintError

Helper = Callable[[str], str]
"""Notes that a function is called, and returns its name."""

_ARITHMETIC = {"+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT}
_RELATIONS = {"<": "<", "<=": "<=", ">": ">", ">=": ">=", "==": "==", "/=": "!="}
_JUNCTIONS = {".and.": ("&&", AND), ".or.": ("||", OR)}
_SAME = {".eqv.": "==", ".neqv.": "!="}


def unary(op: str, operand: Value) -> Value:
    """Return an operator applied to one operand."""
    if op == ".not." and operand.type.is_logical:
        return Value(f"!{operand.within(PREFIX)}", operand.type, PREFIX)
    if op == "+" and not operand.type.is_logical:
        return operand
    if op == "-" and not operand.type.is_logical:
        text = operand.within(PREFIX)
        text = f"({text})" if text.startswith("-") else text
        return _narrowed(Value(f"-{text}", operand.type, PREFIX))
    raise PrintError(f"the operator '{op}' is not printed for such values")


def binary(op: str, left: Value, right: Value, helper: Helper) -> Value:
    """Return an operator applied to two operands."""
    truths = left.type.is_logical, right.type.is_logical
    if op in _JUNCTIONS and all(truths):
        word, rank = _JUNCTIONS[op]
        parts = [item.within(rank if item.rank == rank else EQUALITY) for item in (left, right)]
        return Value(f" {word} ".join(parts), LOGICAL, rank)
    if op in _SAME and all(truths):
        text = f"{left.within(EQUALITY + 1)} {_SAME[op]} {right.within(EQUALITY + 1)}"
        return Value(text, LOGICAL, EQUALITY)
    if any(truths):
        raise PrintError(f"the operator '{op}' is not printed for such values")
    if op in _RELATIONS:
        rank = EQUALITY if op in {"==", "/="} else RELATION
        sides = (left.within(SUM), right.within(SUM))
        return Value(f" {_RELATIONS[op]} ".join(sides), LOGICAL, rank)
    if op == "**":
        return power(left, right, helper)
    if op in _ARITHMETIC:
        rank, type_ = _ARITHMETIC[op], common_type(left.type, right.type)
        if op == "/" and type_.is_integer and not _divides(right):
            return call(helper(f"psy_quotient{type_.size}"), type_, left, right)
        return _narrowed(Value(f"{left.within(rank)} {op} {right.within(rank + 1)}", type_, rank))
    raise PrintError(f"the operator '{op}' is not printed")


def _divides(divisor: Value) -> bool:
    """Return whether a whole number is written out, and more than 0."""
    return is_number(divisor.text) and int(divisor.text) > 0


def _narrowed(value: Value) -> Value:
    """Return a result in its own type where C computes in a wider one."""
    if value.type.is_integer and value.type.size < INTEGER.size:
        return Value(f"({value.type.name}) ({value.text})", value.type, PREFIX)
    return value


def power(base: Value, exponent: Value, helper: Helper) -> Value:
    """Return a power."""
    if exponent.type.is_integer:
        size = base.type.size
        if base.type.is_integer:
            name = helper(f"psy_ipow{max(size, exponent.type.size)}")
            return call(name, common_type(base.type, exponent.type), base, exponent)
        if exponent.type.size > INTEGER.size:
            return call(helper(f"psy_lpow{size}"), base.type, base, exponent)
        return call(helper("psy_powi" if size == DOUBLE.size else "psy_powif"), base.type, base,
                    exponent)  # fmt: skip
    type_ = common_type(base.type, exponent.type)
    return library("pow", type_, base.converted(type_), exponent.converted(type_))


def call(name: str, type_: CType, *values: Value) -> Value:
    """Return a call of a function."""
    return Value(f"{name}({', '.join(value.text for value in values)})", type_, PRIMARY)


def library(stem: str, type_: CType, *values: Value) -> Value:
    """Return a call of the mathematical function that computes in `type_`."""
    return call(f"{stem}f" if type_ == REAL else stem, type_, *values)


# ---------------------------------------------------------------------------- functions

_MATHS = {
    "exp": "exp", "log": "log", "log10": "log10", "sqrt": "sqrt", "sin": "sin", "cos": "cos",
    "tan": "tan", "asin": "asin", "acos": "acos", "atan": "atan", "sinh": "sinh", "cosh": "cosh",
    "tanh": "tanh", "asinh": "asinh", "acosh": "acosh", "atanh": "atanh", "gamma": "tgamma",
    "log_gamma": "lgamma", "erf": "erf", "erfc": "erfc",
}  # fmt: skip
_PAIRS = {"atan2": "atan2", "hypot": "hypot", "atan": "atan2"}
_SPECIFIC = {
    "dabs": "abs", "dsqrt": "sqrt", "dexp": "exp", "dlog": "log", "dsin": "sin", "dcos": "cos",
    "dsign": "sign", "dmod": "mod", "dmax1": "max", "dmin1": "min", "amax1": "max",
    "amin1": "min", "max0": "max", "min0": "min", "iabs": "abs", "isign": "sign", "alog": "log",
    "alog10": "log10", "amod": "mod", "datan": "atan", "datan2": "atan2", "dtan": "tan",
    "dtanh": "tanh", "ieor": "ieor", "idnint": "nint",
}  # fmt: skip
_BITS = {"iand": "&", "ior": "|", "ieor": "^"}


def elemental(word: str, values: Sequence[Value], kind: int | None, helper: Helper) -> Value:
    """Return an elemental function of values; `kind` is that of the result if one is given."""
    word = _SPECIFIC.get(word, word)
    count = len(values)
    if count == 1 and word in _MATHS and values[0].type.is_real:
        return library(_MATHS[word], values[0].type, values[0])
    if count == 2 and word in _PAIRS and values[0].type.is_real:
        type_ = common_type(values[0].type, values[1].type)
        return library(_PAIRS[word], type_, *(value.converted(type_) for value in values))
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
        type_ = values[0].type
        parts = [value.within(CHOICE + 1) for value in (values[2], values[0], values[1])]
        return Value(f"{parts[0]} ? {parts[1]} : {parts[2]}", type_, CHOICE)
    raise PrintError(f"the function '{word}' is not printed for such arguments", word)


def extreme(word: str, first: Value, second: Value, helper: Helper) -> Value:
    """Return the larger or smaller one of two numbers."""
    type_ = common_type(first.type, second.type)
    letter = "r" if type_.is_real else "i"
    return call(helper(f"psy_{word}_{letter}{type_.size}"), type_, first, second)


def _converted(value: Value, type_: CType) -> Value:
    if value.type.is_logical:
        raise PrintError("a truth value is converted to a number")
    return value.converted(type_)


def _to_real(value: Value, kind: int | None, helper: Helper) -> Value:
    del helper
    return _converted(value, CType(REAL.intrinsic, kind or REAL.size))


def _to_double(value: Value, kind: int | None, helper: Helper) -> Value:
    del kind, helper
    return _converted(value, DOUBLE)


def _to_integer(value: Value, kind: int | None, helper: Helper) -> Value:
    type_ = CType(INTEGER.intrinsic, kind or INTEGER.size)
    return _whole_of(value, type_, helper) if value.type.is_real else _converted(value, type_)


def _whole_of(value: Value, type_: CType, helper: Helper) -> Value:
    """Return a real number without what is behind its point, as gfortran does on a processor."""
    return call(helper(f"psy_whole{type_.size}"), type_, value)


def _to_logical(value: Value, kind: int | None, helper: Helper) -> Value:
    del helper
    if not value.type.is_logical:
        raise PrintError("a number is converted to a truth value")
    return value.converted(CType(LOGICAL.intrinsic, kind or LOGICAL.size))


def _rounded(stem: str) -> Callable[[Value, int | None, Helper], Value]:
    """Return a function that makes a whole number, of type integer, of a real."""

    def made(value: Value, kind: int | None, helper: Helper) -> Value:
        if not value.type.is_real:
            raise PrintError("a whole number is rounded")
        type_ = CType(INTEGER.intrinsic, kind or INTEGER.size)
        return _whole_of(library(stem, value.type, value), type_, helper)

    return made


def _whole(stem: str) -> Callable[[Value, int | None, Helper], Value]:
    """Return a function that makes a whole number, of type real, of a real."""

    def made(value: Value, kind: int | None, helper: Helper) -> Value:
        del helper
        if not value.type.is_real:
            raise PrintError("a whole number is rounded")
        result = library(stem, value.type, value)
        return result if kind is None else result.converted(CType(REAL.intrinsic, kind))

    return made


def _abs(value: Value, kind: int | None, helper: Helper) -> Value:
    del kind
    if value.type.is_real:
        return library("fabs", value.type, value)
    return call(helper(f"psy_iabs{value.type.size}"), value.type, value)


def _not(value: Value, kind: int | None, helper: Helper) -> Value:
    del kind, helper
    if not value.type.is_integer:
        raise PrintError("the bits of a real are changed")
    return _narrowed(Value(f"~{value.within(PREFIX)}", value.type, PREFIX))


_OF_ONE: dict[str, Callable[[Value, int | None, Helper], Value]] = {
    "real": _to_real, "float": _to_real, "sngl": _to_real, "dble": _to_double,
    "int": _to_integer, "ifix": _to_integer, "idint": _to_integer, "logical": _to_logical,
    "nint": _rounded("round"), "floor": _rounded("floor"), "ceiling": _rounded("ceil"),
    "anint": _whole("round"), "aint": _whole("trunc"), "abs": _abs, "not": _not,
}  # fmt: skip


def _mod(first: Value, second: Value, helper: Helper) -> Value:
    type_ = common_type(first.type, second.type)
    if type_.is_real:
        return library("fmod", type_, first.converted(type_), second.converted(type_))
    if not _divides(second):
        return call(helper(f"psy_rest{type_.size}"), type_, first, second)
    text = f"{first.within(PRODUCT)} % {second.within(PRODUCT + 1)}"
    return _narrowed(Value(text, type_, PRODUCT))


def _modulo(first: Value, second: Value, helper: Helper) -> Value:
    type_ = common_type(first.type, second.type)
    word = "psy_modulo_r" if type_.is_real else "psy_modulo"
    return call(helper(f"{word}{type_.size}"), type_, first, second)


def _sign(first: Value, second: Value, helper: Helper) -> Value:
    if first.type.is_real:
        return library("copysign", first.type, first, second.converted(first.type))
    return call(helper(f"psy_isign{first.type.size}"), first.type, first, second)


def _dim(first: Value, second: Value, helper: Helper) -> Value:
    type_ = common_type(first.type, second.type)
    letter = "r" if type_.is_real else "i"
    return call(helper(f"psy_dim_{letter}{type_.size}"), type_, first, second)


def _bits(word: str) -> Callable[[Value, Value, Helper], Value]:
    def made(first: Value, second: Value, helper: Helper) -> Value:
        del helper
        if not (first.type.is_integer and second.type.is_integer):
            raise PrintError("the bits of a real are combined")
        text = f"({first.within(PREFIX)} {_BITS[word]} {second.within(PREFIX)})"
        return Value(text, common_type(first.type, second.type))

    return made


def _btest(first: Value, second: Value, helper: Helper) -> Value:
    del helper
    return Value(f"({first.within(PREFIX)} >> {second.within(PREFIX)} & 1)", LOGICAL)


_OF_TWO: dict[str, Callable[[Value, Value, Helper], Value]] = {
    "mod": _mod, "modulo": _modulo, "sign": _sign, "dim": _dim, "btest": _btest,
    "iand": _bits("iand"), "ior": _bits("ior"), "ieor": _bits("ieor"),
}  # fmt: skip

ELEMENTAL = frozenset({*_MATHS, *_PAIRS, *_OF_ONE, *_OF_TWO, *_SPECIFIC, "max", "min", "merge"})
"""The functions that are printed element by element."""

WITH_KIND = frozenset({"real", "int", "nint", "floor", "ceiling", "anint", "aint", "logical"})
"""Those whose second argument is the kind of the result."""
