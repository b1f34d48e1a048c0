"""Expressions of kernels in Fortran as expressions of kernels in Python.

Owns that both compute the same bits. Single precision is double precision that is rounded behind
each operation; of functions it is refused. What Python's kernels have no words for is refused, too:
the numbers of a point, arrays as a whole.
"""

from __future__ import annotations

import sys
from typing import Protocol

from psyclone_storage.backend.python.values import (
    AND,
    ATOM,
    CHOICE,
    COMPARED,
    DOUBLE,
    INTEGER,
    LOGICAL,
    NOT,
    OR,
    POWER,
    PRODUCT,
    SIGN,
    SINGLE,
    SUM,
    WIDE,
    NoPythonError,
    TypedText,
    as_double,
    as_single,
    number,
)
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir.expr import (
    Binary,
    Expr,
    Index,
    Keyword,
    Literal,
    Name,
    Parenthesised,
    Section,
    Symbol,
    Unary,
    integer_value,
    spell,
)
from psyclone_storage.ir.operators import Operator, OperatorKind
from psyclone_storage.ir.typing import CScope, CType, PrintError

_SIGNS = {Operator.PLUS: SUM, Operator.MINUS: SUM, Operator.TIMES: PRODUCT,
          Operator.DIVIDE: PRODUCT}  # fmt: skip
_COMPARISONS = {
    Operator.EQUAL: "==", Operator.NOT_EQUAL: "!=", Operator.LESS: "<", Operator.LESS_EQUAL: "<=",
    Operator.GREATER: ">", Operator.GREATER_EQUAL: ">=",
}  # fmt: skip
_OF_TRUTHS = {Operator.EQUIVALENT: "==", Operator.NOT_EQUIVALENT: "!="}
_JUNCTIONS = {Operator.AND: ("and", AND), Operator.OR: ("or", OR)}
_MATH = {
    name: name
    for name in (
        "sqrt", "exp", "log", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
        "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "gamma",
    )
} | {f"d{name}": name for name in ("sqrt", "exp", "log", "sin", "cos")}  # fmt: skip
_PAIRS = ("atan2", "hypot")
_LIMITS = {
    "epsilon": sys.float_info.epsilon,
    "tiny": sys.float_info.min,
    "huge": sys.float_info.max,
}
_DOWN_UP = {"floor": "floor", "ceiling": "ceil"}


class NamesInPython(Protocol):
    """What the names in a kernel are in Python."""

    def element(self, name: Name, items: tuple[Expr, ...]) -> TypedText | None:
        """Return an element, None if `name` is no array; raise `NoPythonError` if it is unknown."""

    def summed(self, section: Section) -> TypedText | None:
        """Return the sum of a section; refuse as `element` does."""
        raise NotImplementedError

    def scalar(self, symbol: Symbol, scope: CScope) -> TypedText:
        """Return a scalar; raise `NoPythonError` if Python knows none such."""


@dataclass(frozen=True, slots=True)
class ExpressionWriter:
    """A writer of expressions whose names are seen from `scope`."""

    scope: CScope
    names: NamesInPython

    def of(self, expr: Expr) -> TypedText:
        """Return `expr`; raise `NoPythonError` if it has no form in Python."""
        match expr:
            case Literal():
                return number(expr, self._type(expr))
            case Name():
                return self._name(expr)
            case Parenthesised(operand):
                return self.of(operand)
            case Unary(op, operand):
                return self._unary(op, operand)
            case Binary():
                return self._binary(expr)
            case Index(Name() as name, items):
                return self._reference(name, items)
        raise NoPythonError(f"'{spell(expr)}' is nothing that a kernel in Python computes")

    def condition(self, expr: Expr) -> str:
        """Return a condition."""
        found = self.of(expr)
        if not found.type.is_logical:
            raise NoPythonError(f"'{spell(expr)}' is no condition")
        return found.text

    def whole(self, expr: Expr) -> TypedText:
        """Return a whole number."""
        found = self.of(expr)
        if found.type != INTEGER:
            raise NoPythonError(f"'{spell(expr)}' is no whole number")
        return found

    def assigned(self, expr: Expr, type_: CType) -> str:
        """Return a value as an assignment to a variable of `type_` converts it."""
        found = self.of(expr)
        if found.type.is_logical is not type_.is_logical:
            raise NoPythonError(f"'{spell(expr)}' is of another type than what it is assigned to")
        if type_ == DOUBLE:
            return as_double(found).text
        if type_ == INTEGER and found.type.is_real:
            return f"int({found.text})"
        return found.text

    # ------------------------------------------------------------------------ operands

    def _type(self, literal: Literal) -> CType:
        try:
            return self.scope.literal_type(literal)
        except PrintError as error:
            raise NoPythonError(error.reason) from None

    def _name(self, name: Name) -> TypedText:
        try:
            symbol = self.scope.symbol(name.key)
            type_ = self.scope.type_of(symbol)
        except PrintError as error:
            raise NoPythonError(error.reason) from None
        if not symbol.is_data or symbol.shape:
            raise NoPythonError(f"'{name.text}' is used as a whole")
        checked(type_, name.text)
        return self.names.scalar(symbol, self.scope)

    def _reference(self, name: Name, items: tuple[Expr, ...]) -> TypedText:
        if (element := self.names.element(name, items)) is not None:
            return element
        try:
            symbol = self.scope.symbol(name.key)
        except PrintError as error:
            raise NoPythonError(error.reason) from None
        if symbol.is_data or symbol.module:
            what = "an array" if symbol.is_data else "a function"
            raise NoPythonError(f"'{name.text}' is {what} that kernels in Python do not know")
        if name.key == "sum" and len(items) == 1 and isinstance(items[0], Section):
            found = self.names.summed(items[0])
            if found is not None:
                return found
        return self._function(name.key, items)

    # ------------------------------------------------------------------------ operations

    def _unary(self, op: object, operand: Expr) -> TypedText:
        found = self.of(operand)
        if op is Operator.NOT and found.type.is_logical:
            return TypedText(f"not {found.within(NOT)}", found.type, NOT)
        if op in (Operator.PLUS, Operator.MINUS) and not found.type.is_logical:
            sign = "-" if op is Operator.MINUS else "+"
            return TypedText(f"{sign}{found.within(POWER)}", found.type, SIGN)
        raise NoPythonError("an operator of the author's is not known")

    def _binary(self, expr: Binary) -> TypedText:
        op = expr.op
        if (value := self.scope.integer(expr)) is not None and value >= 0:
            return TypedText(str(value), INTEGER)
        left, right = self.of(expr.left), self.of(expr.right)
        if op.kind is OperatorKind.LOGICAL and isinstance(op, Operator):
            return _of_conditions(op, left, right)
        if not isinstance(op, Operator) or left.type.is_logical or right.type.is_logical:
            raise NoPythonError(f"the operator '{op.spelling}' is not known for such values")
        if op is Operator.POWER:
            return _power(left, right, integer_value(expr.right))
        left, right = alike(left, right)
        if op in _COMPARISONS:
            text = f"{left.within(SUM)} {_COMPARISONS[op]} {right.within(SUM)}"
            return TypedText(text, LOGICAL, COMPARED)
        if op not in _SIGNS:
            raise NoPythonError(f"the operator '{op.spelling}' is not known to Python's kernels")
        if left.type == right.type == WIDE:
            raise NoPythonError(f"'{spell(expr)}' is computed with whole numbers of 8 bytes")
        rank = _SIGNS[op]
        if op is Operator.DIVIDE and left.type == right.type == INTEGER:
            # The quotient of two numbers of 32 bits is never rounded to a whole number.
            return TypedText(f"int({left.within(rank)} / {right.within(rank + 1)})", INTEGER)
        above = ATOM if right.rank == SIGN else rank + 1
        text = f"{left.within(rank)} {op.spelling} {right.within(above)}"
        if left.type == right.type == SINGLE:
            # What is rounded to more than twice as many bits first is rounded to the same number.
            return as_single(TypedText(text, DOUBLE))
        return TypedText(text, DOUBLE if DOUBLE in (left.type, right.type) else INTEGER, rank)

    # ------------------------------------------------------------------------ functions

    def _function(self, word: str, items: tuple[Expr, ...]) -> TypedText:
        if word in ("real", "dble", "int", "nint"):
            return self._converted(word, items)
        args = [self.of(item) for item in items if not isinstance(item, Keyword)]
        if len(args) < len(items) or not args:
            raise NoPythonError(f"'{word}' is given an argument by its name")
        match word, len(args):
            case (("min" | "max"), many) if many > 1:
                return _joined(word, args)
            case (("epsilon" | "tiny" | "huge"), 1) if args[0].type == DOUBLE:
                return TypedText(repr(_LIMITS[word]), DOUBLE)
            case "abs" | "dabs", 1 if not args[0].type.is_logical:
                return TypedText(f"abs({args[0].text})", args[0].type)
            case (("sign" | "mod" | "modulo"), 2):
                return _of_pair(word, *alike(args[0], args[1]))
            case "merge", 3 if args[2].type.is_logical and args[0].type == args[1].type:
                text = f"{args[0].within(OR)} if {args[2].within(OR)} else {args[1].within(OR)}"
                return TypedText(text, args[0].type, CHOICE)
            case _, 1 if word in _DOWN_UP and args[0].type.is_real:
                return TypedText(f"math.{_DOWN_UP[word]}({args[0].text})", INTEGER)
            case _, count if all(arg.type == DOUBLE for arg in args):
                if word in _PAIRS and count == 2:
                    return TypedText(f"math.{word}({args[0].text}, {args[1].text})", DOUBLE)
                if word in _MATH and count == 1:
                    return TypedText(f"math.{_MATH[word]}({args[0].text})", DOUBLE)
        raise NoPythonError(
            f"the function '{word}' of such values is not known to Python's kernels"
        )

    def _converted(self, word: str, items: tuple[Expr, ...]) -> TypedText:
        """Return a number of a type that is named."""
        first, *rest = items
        found = self.of(first)
        if found.type.is_logical or len(rest) > 1:
            raise NoPythonError(f"'{word}' is given no number")
        size = 8 if word == "dble" else 4
        if rest:
            kind = rest[0].value if isinstance(rest[0], Keyword) else rest[0]
            try:
                size = self.scope.kind(spell(kind))
            except PrintError as error:
                raise NoPythonError(error.reason) from None
        if word == "nint" and not found.type.is_real:
            raise NoPythonError(f"'{word}' is given no real number")
        if word in ("int", "nint"):
            checked(CType(INTEGER.intrinsic, size), word)
            if word == "nint":
                return _nearest(found)
            if found.type.is_real:
                return TypedText(f"int({found.text})", INTEGER)
            return replace(found, type=INTEGER)
        if size == DOUBLE.size:
            return as_double(found)
        if size != SINGLE.size:
            raise NoPythonError(f"'{word}' gives a number of {size} bytes")
        return as_single(found)


def checked(type_: CType, name: str) -> None:
    """Raise `NoPythonError` if a variable is of a type that kernels in Python do not have."""
    if type_ not in (INTEGER, DOUBLE, LOGICAL):
        what = f"{type_.intrinsic.value} of {type_.size} bytes"
        raise NoPythonError(f"'{name}' is a {what}, which kernels in Python do not have")


def alike(left: TypedText, right: TypedText) -> tuple[TypedText, TypedText]:
    """Return two numbers as an operation converts them; whole ones stay as they are."""
    if left.type.is_logical or right.type.is_logical:
        raise NoPythonError("a condition stands where a number has to be")
    if left.type == right.type:
        return left, right
    if DOUBLE in (left.type, right.type):
        return _doubled(left), _doubled(right)
    if left.type.is_integer and right.type.is_integer:
        raise NoPythonError("whole numbers of several sizes are computed with")
    raise NoPythonError("a whole number is computed with in single precision")


def _nearest(value: TypedText) -> TypedText:
    """Return the whole number nearest to a real one, of two the one that is farther from zero.

    What a real number has behind its point is a real number, and so is twice that.
    """
    behind = f"{value.within(SUM)} - int({value.text})"
    return TypedText(f"int({value.text}) + int(2.0 * ({behind}))", INTEGER, SUM)


def _doubled(value: TypedText) -> TypedText:
    return value if value.type == INTEGER else as_double(value)


def _of_conditions(op: Operator, left: TypedText, right: TypedText) -> TypedText:
    if not (left.type.is_logical and right.type.is_logical):
        raise NoPythonError(f"the operator '{op.spelling}' is not known for numbers")
    if op in _JUNCTIONS:
        word, rank = _JUNCTIONS[op]
        return TypedText(f"{left.within(rank)} {word} {right.within(rank + 1)}", LOGICAL, rank)
    text = f"{left.within(SUM)} {_OF_TRUTHS[op]} {right.within(SUM)}"
    return TypedText(text, LOGICAL, COMPARED)


def _power(left: TypedText, right: TypedText, exponent: int | None) -> TypedText:
    if right.type == INTEGER:
        if left.type == INTEGER and (exponent is None or exponent < 0):
            raise NoPythonError("a power of whole numbers has an exponent that is not known")
    elif right.type == DOUBLE:
        left, right = alike(as_double(left) if left.type == INTEGER else left, right)
    if SINGLE in (left.type, right.type):
        raise NoPythonError("a power is computed in single precision")
    if WIDE in (left.type, right.type):
        raise NoPythonError("a power is computed with whole numbers of 8 bytes")
    text = f"{left.within(POWER + 1)}**{right.within(SIGN)}"
    return TypedText(text, left.type, POWER)


def _joined(word: str, args: list[TypedText]) -> TypedText:
    first, *rest = args
    for other in rest:
        if other.type != first.type or first.type.is_logical:
            raise NoPythonError(f"'{word}' is given values of several types")
    return TypedText(f"{word}({', '.join(arg.text for arg in args)})", first.type)


def _of_pair(word: str, left: TypedText, right: TypedText) -> TypedText:
    is_single = left.type == SINGLE and word != "sign"
    if left.type != right.type or left.type == WIDE or is_single:
        raise NoPythonError(f"'{word}' is given values of which Python's kernels know no such")
    if word == "modulo":
        return TypedText(f"{left.within(PRODUCT)} % {right.within(PRODUCT + 1)}", left.type,
                         PRODUCT)  # fmt: skip
    if left.type == INTEGER:
        if word == "sign":
            text = f"abs({left.text}) if {right.within(SUM)} >= 0 else -abs({left.text})"
            return TypedText(text, INTEGER, CHOICE)
        return TypedText(f"int(math.fmod({left.text}, {right.text}))", INTEGER)
    name = "copysign" if word == "sign" else "fmod"
    return TypedText(f"math.{name}({left.text}, {right.text})", left.type)
