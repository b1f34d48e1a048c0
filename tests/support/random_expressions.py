"""Random typed expressions, made as trees, of the names of one subroutine.

The trees contain brackets only where an author's brackets say nothing about the order: printers
have to add the brackets that a language needs. Values are kept where the languages agree: divisors
are not 0, exponents and integers are small.
"""

from __future__ import annotations

import random

from psyclone_storage.ir.expr import (
    Binary,
    CallFunction,
    Element,
    Expr,
    Literal,
    Name,
    Parenthesised,
    Unary,
    intrinsic,
)
from psyclone_storage.ir.operators import DefinedOperator, Operator
from psyclone_storage.ir.types import Intrinsic

SUBROUTINE = """module random_mod
  use, intrinsic :: iso_fortran_env, only: real32, real64
  implicit none
  integer, parameter :: wp = real64, sp = real32
contains
  subroutine values(n, a, m, l)
    integer, intent(in) :: n
    real(wp), intent(inout) :: a(60)
    integer, intent(inout) :: m(60)
    logical, intent(inout) :: l(60)
    real(wp) :: x, y
    real(sp) :: s, t
    integer :: i, k
    logical :: p, q
    x = 0.5_wp
  end subroutine values
end module random_mod
"""

SUMS = (Operator.PLUS, Operator.MINUS)
PRODUCTS = (Operator.TIMES, Operator.DIVIDE)
RELATIONS = (Operator.EQUAL, Operator.NOT_EQUAL, Operator.LESS, Operator.LESS_EQUAL,
             Operator.GREATER, Operator.GREATER_EQUAL)  # fmt: skip
LOGICALS = (Operator.AND, Operator.OR, Operator.EQUIVALENT, Operator.NOT_EQUIVALENT)
SMOOTH = ("sin", "cos", "tanh", "atan", "erf", "erfc", "exp", "asinh", "sinh", "tan", "cosh",
          "gamma", "log_gamma", "dsin", "dcos", "dexp", "dtan", "dtanh", "datan", "acos", "asin",
          "acosh", "atanh", "log", "log10", "dlog", "sqrt", "dsqrt", "aint", "anint", "abs",
          "dabs")  # fmt: skip


class RandomExpression:
    """Expressions from one seed; some are `wild`, with operands of other types or unknown words."""

    def __init__(self, seed: int, *, wild: bool = False) -> None:
        self._random = random.Random(seed)
        self._wild = wild

    def any(self, depth: int) -> Expr:
        """Return an expression of any type."""
        return self._random.choice((self.real, self.integer, self.logical))(depth)

    def real(self, depth: int) -> Expr:
        """Return a real of double precision, or of both precisions where it is wild."""
        if self._surprises():
            return self.any(depth - 1)
        if depth <= 0:
            return self._real_leaf()
        match self._random.randint(0, 9):
            case 0 | 1:
                return self._binary(SUMS, self.real, depth)
            case 2 | 3:
                return self._binary(PRODUCTS, self.real, depth)
            case 4:
                return Unary(self._pick(SUMS), self.real(depth - 1))
            case 5:
                return self._power(depth)
            case 6:
                choice = self.real(depth - 1), self.real(depth - 1), self.logical(depth - 1)
                return intrinsic("merge", *choice)
            case 7:
                return self._brackets(self.real(depth - 1))
            case 8:
                word = self._pick(("sign", "mod", "modulo", "max", "min", "atan2", "hypot", "dsign",
                                   "dmod", "dim", "dmax1", "datan2"))  # fmt: skip
                return intrinsic(word, self.real(depth - 1), self.real(depth - 1))
        if self._random.random() < 0.3:
            word = self._pick(("real", "dble"))
            kind = (Name("wp"),) if word == "real" else ()
            return intrinsic(word, self.integer(depth - 1), *kind)
        return intrinsic(self._pick(SMOOTH), self.real(depth - 1))

    def integer(self, depth: int) -> Expr:
        """Return an integer."""
        if self._surprises():
            return self.any(depth - 1)
        if depth <= 0:
            return self._integer_leaf()
        match self._random.randint(0, 8):
            case 0 | 1 | 2:
                return self._binary(SUMS, self.integer, depth)
            case 3:
                return self._binary(PRODUCTS, self.integer, depth)
            case 4:
                return Unary(self._pick(SUMS), self.integer(depth - 1))
            case 5:
                choice = self.integer(depth - 1), self.integer(depth - 1), self.logical(depth - 1)
                return intrinsic("merge", *choice)
            case 6:
                word = self._pick(("nint", "int", "floor", "ceiling", "idnint"))
                return intrinsic(word, self.real(depth - 1))
            case 7:
                return self._quotient_rounded_down(depth)
        word = self._pick(("mod", "modulo", "sign", "max", "min", "iand", "ior", "ieor", "dim",
                           "max0", "isign"))  # fmt: skip
        return intrinsic(word, self.integer(depth - 1), self.integer(depth - 1))

    def logical(self, depth: int) -> Expr:
        """Return a logical."""
        if self._surprises():
            return self.any(depth - 1)
        if depth <= 0:
            return self._pick((Name("p"), Name("q"), self._element("l"),
                               Literal(".true.", Intrinsic.LOGICAL)))  # fmt: skip
        match self._random.randint(0, 4):
            case 0 | 1:
                return self._binary(LOGICALS, self.logical, depth)
            case 2:
                return Unary(Operator.NOT, self.logical(depth - 1))
            case 3:
                return self._binary(RELATIONS, self.integer, depth)
        return self._binary(RELATIONS, self.real, depth)

    def _pick(self, choices):
        return self._random.choice(choices)

    def _surprises(self) -> bool:
        return self._wild and self._random.random() < 0.02

    def _binary(self, operators, operand, depth: int) -> Expr:
        if self._wild and self._random.random() < 0.01:
            operators = (DefinedOperator(".cross."), Operator.CONCATENATE)
        first, second = depth - 1, self._random.randint(0, depth - 1)
        if self._random.random() < 0.5:
            first, second = second, first
        bracketed = self._random.random() < 0.2
        return Binary(self._pick(operators), operand(first), operand(second), bracketed=bracketed)

    def _brackets(self, expr: Expr) -> Expr:
        return expr if isinstance(expr, Binary | Unary) else Parenthesised(expr)

    def _power(self, depth: int) -> Expr:
        exponent = self._pick((self._number("2"), self._number("3"), Name("k"),
                               Unary(Operator.MINUS, self._number("1")),
                               Literal("0.3_wp", Intrinsic.REAL, "wp"),
                               self.integer(1)))  # fmt: skip
        return Binary(Operator.POWER, self.real(depth - 1), exponent)

    def _quotient_rounded_down(self, depth: int) -> Expr:
        first, second = self.integer(depth - 1), self._number(self._pick("237"))
        rest = CallFunction(Name("modulo"), (first, second))
        return Binary(Operator.DIVIDE, Binary(Operator.MINUS, first, rest), second)

    def _number(self, text: str) -> Literal:
        return Literal(text, Intrinsic.INTEGER)

    def _element(self, array: str) -> Expr:
        index = self._pick((Name("i"), self._number("3"),
                            Binary(Operator.PLUS, Name("k"), self._number("2")),
                            Binary(Operator.MINUS, Name("n"), Name("i"))))  # fmt: skip
        return Element(Name(array), (index,))

    def _real_leaf(self) -> Expr:
        if self._wild and self._random.random() < 0.2:
            return self._pick((Name("s"), Name("t"), Literal("2.5_sp", Intrinsic.REAL, "sp"),
                               Literal("1e-1", Intrinsic.REAL)))  # fmt: skip
        return self._pick((Name("x"), Name("y"), self._element("a"), self._element("a"),
                           Literal("0.5_wp", Intrinsic.REAL, "wp"),
                           Literal("1.25e0_wp", Intrinsic.REAL, "wp"),
                           intrinsic("epsilon", Name("x")), intrinsic("huge", Name("y")),
                           intrinsic("tiny", Name("x"))))  # fmt: skip

    def _integer_leaf(self) -> Expr:
        return self._pick((Name("i"), Name("k"), Name("n"), self._number("2"), self._number("7"),
                           self._element("m")))  # fmt: skip
