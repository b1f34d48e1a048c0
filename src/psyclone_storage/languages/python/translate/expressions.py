"""Translation of expressions in Fortran kernels to Python.

Both expressions give bitwise equal results. Single precision is represented as double precision
rounded after each operation. Functions in single precision are rejected. Other constructs without
an equivalent in Python kernels are also rejected, for example whole arrays and the indices of a
grid point.
"""

from __future__ import annotations

import sys
from typing import Protocol

from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.operators import (
    AnyOperator,
    Operator,
    OperatorKind,
    Precedence,
    left_associative,
)
from psyclone_storage.ir.typing import (
    DOUBLE,
    INTEGER,
    LOGICAL,
    LONG,
    REAL,
    CScope,
    CType,
    PrintError,
)
from psyclone_storage.languages.c.types import CValue
from psyclone_storage.languages.intrinsics import INTRINSICS, LIMITS
from psyclone_storage.languages.operators import PYTHON, REMAINDER
from psyclone_storage.languages.python.translate.values import (
    NoPythonError,
    as_double,
    as_single,
    numeric_constant,
)

_QUOTIENT = left_associative("/", Precedence.PRODUCT)


class NamesInPython(Protocol):
    """Interface for translating the names in a kernel."""

    def element(self, name: ex.Name, items: tuple[ex.Expr, ...]) -> CValue | None:
        """Return an array element, or None if `name` is not an array.

        Raises:
            NoPythonError: the element has no equivalent.
        """

    def summed(self, section: ex.Section) -> CValue | None:
        """Return the sum of an array section, or None.

        Raises:
            NoPythonError: the section has no equivalent.
        """
        raise NotImplementedError

    def scalar(self, symbol: ex.Symbol, scope: CScope) -> CValue:
        """Return a scalar; raise `NoPythonError` if it has no equivalent."""


@dataclass(frozen=True, slots=True)
class ExpressionWriter:
    """Writer of expressions whose names are looked up in `scope`."""

    scope: CScope
    names: NamesInPython

    def of(self, expr: ex.Expr) -> CValue:
        """Translate `expr`; raise `NoPythonError` if it has no equivalent."""
        match expr:
            case ex.Literal():
                return numeric_constant(expr, self._type(expr))
            case ex.Name():
                return self._name(expr)
            case ex.Parenthesised(operand):
                return self.of(operand)
            case ex.Unary(op, operand):
                return self._unary(op, operand)
            case ex.Binary():
                return self._binary(expr)
            case ex.Index(ex.Name() as name, items):
                return self._reference(name, items)
        raise NoPythonError(f"'{ex.spell(expr)}' is nothing that a kernel in Python computes")

    def condition(self, expr: ex.Expr) -> str:
        """Translate a condition."""
        found = self.of(expr)
        if not found.type.is_logical:
            raise NoPythonError(f"'{ex.spell(expr)}' is no condition")
        return found.text

    def whole(self, expr: ex.Expr) -> CValue:
        """Translate an integer."""
        found = self.of(expr)
        if found.type != INTEGER:
            raise NoPythonError(f"'{ex.spell(expr)}' is not an integer")
        return found

    def assigned(self, expr: ex.Expr, type_: CType) -> str:
        """Translate a value and convert it for assignment to a variable of `type_`."""
        found = self.of(expr)
        if found.type.is_logical is not type_.is_logical:
            raise NoPythonError(
                f"'{ex.spell(expr)}' is of another type than what it is assigned to"
            )
        if type_ == DOUBLE:
            return as_double(found).text
        if type_ == INTEGER and found.type.is_real:
            return f"int({found.text})"
        return found.text

    # ------------------------------------------------------------------------ operands

    def _type(self, literal: ex.Literal) -> CType:
        try:
            return self.scope.literal_type(literal)
        except PrintError as error:
            raise NoPythonError(error.reason) from None

    def _name(self, name: ex.Name) -> CValue:
        try:
            symbol = self.scope.symbol(name.key)
            type_ = self.scope.type_of(symbol)
        except PrintError as error:
            raise NoPythonError(error.reason) from None
        if not symbol.is_data or symbol.shape:
            raise NoPythonError(f"'{name.text}' is used as a whole")
        checked(type_, name.text)
        return self.names.scalar(symbol, self.scope)

    def _reference(self, name: ex.Name, items: tuple[ex.Expr, ...]) -> CValue:
        if (element := self.names.element(name, items)) is not None:
            return element
        try:
            symbol = self.scope.symbol(name.key)
        except PrintError as error:
            raise NoPythonError(error.reason) from None
        if symbol.is_data or symbol.module:
            what = "an array" if symbol.is_data else "a function"
            raise NoPythonError(f"'{name.text}' is {what} that kernels in Python do not know")
        if name.key == "sum" and len(items) == 1 and isinstance(items[0], ex.Section):
            found = self.names.summed(items[0])
            if found is not None:
                return found
        return self._function(name.key, items)

    # ------------------------------------------------------------------------ operations

    def _unary(self, op: AnyOperator, operand: ex.Expr) -> CValue:
        found = self.of(operand)
        if op in PYTHON.prefixes and (op is Operator.NOT) is found.type.is_logical:
            return CValue.of(PYTHON.unary(op, found), found.type)
        raise NoPythonError("an operator of the author's is not known")

    def _binary(self, expr: ex.Binary) -> CValue:
        op = expr.op
        if (value := self.scope.integer(expr)) is not None and value >= 0:
            return CValue(str(value), INTEGER)
        left, right = self.of(expr.left), self.of(expr.right)
        of_logicals = op.kind is OperatorKind.LOGICAL
        if of_logicals and not (left.type.is_logical and right.type.is_logical):
            raise NoPythonError(f"the operator '{op.spelling}' is not known for numbers")
        if op.kind is OperatorKind.DEFINED or (
            not of_logicals and (left.type.is_logical or right.type.is_logical)
        ):
            raise NoPythonError(f"the operator '{op.spelling}' is not known for such values")
        if op is Operator.POWER:
            return _power(left, right, ex.integer_value(expr.right))
        if not of_logicals:
            left, right = convert_operands(left, right)
        if op not in PYTHON.infixes:
            raise NoPythonError(f"the operator '{op.spelling}' is not known to Python's kernels")
        made = PYTHON.binary(op, left, right)
        if op.kind is not OperatorKind.ARITHMETIC:
            return CValue.of(made, LOGICAL)
        if left.type == right.type == LONG:
            raise NoPythonError(f"'{ex.spell(expr)}' is computed with integers of 8 bytes")
        if op is Operator.DIVIDE and left.type == right.type == INTEGER:
            # The quotient of two numbers of 32 bits is never rounded to an integer.
            return CValue(f"int({_QUOTIENT.join(left, right)})", INTEGER)
        if left.type == right.type == REAL:
            # What is rounded to more than twice as many bits first is rounded to the same number.
            return as_single(CValue(made.text, DOUBLE))
        return CValue.of(made, DOUBLE if DOUBLE in (left.type, right.type) else INTEGER)

    # ------------------------------------------------------------------------ functions

    def _function(self, word: str, items: tuple[ex.Expr, ...]) -> CValue:
        if word in ("real", "dble", "int", "nint"):
            return self._converted(word, items)
        args = [self.of(item) for item in items if not isinstance(item, ex.Keyword)]
        if len(args) < len(items) or not args:
            raise NoPythonError(f"'{word}' is given an argument by its name")
        match word, len(args):
            case (("min" | "max"), many) if many > 1:
                return _joined(word, args)
            case _, 1 if word in LIMITS and args[0].type == DOUBLE:
                limit = getattr(sys.float_info, LIMITS[word].float_info)
                return CValue(repr(limit), DOUBLE)
            case (("abs" | "dabs"), 1) if not args[0].type.is_logical:
                return CValue(f"abs({args[0].text})", args[0].type)
            case (("sign" | "mod" | "modulo"), 2):
                return _of_pair(word, *convert_operands(args[0], args[1]))
            case "merge", 3 if args[2].type.is_logical and args[0].type == args[1].type:
                return CValue.of(PYTHON.choose(args[2], args[0], args[1]), args[0].type)
            case (("floor" | "ceiling"), 1) if args[0].type.is_real:
                return CValue(f"math.{INTRINSICS[word].math}({args[0].text})", INTEGER)
            case _, count if all(arg.type == DOUBLE for arg in args):
                names = INTRINSICS.get(word)
                if names and names.math and count == names.arguments:
                    texts = ", ".join(arg.text for arg in args)
                    return CValue(f"math.{names.math}({texts})", DOUBLE)
        raise NoPythonError(
            f"the function '{word}' of such values is not known to Python's kernels"
        )

    def _converted(self, word: str, items: tuple[ex.Expr, ...]) -> CValue:
        """Translate a call of a conversion function such as `real` or `nint`."""
        first, *rest = items
        found = self.of(first)
        if found.type.is_logical or len(rest) > 1:
            raise NoPythonError(f"'{word}' is given no number")
        size = 8 if word == "dble" else 4
        if rest:
            kind = rest[0].value if isinstance(rest[0], ex.Keyword) else rest[0]
            try:
                size = self.scope.kind(ex.spell(kind))
            except PrintError as error:
                raise NoPythonError(error.reason) from None
        if word == "nint" and not found.type.is_real:
            raise NoPythonError(f"'{word}' is given no real number")
        if word in ("int", "nint"):
            checked(CType(INTEGER.intrinsic, size), word)
            if word == "nint":
                return _nearest(found)
            if found.type.is_real:
                return CValue(f"int({found.text})", INTEGER)
            return replace(found, type=INTEGER)
        if size == DOUBLE.size:
            return as_double(found)
        if size != REAL.size:
            raise NoPythonError(f"'{word}' gives a number of {size} bytes")
        return as_single(found)


def checked(type_: CType, name: str) -> None:
    """Raise `NoPythonError` if a variable has a type that Python kernels do not support."""
    if type_ not in (INTEGER, DOUBLE, LOGICAL):
        what = f"{type_.intrinsic.value} of {type_.size} bytes"
        raise NoPythonError(f"'{name}' is a {what}, which kernels in Python do not have")


def convert_operands(left: CValue, right: CValue) -> tuple[CValue, CValue]:
    """Return two numbers converted to a common real type; integers are unchanged."""
    if left.type.is_logical or right.type.is_logical:
        raise NoPythonError("a condition stands where a number has to be")
    if left.type == right.type:
        return left, right
    if DOUBLE in (left.type, right.type):
        return _doubled(left), _doubled(right)
    if left.type.is_integer and right.type.is_integer:
        raise NoPythonError("integers of several sizes are computed with")
    raise NoPythonError("an integer is computed with in single precision")


def _nearest(value: CValue) -> CValue:
    """Return the integer nearest to a real; halves are rounded away from zero.

    The fractional part of a real, and twice this part, are exactly representable.
    """
    towards_zero = CValue(f"int({value.text})", INTEGER)
    rest = PYTHON.binary(Operator.MINUS, value, towards_zero)
    more = CValue(f"int(2.0 * ({rest.text}))", INTEGER)
    return CValue.of(PYTHON.binary(Operator.PLUS, towards_zero, more), INTEGER)


def _doubled(value: CValue) -> CValue:
    return value if value.type == INTEGER else as_double(value)


def _power(left: CValue, right: CValue, exponent: int | None) -> CValue:
    if right.type == INTEGER:
        if left.type == INTEGER and (exponent is None or exponent < 0):
            raise NoPythonError("a power of integers has an exponent that is not known")
    elif right.type == DOUBLE:
        left, right = convert_operands(as_double(left) if left.type == INTEGER else left, right)
    if REAL in (left.type, right.type):
        raise NoPythonError("a power is computed in single precision")
    if LONG in (left.type, right.type):
        raise NoPythonError("a power is computed with integers of 8 bytes")
    return CValue.of(PYTHON.binary(Operator.POWER, left, right), left.type)


def _joined(word: str, args: list[CValue]) -> CValue:
    first, *rest = args
    for other in rest:
        if other.type != first.type or first.type.is_logical:
            raise NoPythonError(f"'{word}' is given values of several types")
    return CValue(f"{word}({', '.join(arg.text for arg in args)})", first.type)


def _of_pair(word: str, left: CValue, right: CValue) -> CValue:
    is_single = left.type == REAL and word != "sign"
    if left.type != right.type or left.type == LONG or is_single:
        raise NoPythonError(f"'{word}' is given values of which Python's kernels know no such")
    if word == "modulo":
        return CValue(REMAINDER.join(left, right), left.type, REMAINDER.rank)
    if left.type == INTEGER:
        if word == "sign":
            size = CValue(f"abs({left.text})", INTEGER)
            is_positive = PYTHON.binary(Operator.GREATER_EQUAL, right, CValue("0", INTEGER))
            negated = PYTHON.unary(Operator.MINUS, size)
            return CValue.of(PYTHON.choose(is_positive, size, negated), INTEGER)
        return CValue(f"int(math.{INTRINSICS[word].math}({left.text}, {right.text}))", INTEGER)
    return CValue(f"math.{INTRINSICS[word].math}({left.text}, {right.text})", left.type)
