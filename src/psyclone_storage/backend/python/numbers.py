"""Expressions in algorithms as expressions of Python: data that kernels are passed, and numbers.

What is computed has operands whose types are certainly known; data of any other type are passed as
they are. Whole numbers that are divided, powers but those of whole numbers, and single precision
are refused, and so is what is declared elsewhere.
"""

from __future__ import annotations

import keyword
from collections.abc import Mapping

from psyclone_storage.backend.c.types import CType
from psyclone_storage.backend.python.values import (
    AND,
    ATOM,
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
    NoPythonError,
    number,
)
from psyclone_storage.base.records import dataclass
from psyclone_storage.infrastructures.gocean import WORKING_PRECISION
from psyclone_storage.ir.expr import (
    Binary,
    CallFunction,
    Expr,
    Index,
    Literal,
    Member,
    Name,
    Parenthesised,
    Unary,
    integer_value,
    spell,
)
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.unit import Declare

_OPERATORS = {
    Operator.OR: ("or", OR), Operator.AND: ("and", AND), Operator.EQUAL: ("==", COMPARED),
    Operator.NOT_EQUAL: ("!=", COMPARED), Operator.LESS: ("<", COMPARED),
    Operator.LESS_EQUAL: ("<=", COMPARED), Operator.GREATER: (">", COMPARED),
    Operator.GREATER_EQUAL: (">=", COMPARED), Operator.PLUS: ("+", SUM), Operator.MINUS: ("-", SUM),
    Operator.TIMES: ("*", PRODUCT), Operator.DIVIDE: ("/", PRODUCT), Operator.POWER: ("**", POWER),
}  # fmt: skip
_ARITHMETIC = (Operator.PLUS, Operator.MINUS, Operator.TIMES, Operator.DIVIDE, Operator.POWER)
_DOUBLE_KINDS = (WORKING_PRECISION, "8")
_TYPES = {Intrinsic.INTEGER: INTEGER, Intrinsic.LOGICAL: LOGICAL}
_KNOWN_TYPES = {Intrinsic.INTEGER: INTEGER, Intrinsic.LOGICAL: LOGICAL, Intrinsic.REAL: SINGLE}
_TAKEN = (*keyword.kwlist, "invoke", "range", "float")


@dataclass(frozen=True, slots=True)
class AlgorithmExpressions:
    """A writer of the expressions of a procedure that declares `declared`, by their keys.

    Counters of loops that have `ended` are not read: they are another number in Fortran.
    """

    declared: Mapping[str, Declare]
    ended: frozenset[str] = frozenset()

    @staticmethod
    def name(text: str) -> str:
        """Return a name as Python has it."""
        key = key_of(text)
        return f"{key}_" if key in _TAKEN else key

    def of(self, expr: Expr, to: Declare | None = None) -> str:
        """Return `expr`, as it is assigned `to` a variable; raise `NoPythonError` or refuse."""
        text = self._text(expr, 0)
        if to is None:
            return text
        wanted, found = _declared_type(to), self.type_of(expr)
        if wanted == SINGLE:
            raise NoPythonError(f"'{to.name}' is of single precision")
        if wanted == DOUBLE and found == INTEGER:
            return f"{text}.0" if text.isdigit() else f"float({text})"
        is_real = wanted == DOUBLE and found == SINGLE
        if wanted is None or (found != wanted and not is_real):
            raise NoPythonError(f"'{spell(expr)}' is of another type than '{to.name}'")
        return text

    def condition(self, expr: Expr) -> str:
        """Return a condition."""
        if self.type_of(expr) != LOGICAL:
            raise NoPythonError(f"'{spell(expr)}' is not known to be a condition")
        return self._text(expr, 0)

    def whole(self, expr: Expr, rank: int = 0) -> str:
        """Return a whole number, as an operand of what binds as `rank` says."""
        if self.type_of(expr) != INTEGER:
            raise NoPythonError(f"'{spell(expr)}' is not known to be a whole number")
        return self._text(expr, rank)

    def type_of(self, expr: Expr) -> CType | None:
        """Return the type of a value, None where it is not certainly known."""
        match expr:
            case Literal():
                return self._literal_type(expr)
            case Name() if expr.key in self.declared:
                return _declared_type(self.declared[expr.key])
            case Parenthesised(operand) | Unary(_, operand):
                return self.type_of(operand)
            case Binary(op, left, right):
                types = (self.type_of(left), self.type_of(right))
                if None in types:
                    return None
                if op not in _ARITHMETIC:
                    return LOGICAL
                return next(one for one in (DOUBLE, SINGLE, INTEGER, LOGICAL) if one in types)
        return None

    def _text(self, expr: Expr, outer: int) -> str:
        match expr:
            case Literal():
                return number(expr, self._literal_type(expr)).text
            case Name(text):
                return self._name(expr.key, text)
            case Member(base, name):
                if keyword.iskeyword(key_of(name)):
                    raise NoPythonError(f"'{name}' is a word of Python")
                return f"{self._text(base, ATOM)}.{self.name(name)}"
            case Parenthesised(operand):
                return self._text(operand, outer)
            case CallFunction():
                raise NoPythonError(f"'{spell(expr)}' is a function that is not known")
            case Index(base, items):
                known = self.declared.get(base.key) if isinstance(base, Name) else None
                if isinstance(base, Name) and (known is None or not known.shape):
                    raise NoPythonError(f"'{spell(expr)}' is a function that is not known")
                return f"{self._text(base, ATOM)}[{', '.join(map(self.whole, items))}]"
            case Unary(op, operand):
                return self._unary(op, operand, outer)
            case Binary():
                return self._binary(expr, outer)
        raise NoPythonError(f"'{spell(expr)}' is nothing that an algorithm in Python has words for")

    def _name(self, key: str, text: str) -> str:
        if key not in self.declared:
            raise NoPythonError(f"'{text}' is declared elsewhere")
        if _declared_type(self.declared[key]) == SINGLE:
            raise NoPythonError(f"'{text}' is of single precision")
        if key in self.ended:
            raise NoPythonError(f"'{text}' is read behind the loop that it counts")
        return self.name(text)

    def _literal_type(self, literal: Literal) -> CType:
        match literal.intrinsic:
            case Intrinsic.REAL if literal.is_double:
                return DOUBLE
            case Intrinsic.REAL if literal.kind is None:
                return SINGLE
            case Intrinsic.REAL if key_of(literal.kind or "") in _DOUBLE_KINDS:
                return DOUBLE
            case Intrinsic.INTEGER | Intrinsic.LOGICAL if literal.kind is None:
                return _TYPES[literal.intrinsic]
        raise NoPythonError(f"'{literal.text}' is of a kind that is not known")

    def _unary(self, op: object, operand: Expr, outer: int) -> str:
        found = self.type_of(operand)
        if found is None or (found == LOGICAL) is not (op is Operator.NOT):
            raise NoPythonError(f"the type of '{spell(operand)}' is not known")
        if op is Operator.NOT:
            return _bracketed(f"not {self._text(operand, NOT)}", NOT, outer)
        if op in (Operator.PLUS, Operator.MINUS):
            sign = "-" if op is Operator.MINUS else "+"
            return _bracketed(f"{sign}{self._text(operand, POWER)}", SIGN, outer)
        raise NoPythonError("an operator of the author's is not known")

    def _binary(self, expr: Binary, outer: int) -> str:
        if not isinstance(expr.op, Operator) or expr.op not in _OPERATORS:
            raise NoPythonError(f"the operator '{expr.op.spelling}' is not known to Python")
        self._check_operands(expr)
        word, rank = _OPERATORS[expr.op]
        near, far = (rank, rank + 1) if rank != POWER else (rank + 1, SIGN)
        near = rank + 1 if rank == COMPARED else near
        text = f"{self._text(expr.left, near)} {word} {self._text(expr.right, far)}"
        return _bracketed(text, rank, outer)

    def _check_operands(self, expr: Binary) -> None:
        """Refuse an operation that computes something else in Python, or may do so."""
        types = []
        for operand in (expr.left, expr.right):
            found = self.type_of(operand)
            if found is None:
                self._text(operand, 0)
                raise NoPythonError(f"the type of '{spell(operand)}' is not known")
            if (found == LOGICAL) is not (expr.op in (Operator.AND, Operator.OR)):
                raise NoPythonError(f"'{spell(expr)}' has operands of other types")
            types.append(found)
        if SINGLE in types and DOUBLE not in types:
            raise NoPythonError(f"'{spell(expr)}' is computed in single precision")
        are_whole = types == [INTEGER, INTEGER]
        if expr.op is Operator.DIVIDE and are_whole:
            raise NoPythonError("whole numbers are divided")
        if expr.op is Operator.POWER:
            exponent = integer_value(expr.right)
            if not are_whole or exponent is None or exponent < 0:
                raise NoPythonError(f"'{spell(expr)}' is a power that Python computes otherwise")


def _declared_type(one: Declare) -> CType | None:
    """Return the type of a scalar, None where it is not certainly known."""
    type_ = one.type
    if one.shape or not isinstance(type_, ScalarType):
        return None
    if type_.kind is None:
        return _KNOWN_TYPES.get(type_.intrinsic)
    is_double = type_.intrinsic is Intrinsic.REAL and key_of(type_.kind) in _DOUBLE_KINDS
    return DOUBLE if is_double else None


def _bracketed(text: str, rank: int, outer: int) -> str:
    return f"({text})" if rank < outer else text
