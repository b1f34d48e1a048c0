"""Expressions in algorithms as expressions of Python: data that kernels are passed, and numbers.

An algorithm's data have types that are known in part. What is not is taken to be what kernels
are passed; whole numbers that are divided, and single precision, are refused.
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
    children,
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
_DOUBLE_KINDS = (WORKING_PRECISION, "8")
_TYPES = {Intrinsic.INTEGER: INTEGER, Intrinsic.LOGICAL: LOGICAL}
_TAKEN = (*keyword.kwlist, "invoke", "range")


@dataclass(frozen=True, slots=True)
class AlgorithmExpressions:
    """Writes the expressions of a procedure that declares `declared`, by their keys."""

    declared: Mapping[str, Declare]

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
        kind = to.type.intrinsic if isinstance(to.type, ScalarType) and not to.shape else None
        whole = self._is_whole(expr)
        if kind is Intrinsic.REAL and whole:
            return f"{text}.0" if text.isdigit() else f"float({text})"
        if kind is None or (kind is Intrinsic.INTEGER and not whole):
            raise NoPythonError(f"'{spell(expr)}' is of another type than '{to.name}'")
        return text

    def _text(self, expr: Expr, outer: int) -> str:
        match expr:
            case Literal():
                return number(expr, self._literal_type(expr)).text
            case Name(text):
                return self.name(text)
            case Member(base, name):
                return f"{self._text(base, ATOM)}.{self.name(name)}"
            case Parenthesised(operand):
                return self._text(operand, outer)
            case CallFunction():
                raise NoPythonError(f"'{spell(expr)}' is a function that is not known")
            case Index(base, items):
                return f"{self._text(base, ATOM)}[{', '.join(self._text(one, 0) for one in items)}]"
            case Unary(op, operand):
                return self._unary(op, operand, outer)
            case Binary():
                return self._binary(expr, outer)
        raise NoPythonError(f"'{spell(expr)}' is nothing that an algorithm in Python has words for")

    def _literal_type(self, literal: Literal) -> CType:
        match literal.intrinsic:
            case Intrinsic.REAL if literal.is_double:
                return DOUBLE
            case Intrinsic.REAL if literal.kind is None:
                return SINGLE
            case Intrinsic.REAL if key_of(literal.kind or "") in _DOUBLE_KINDS:
                return DOUBLE
            case Intrinsic.INTEGER | Intrinsic.LOGICAL:
                return _TYPES[literal.intrinsic]
        raise NoPythonError(f"'{literal.text}' is of a kind that is not known")

    def _unary(self, op: object, operand: Expr, outer: int) -> str:
        if op is Operator.NOT:
            return _bracketed(f"not {self._text(operand, NOT)}", NOT, outer)
        if op in (Operator.PLUS, Operator.MINUS):
            sign = "-" if op is Operator.MINUS else "+"
            return _bracketed(f"{sign}{self._text(operand, POWER)}", SIGN, outer)
        raise NoPythonError("an operator of the author's is not known")

    def _binary(self, expr: Binary, outer: int) -> str:
        if not isinstance(expr.op, Operator) or expr.op not in _OPERATORS:
            raise NoPythonError(f"the operator '{expr.op.spelling}' is not known to Python")
        if expr.op is Operator.DIVIDE and self._is_whole(expr):
            raise NoPythonError("whole numbers are divided")
        if all(map(self._is_single, (expr.left, expr.right))):
            raise NoPythonError(f"'{spell(expr)}' is computed in single precision")
        word, rank = _OPERATORS[expr.op]
        near, far = (rank, rank + 1) if rank != POWER else (rank + 1, SIGN)
        near = rank + 1 if rank == COMPARED else near
        text = f"{self._text(expr.left, near)} {word} {self._text(expr.right, far)}"
        return _bracketed(text, rank, outer)

    def _is_whole(self, expr: Expr) -> bool:
        """Return whether a value is certainly a whole number."""
        match expr:
            case Literal():
                return expr.intrinsic is Intrinsic.INTEGER
            case Name():
                found = self.declared.get(expr.key)
                kind = None if found is None else found.type
                return isinstance(kind, ScalarType) and kind.intrinsic is Intrinsic.INTEGER
            case Unary() | Binary() | Parenthesised():
                return all(map(self._is_whole, children(expr)))
        return False

    def _is_single(self, expr: Expr) -> bool:
        """Return whether a value is computed in single precision, as far as that is known."""
        match expr:
            case Literal(intrinsic=Intrinsic.REAL):
                return self._literal_type(expr) == SINGLE
            case Name():
                found = self.declared.get(expr.key)
                kind = None if found is None else found.type
                return kind == ScalarType(Intrinsic.REAL)
            case Unary() | Parenthesised():
                return all(map(self._is_single, children(expr)))
            case Literal(intrinsic=Intrinsic.INTEGER):
                return False
        return False


def _bracketed(text: str, rank: int, outer: int) -> str:
    return f"({text})" if rank < outer else text
