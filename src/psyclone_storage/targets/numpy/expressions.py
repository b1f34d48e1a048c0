"""Expressions in Python syntax with the minimum of parentheses.

Maps typed code to NumPy functions and operators. Values that differ between points are arrays, so
conditions are combined elementwise. Values that are the same for all points are Python numbers and
use Python operators.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Collection, Iterable
from functools import reduce

from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.infrastructures.gocean import SINGLE
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.checked import CheckedIndex, EagerChoice, EagerCondition, is_checked
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import AnyOperator, Operator, Precedence, RankedText
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.languages.intrinsics import INTRINSICS, FunctionNames
from psyclone_storage.languages.operators import (
    BITS,
    COMPLEMENT,
    FLOOR_QUOTIENT,
    NUMPY,
    PYTHON,
    SHIFTS,
)
from psyclone_storage.targets.gocean_python import abi

_EXTREMES = {"min": abi.LESSER, "max": abi.GREATER}
_ROUNDED = ("floor", "ceiling", "int")
_IN_PRODUCTS = 2
_SMALL = 1


class UnsupportedError(Exception):
    """Typed code contains a construct that NumPy code cannot express; the text names it."""


def _never(_expr: ex.Expr) -> bool:
    """Return False."""
    return False


def _as_here(_expr: ex.Expr) -> None:
    """Return None: no special spelling."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """Writes expressions in Python.

    `varies` returns whether a name differs between points. `elements` returns the text of an array
    element. `is_whole` returns whether a value is an integer. `own` returns the text of specially
    spelled expressions, or None. `raises` returns whether a real division may use Python numbers,
    which raise an error for division by 0. `conditional` replaces `elements` in expressions whose
    values are used only for some points, but which NumPy evaluates for all. `where` is the
    condition for these points. `place` and `array` are named in errors of indices.
    """

    varies: Callable[[ex.Expr], bool]
    elements: Callable[[ex.Index, Spelling], str | None]
    is_whole: Callable[[ex.Expr], bool]
    own: Callable[[ex.Expr], str | None] = _as_here
    raises: Callable[[ex.Binary], bool] = _never
    conditional: Callable[[ex.Index, Spelling], str | None] | None = None
    where: str = ""
    place: str = ""
    array: str = ""

    def element(self, expr: ex.Index) -> str | None:
        """Return the text of an array element, None for other expressions."""
        return self.elements(expr, self)

    def under_condition(self, where: str) -> Spelling:
        """Return the spelling of expressions whose values are used only for some points."""
        return replace(self, elements=self.conditional or self.elements, where=where)

    def also_under(self, condition: str) -> Spelling:
        """Return the spelling for those points for which a further condition holds."""
        return self.under_condition(" & ".join(filter(None, [self.where, condition])))

    def of(self, expr: ex.Expr, outer: int = 0) -> str:
        """Return the text of `expr` as an operand of an operator with precedence `outer`."""
        return self.write(expr).within(outer)

    def write(self, expr: ex.Expr) -> RankedText:
        """Return the text of `expr` with the precedence of its outermost operator."""
        if (found := self.own(expr)) is not None:
            return RankedText(found)
        match expr:
            case ex.Literal():
                return RankedText(python_literal(expr))
            case ex.Name(text):
                return RankedText(python_identifier(text))
            case ex.Member(base, name):
                return RankedText(f"{self._base(base)}.{python_identifier(name)}")
            case ex.Keyword(name, value):
                return RankedText(f"{name}={self.of(value)}")
            case ex.ArrayLiteral(items):
                return RankedText(f"[{self._list(items)}]")
            case ex.Parenthesised(operand):
                return self.write(operand)
            case ex.Unary(op, operand):
                return self._unary(op, operand)
            case ex.Binary():
                return self._binary(expr)
            case ex.StructureConstructor(base, items):
                return RankedText(f"{self._base(base)}({self._list(items)})")
            case ex.Index():
                return RankedText(self._reference(expr))
        raise UnsupportedError(f"{type(expr).__name__} is not spelled in Python")

    def _base(self, expr: ex.Expr) -> str:
        return self.of(expr, Precedence.PRIMARY)

    def _list(self, items: Iterable[ex.Expr]) -> str:
        return ", ".join(map(self.of, items))

    def _with_kind(self, expr: ex.Expr) -> str:
        """Return the text of a number that keeps its kind without an operand of this kind."""
        is_single = isinstance(expr, ex.Literal) and expr.text.endswith(f"_{SINGLE.kind}")
        return f"np.float32({self.of(expr)})" if is_single else self.of(expr)

    def _unary(self, op: AnyOperator, operand: ex.Expr) -> RankedText:
        if op is Operator.NOT:
            if self.varies(operand):
                return RankedText(f"np.logical_not({self.of(operand)})")
            return PYTHON.unary(op, self.write(operand))
        if op in NUMPY.prefixes:
            return NUMPY.unary(op, self.write(operand))
        raise UnsupportedError("an operator of the author's is not known")

    def _binary(self, expr: ex.Binary) -> RankedText:
        op = expr.op
        if op not in NUMPY.infixes:
            raise UnsupportedError(f"the operator '{op.spelling}' is not spelled in Python")
        if op is Operator.DIVIDE and self.is_whole(expr):
            return self._quotient(expr)
        if op is Operator.POWER:
            return self._power(expr)
        is_eager = isinstance(expr, EagerCondition) and is_checked(expr.right)
        joins = op in (Operator.AND, Operator.OR) and not is_eager
        table = PYTHON if joins and not self.varies(expr) else NUMPY
        left, rest = self.write(expr.left), self
        if joins and table is NUMPY:
            decided = left.text if op is Operator.AND else f"np.logical_not({left.text})"
            rest = self.also_under(f"({decided})")
        right = rest.write(expr.right)
        if op is Operator.DIVIDE and self.raises(expr):
            left = RankedText(f"np.float64({left.text})")
        return table.binary(op, left, right)

    def _quotient(self, expr: ex.Binary) -> RankedText:
        """Return an integer division; `//` if it is known to be exact."""
        match expr.left:
            case ex.Binary(Operator.MINUS, first, ex.Index(ex.Name("modulo"), (again, by))) if (
                first == again and by == expr.right
            ):
                text = FLOOR_QUOTIENT.join(self.write(first), self.write(by))
                return RankedText(text, FLOOR_QUOTIENT.rank)
        return RankedText(f"{abi.QUOTIENT}({self.of(expr.left)}, {self.of(expr.right)})")

    def _power(self, expr: ex.Binary) -> RankedText:
        exponent = ex.integer_value(expr.right)
        if exponent is not None and exponent > _IN_PRODUCTS:
            # Compilers multiply, which rounds otherwise than a function of two reals does.
            return RankedText(f"{abi.POWER}({self.of(expr.left)}, {exponent})")
        return NUMPY.binary(expr.op, self.write(expr.left), self.write(expr.right))

    def _checked(self, index: ex.Expr, extent: ex.Expr) -> str:
        """Return an index that is checked at the points for which it is used."""
        what = repr(f"{self.place}'{self.array}'")
        where = f", {self.where}" if self.where else ""
        return f"{abi.CHECKED}({self.of(index)}, {self.of(extent)}, {what}{where})"

    def _reference(self, expr: ex.Index) -> str:
        if isinstance(expr, CheckedIndex):
            return self._checked(*expr.items)
        if isinstance(expr, EagerChoice) and any(map(is_checked, expr.items[:2])):
            one, other, test = map(self.of, expr.items)
            return f"np.where({test}, {one}, {other})[()]"
        found = self.element(expr)
        if found is not None:
            return found
        match expr.base:
            case ex.Name(text) if (row := INTRINSICS.get(key_of(text))) and row.numpy:
                return self._function(key_of(text), row, expr.items)
            case ex.Name(text) if key_of(text) in BITS or key_of(text) in SHIFTS:
                infix = {**BITS, **SHIFTS}[key_of(text)]
                first, second = map(self.write, expr.items)
                return f"({infix.join(first, second)})"
            case ex.Name(text) if key_of(text) == "not":
                return f"({COMPLEMENT.apply(self.write(expr.items[0]))})"
            case ex.Name(text) if text in abi.FUNCTIONS:
                return f"{text}({self._list(expr.items)})"
            case ex.Member():
                brackets = "()" if type(expr).__name__ == "CallFunction" else "[]"
                return f"{self._base(expr.base)}{brackets[0]}{self._list(expr.items)}{brackets[1]}"
        raise UnsupportedError(f"'{self.of(expr.base)}' is not known to NumPy")

    def _function(self, word: str, row: FunctionNames, items: tuple[ex.Expr, ...]) -> str:
        if word == "merge" and len(items) == 3:
            test = self.write(items[2])
            if not self.varies(items[2]):
                first, second = map(self.write, items[:2])
                return f"({PYTHON.choose(test, first, second).text})"
            first = self.also_under(f"({test.text})").write(items[0])
            second = self.also_under(f"np.logical_not({test.text})").write(items[1])
            return f"np.{row.numpy}({test.text}, {first.text}, {second.text})"
        if word in _EXTREMES and len(items) > _SMALL:
            if not any(map(self.varies, items)):
                return f"{row.builtin}({', '.join(map(self._with_kind, items))})"
            # NumPy's own return NaN where one of two is NaN, and either of two zeros.
            function = f"np.{row.numpy}" if self.is_whole(items[0]) else _EXTREMES[word]
            return reduce(lambda first, item: f"{function}({first}, {self.of(item)})", items[1:],
                          self.of(items[0]))  # fmt: skip
        if word == "real" and (len(items) == 1 or items[1] == ex.Name(str(SINGLE.kind))):
            return f"np.float32({self.of(items[0])})"
        if word == "real":
            return f"np.{row.numpy}({self.of(items[0])})"
        if word in _ROUNDED:
            return f"np.{row.numpy}({self.of(items[0])}).astype(int)"
        return f"np.{row.numpy}({self._list(items)})"


def python_literal(expr: ex.Literal) -> str:
    """Return a literal in Python syntax."""
    text = expr.text
    match expr.intrinsic:
        case Intrinsic.LOGICAL:
            return "True" if "true" in key_of(text) else "False"
        case Intrinsic.CHARACTER:
            return text
        case Intrinsic.INTEGER:
            return str(int(text.partition("_")[0]))
    value = float(key_of(text.partition("_")[0]).replace("d", "e"))
    return "np.inf" if value == float("inf") else repr(value)


def python_identifier(name: str, words: Collection[str] = ()) -> str:
    """Return a valid Python identifier that is not in `words`; the mapping is injective.

    Python keywords and `words` get a trailing underscore.
    """
    return f"{name}_" if keyword.iskeyword(name) or name.rstrip("_") in words else name


def python_names(expr: ex.Expr) -> set[str]:
    """Return the names in an expression, in lower case."""
    return {key_of(part.text) for part in ex.walk(expr) if isinstance(part, ex.Name)}
