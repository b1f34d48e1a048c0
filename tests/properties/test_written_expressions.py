"""Random typed expressions have the same value as trees and as texts of Python and NumPy.

C is compared with Fortran in `tests/compile/test_printed_c.py`, and Fortran's text is read again in
`test_expressions.py`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.expr import (
    Binary,
    Element,
    Expr,
    Index,
    Literal,
    Name,
    Parenthesised,
    Symbol,
    Unary,
)
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.typed import Typing
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.typing import CScope
from psyclone_storage.languages.c.types import CValue
from psyclone_storage.languages.python.translate.expressions import ExpressionWriter
from psyclone_storage.languages.python.translate.values import NoPythonError
from psyclone_storage.languages.sources.kernel_search import SourceIndex
from psyclone_storage.languages.sources.module_finder import ModuleFinder
from psyclone_storage.targets.c_printer import CPrinter
from psyclone_storage.targets.gocean_python import abi
from psyclone_storage.targets.numpy.expressions import Spelling, UnsupportedError
from random_expressions import SUBROUTINE, RandomExpression

SEEDS = range(1500)
LARGEST = 2**31
PRINTER = CPrinter(ModuleFinder(SourceIndex((), {})))
CODE = PRINTER.read(SourceText("random_mod.f90", SUBROUTINE), "values")
SCOPE = CScope(CODE, PRINTER.around)
TYPING = Typing(CODE.symbol, CODE.structure, any_kind=True)


class Cells:
    """An array with a value at each index."""

    def __init__(self, value: Callable[[int], float]) -> None:
        self._value = value

    def __getitem__(self, index: int) -> float:
        return self._value(int(index))


ENVIRONMENT = {
    "x": 1.75, "y": -0.625, "i": 3, "k": 2, "n": 5, "p": True, "q": False,
    "a": Cells(lambda index: 0.375 * index - 2.0), "m": Cells(lambda index: 4 - index),
    "l": Cells(lambda index: index % 2 == 0),
}  # fmt: skip


class UndefinedError(Exception):
    """The value of an expression is not defined, or not representable."""


def quotient(first: int, second: int) -> int:
    value = abs(first) // abs(second)
    return value if (first < 0) == (second < 0) else -value


def nearest(value: float) -> int:
    size = int(abs(Fraction(value)) + Fraction(1, 2))
    return size if value > 0 else -size


def divided(first: float, second: float) -> float:
    whole = isinstance(first, int) and isinstance(second, int)
    return quotient(first, second) if whole else first / second


def remainder(first: float, second: float) -> float:
    whole = isinstance(first, int) and isinstance(second, int)
    return first - quotient(first, second) * second if whole else math.fmod(first, second)


def signed(first: float, second: float) -> float:
    whole = isinstance(first, int)
    return (abs(first) if second >= 0 else -abs(first)) if whole else math.copysign(first, second)


BINARY = {
    Operator.PLUS: operator.add, Operator.MINUS: operator.sub, Operator.TIMES: operator.mul,
    Operator.DIVIDE: divided, Operator.POWER: operator.pow,
    Operator.EQUAL: operator.eq, Operator.NOT_EQUAL: operator.ne, Operator.LESS: operator.lt,
    Operator.LESS_EQUAL: operator.le, Operator.GREATER: operator.gt,
    Operator.GREATER_EQUAL: operator.ge, Operator.EQUIVALENT: operator.eq,
    Operator.NOT_EQUIVALENT: operator.ne,
}  # fmt: skip
FUNCTIONS = {
    "abs": abs, "dabs": abs, "min": min, "max": max, "int": int, "floor": math.floor,
    "ceiling": math.ceil, "nint": nearest, "real": lambda value, _kind: float(value),
    "dble": float, "sign": signed, "mod": remainder, "modulo": operator.mod,
    "atan2": math.atan2, "hypot": math.hypot, "aint": lambda value: float(int(value)),
    "epsilon": lambda _: 2.0**-52, "tiny": lambda _: 2.0**-1022,
    "huge": lambda _: (2.0 - 2.0**-52) * 2.0**1023,
}  # fmt: skip


def value_of(expr: Expr) -> float:
    """Return the value of an expression by its tree alone."""
    try:
        value = _computed(expr)
    except (ArithmeticError, ValueError) as error:
        raise UndefinedError from error
    if isinstance(value, int):
        is_defined = abs(value) < LARGEST
    else:
        is_defined = not isinstance(value, complex) and not math.isnan(value)
    if not is_defined:
        raise UndefinedError
    return value


def _computed(expr: Expr) -> float:
    match expr:
        case Literal():
            return expr.value if expr.intrinsic is not Intrinsic.REAL else float(expr.value)
        case Name(key="wp"):
            return 8
        case Name():
            return ENVIRONMENT[expr.key]
        case Element(Name(array), (index,)):
            return ENVIRONMENT[array][value_of(index)]
        case Parenthesised(operand):
            return value_of(operand)
        case Unary() | Binary():
            return _operation(expr)
        case Index(Name("merge"), (first, second, condition)):
            return value_of(first) if value_of(condition) else value_of(second)
        case Index(Name(word), items):
            function = FUNCTIONS.get(word) or getattr(math, word.removeprefix("d"), None)
            if function is None:
                raise UndefinedError(word)
            return function(*map(value_of, items))
    raise AssertionError(expr)


def _operation(expr: Unary | Binary) -> float:
    match expr:
        case Unary(op, operand):
            found = value_of(operand)
            return not found if op is Operator.NOT else -found if op is Operator.MINUS else found
        case Binary(Operator.AND, left, right):
            return value_of(left) and value_of(right)
        case Binary(Operator.OR, left, right):
            return value_of(left) or value_of(right)
        case Binary(op, left, right):
            return BINARY[op](value_of(left), value_of(right))
    raise AssertionError(expr)


class Names:
    """The names of the subroutine in Python."""

    def element(self, name: Name, items: tuple[Expr, ...]) -> CValue | None:
        if name.key not in ("a", "m", "l"):
            return None
        (index,) = items
        text = ExpressionWriter(SCOPE, self).whole(index).text
        return CValue(f"{name.key}[{text}]", SCOPE.type_of(SCOPE.symbol(name.key)))

    def summed(self, section: Expr) -> None:
        raise AssertionError(section)

    def scalar(self, symbol: Symbol, scope: CScope) -> CValue:
        return CValue(symbol.key, scope.type_of(symbol))


def is_whole(expr: Expr) -> bool:
    kind = TYPING.type_of(expr)
    return isinstance(kind, ScalarType) and kind.intrinsic is Intrinsic.INTEGER


def numpy_text(expr: Expr, varies: bool) -> str:
    def element(index: Index, inside: Spelling) -> str | None:
        if not isinstance(index, Element):
            return None
        return f"{index.base.text}[{inside.of(index.items[0])}]"

    spelling = Spelling(lambda _: varies, element, is_whole)
    return spelling.of(expr)


def python_text(expr: Expr) -> str:
    return ExpressionWriter(SCOPE, Names()).of(expr).text


HELPERS = {
    abi.QUOTIENT: quotient, abi.POWER: operator.pow,
    abi.LESSER: lambda first, second: second if second < first else first,
    abi.GREATER: lambda first, second: second if second > first else first,
}  # fmt: skip


@pytest.mark.parametrize(
    "write",
    [python_text, lambda expr: numpy_text(expr, False), lambda expr: numpy_text(expr, True)],
    ids=["python", "numpy scalars", "numpy arrays"],
)
def test_texts_have_the_values_of_their_trees(write: Callable[[Expr], str]) -> None:
    compared = 0
    names = {"math": math, "np": np, **HELPERS, **ENVIRONMENT}
    for seed in SEEDS:
        expr = RandomExpression(seed).any(1 + seed % 4)
        try:
            expected = value_of(expr)
            text = write(expr)
        except (UndefinedError, NoPythonError, UnsupportedError):
            continue
        with np.errstate(all="ignore"):
            found = eval(text, names)  # pylint: disable=eval-used
        assert math.isclose(found, expected, rel_tol=1e-9), (seed, text)
        compared += 1
    assert compared > len(SEEDS) // 4
