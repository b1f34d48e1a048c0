"""Expressions as Python spells them, with no more brackets than Python asks for.

Owns which function of NumPy, or which operator, stands for one of typed code. What differs from
point to point is an array, so that conditions are joined element by element; what is the same for
all points is a number, and has Python's own operators.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Collection, Mapping

from psyclone_storage.backend.grids import abi
from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.expr import (
    ArrayLiteral,
    Binary,
    Construct,
    Expr,
    Index,
    Keyword,
    Literal,
    Member,
    Name,
    Parenthesised,
    Unary,
    integer_value,
    walk,
)
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.types import Intrinsic

_OR, _AND, _NOT, _COMPARED, _BIT_OR, _BIT_AND, _SUM, _PRODUCT, _SIGN, _POWER, _ATOM = range(11)
_OPERATORS: Mapping[Operator, tuple[str, int]] = {
    Operator.EQUIVALENT: ("==", _COMPARED),
    Operator.NOT_EQUIVALENT: ("!=", _COMPARED),
    Operator.EQUAL: ("==", _COMPARED),
    Operator.NOT_EQUAL: ("!=", _COMPARED),
    Operator.LESS: ("<", _COMPARED),
    Operator.LESS_EQUAL: ("<=", _COMPARED),
    Operator.GREATER: (">", _COMPARED),
    Operator.GREATER_EQUAL: (">=", _COMPARED),
    Operator.PLUS: ("+", _SUM),
    Operator.MINUS: ("-", _SUM),
    Operator.TIMES: ("*", _PRODUCT),
    Operator.DIVIDE: ("/", _PRODUCT),
    Operator.POWER: ("**", _POWER),
}
_JOINED = {
    Operator.AND: (("and", _AND), ("&", _BIT_AND)),
    Operator.OR: (("or", _OR), ("|", _BIT_OR)),
}
_NUMPY = {
    **{
        name: name
        for name in ("sqrt", "exp", "log", "log10", "sin", "cos", "tan", "sinh", "cosh", "tanh")
    },
    **{f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    "atan2": "arctan2",
    "hypot": "hypot",
    "abs": "abs",
    "min": "minimum",
    "max": "maximum",
    "mod": "fmod",
    "modulo": "mod",
    "sign": "copysign",
    "aint": "trunc",
    "real": "float64",
}
_EXTREMES = {"min": abi.LESSER, "max": abi.GREATER}
_ROUNDED = {"floor": "floor", "ceiling": "ceil", "int": "trunc"}
_IN_PRODUCTS = 2
_SMALL = 1


class UnsupportedError(Exception):
    """Typed code has something that is not spelled in Python with NumPy; the text says what."""


def _never(_expr: Expr) -> bool:
    """Return that nothing is."""
    return False


def _as_here(_expr: Expr) -> None:
    """Return that nothing is spelled otherwise."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """How expressions are spelled.

    `varies` tells whether a name stands for another value at each point; `element` gives the text
    of an element of an array; `is_whole` tells whether a value is an integer. `own` gives the text
    of what is spelled otherwise than here, None for all else. `raises` tells whether a division of
    reals may be one of numbers of Python, which refuse to be divided by 0.
    """

    varies: Callable[[Expr], bool]
    element: Callable[[Index], str | None]
    is_whole: Callable[[Expr], bool]
    own: Callable[[Expr], str | None] = _as_here
    raises: Callable[[Binary], bool] = _never

    def of(self, expr: Expr, outer: int = 0) -> str:
        """Return the text of `expr` as an operand of an operator of rank `outer`."""
        if (found := self.own(expr)) is not None:
            return found
        match expr:
            case Literal():
                return literal(expr)
            case Name(text):
                return plain(text)
            case Member(base, name):
                return f"{self.of(base, _ATOM)}.{plain(name)}"
            case Keyword(name, value):
                return f"{name}={self.of(value)}"
            case ArrayLiteral(items):
                return f"[{', '.join(map(self.of, items))}]"
            case Parenthesised(operand):
                return self.of(operand, outer)
            case Unary(op, operand):
                return self._unary(op, operand, outer)
            case Binary():
                return self._binary(expr, outer)
            case Construct(base, items):
                return f"{self.of(base, _ATOM)}({', '.join(map(self.of, items))})"
            case Index():
                return self._reference(expr, outer)
        raise UnsupportedError(f"{type(expr).__name__} is not spelled in Python")

    def _unary(self, op: object, operand: Expr, outer: int) -> str:
        if op is Operator.NOT:
            if self.varies(operand):
                return f"np.logical_not({self.of(operand)})"
            return _bracketed(f"not {self.of(operand, _NOT)}", _NOT, outer)
        if isinstance(op, Operator):
            return _bracketed(f"{op.spelling}{self.of(operand, _SIGN)}", _SIGN, outer)
        raise UnsupportedError("an operator of the author's is not known")

    def _binary(self, expr: Binary, outer: int) -> str:
        if expr.op in _JOINED:
            word, rank = _JOINED[expr.op][self.varies(expr)]
            parts = self.of(expr.left, rank), self.of(expr.right, rank + 1)
            return _bracketed(f"{parts[0]} {word} {parts[1]}", rank, outer)
        if not isinstance(expr.op, Operator) or expr.op not in _OPERATORS:
            raise UnsupportedError(f"the operator '{expr.op.spelling}' is not spelled in Python")
        if expr.op is Operator.DIVIDE and self.is_whole(expr):
            return self._quotient(expr, outer)
        if expr.op is Operator.POWER:
            return self._power(expr, outer)
        word, rank = _OPERATORS[expr.op]
        near = rank + 1 if rank == _COMPARED else rank
        left, right = self.of(expr.left, near), self.of(expr.right, rank + 1)
        if expr.op is Operator.DIVIDE and self.raises(expr):
            left = f"np.float64({self.of(expr.left)})"
        return _bracketed(f"{left} {word} {right}", rank, outer)

    def _quotient(self, expr: Binary, outer: int) -> str:
        """Return a division of whole numbers, `//` where it is made of a rounded-down one."""
        match expr.left:
            case Binary(Operator.MINUS, first, Index(Name("modulo"), (again, by))) if (
                first == again and by == expr.right
            ):
                text = f"{self.of(first, _PRODUCT)} // {self.of(by, _PRODUCT + 1)}"
                return _bracketed(text, _PRODUCT, outer)
        return f"{abi.QUOTIENT}({self.of(expr.left)}, {self.of(expr.right)})"

    def _power(self, expr: Binary, outer: int) -> str:
        exponent = integer_value(expr.right)
        if exponent is not None and exponent > _IN_PRODUCTS:
            # Compilers multiply, which rounds otherwise than a function of two reals does.
            return f"{abi.POWER}({self.of(expr.left)}, {exponent})"
        text = f"{self.of(expr.left, _POWER + 1)}**{self.of(expr.right, _SIGN)}"
        return _bracketed(text, _POWER, outer)

    def _reference(self, expr: Index, outer: int) -> str:
        found = self.element(expr)
        if found is not None:
            return found
        match expr.base:
            case Name(text) if key_of(text) in (*_NUMPY, *_ROUNDED, "merge"):
                return self._function(key_of(text), expr.items)
            case Member():
                items = ", ".join(map(self.of, expr.items))
                brackets = "()" if type(expr).__name__ == "CallFunction" else "[]"
                return f"{self.of(expr.base, _ATOM)}{brackets[0]}{items}{brackets[1]}"
        raise UnsupportedError(f"'{self.of(expr.base)}' is not known to NumPy")

    def _function(self, name: str, items: tuple[Expr, ...]) -> str:
        if name == "merge" and len(items) == 3:
            first, second, test = map(self.of, items)
            if not self.varies(items[2]):
                return f"({first} if {test} else {second})"
            return f"np.where({test}, {first}, {second})"
        if name in ("min", "max") and len(items) > _SMALL:
            whole = self.of(items[0])
            if not any(map(self.varies, items)):
                return f"{name}({', '.join(map(self.of, items))})"
            # NumPy's own give no number where one of two is none, and either of two zeros.
            is_whole = self.is_whole(items[0])
            word = f"np.{_NUMPY[name]}" if is_whole else _EXTREMES[name]
            for item in items[1:]:
                whole = f"{word}({whole}, {self.of(item)})"
            return whole
        if name == "real" and len(items) == 1:
            return f"np.float32({self.of(items[0])})"
        if name == "real":
            return f"np.float64({self.of(items[0])})"
        if name in _ROUNDED:
            return f"np.{_ROUNDED[name]}({self.of(items[0])}).astype(int)"
        return f"np.{_NUMPY[name]}({', '.join(map(self.of, items))})"


def literal(expr: Literal) -> str:
    """Return a constant as Python writes it."""
    text = expr.text
    match expr.intrinsic:
        case Intrinsic.LOGICAL:
            return "True" if "true" in key_of(text) else "False"
        case Intrinsic.CHARACTER:
            return text
        case Intrinsic.INTEGER:
            return str(int(text.partition("_")[0]))
    return repr(float(key_of(text.partition("_")[0]).replace("d", "e")))


def plain(name: str, words: Collection[str] = ()) -> str:
    """Return a name that Python takes and that is none of `words`, for no two names the same one.

    Python's own words get a line behind them, and so do `words`, with whatever lines they have.
    """
    return f"{name}_" if keyword.iskeyword(name) or name.rstrip("_") in words else name


def names(expr: Expr) -> set[str]:
    """Return the names in an expression, in lower case."""
    return {key_of(part.text) for part in walk(expr) if isinstance(part, Name)}


def _bracketed(text: str, rank: int, outer: int) -> str:
    return f"({text})" if rank < outer else text
