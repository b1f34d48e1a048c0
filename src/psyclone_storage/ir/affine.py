"""Integer expressions as polynomials and affine forms, compared symbolically.

`n*(j - 1) + i` is the polynomial `n*j - n + i`. A symbol is a name, or an expression that is
neither a sum nor a product, such as `map(df)` or `n/2`. Its integer value is unknown; a symbol
equals only itself. In an affine form, a product of two symbols is also a symbol: `2*i + n*m - 1`
has the terms `2*i`, `1*(n*m)` and -1. Named constants are symbols until `substitute_constants` has
replaced them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product

from psyclone_storage.base.records import dataclass, field
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import with_parts

Monomial = tuple[str, ...]
"""A product of symbols, in the order of their texts; empty for the constant."""

_MOST_TERMS = 40


@dataclass(frozen=True, slots=True)
class Polynomial:
    """A polynomial.

    `factors` maps each monomial, a sorted tuple of symbols, to its nonzero integer factor.
    """

    factors: Mapping[Monomial, int]

    def __hash__(self) -> int:
        return hash(frozenset(self.factors.items()))

    @property
    def known(self) -> int | None:
        """The value of the polynomial if it contains no symbol, otherwise None."""
        if not self.factors:
            return 0
        return self.factors[()] if self.factors.keys() == {()} else None

    @property
    def constant(self) -> int:
        """The constant term."""
        return self.factors.get((), 0)

    @property
    def symbols(self) -> frozenset[str]:
        """The symbols that occur in the polynomial."""
        return frozenset(symbol for monomial in self.factors for symbol in monomial)

    @property
    def degree(self) -> int:
        """The maximum number of symbols in a monomial."""
        return max(map(len, self.factors), default=0)

    def plus(self, other: Polynomial, times: int = 1) -> Polynomial:
        """Return `self + times * other`."""
        found = dict(self.factors)
        for monomial, factor in other.factors.items():
            found[monomial] = found.get(monomial, 0) + times * factor
        return Polynomial({monomial: factor for monomial, factor in found.items() if factor})

    def minus(self, other: Polynomial) -> Polynomial:
        """Return `self - other`."""
        return self.plus(other, -1)

    def times(self, other: Polynomial) -> Polynomial:
        """Return the product of two polynomials."""
        found: dict[Monomial, int] = {}
        for (one, first), (two, second) in product(self.factors.items(), other.factors.items()):
            monomial = tuple(sorted(one + two))
            found[monomial] = found.get(monomial, 0) + first * second
        return Polynomial({monomial: factor for monomial, factor in found.items() if factor})

    def renamed(self, change: Callable[[str], str]) -> Polynomial:
        """Return the polynomial with each symbol replaced by `change(symbol)`.

        Terms that become equal are added.
        """
        found: dict[Monomial, int] = {}
        for monomial, factor in self.factors.items():
            new = tuple(sorted(map(change, monomial)))
            found[new] = found.get(new, 0) + factor
        return Polynomial({monomial: factor for monomial, factor in found.items() if factor})

    def replaced(self, values: Mapping[str, Polynomial]) -> Polynomial:
        """Return the polynomial after simultaneous substitution of polynomials for symbols."""
        total = Polynomial({})
        for monomial, factor in self.factors.items():
            term = Polynomial({tuple(one for one in monomial if one not in values): factor})
            for name in monomial:
                if name in values:
                    term = term.times(values[name])
            total = total.plus(term)
        return total


def constant_polynomial(value: int) -> Polynomial:
    """Return the constant polynomial `value`."""
    return Polynomial({(): value} if value else {})


def symbol(name: str) -> Polynomial:
    """Return the polynomial that consists of one symbol."""
    return Polynomial({(name,): 1})


def polynomial_of(
    expr: ex.Expr, note: Callable[[str, ex.Expr], object], degree: int | None = None
) -> Polynomial:
    """Return the integer expression `expr` as a polynomial.

    `note(symbol, expression)` is called for each symbol. With `degree`, a product of higher degree
    becomes a symbol.
    """
    value = ex.whole_number(expr)
    if value is not None:
        return constant_polynomial(value)
    match expr:
        case ex.Unary(Operator.MINUS, operand):
            return constant_polynomial(0).minus(polynomial_of(operand, note, degree))
        case ex.Unary(Operator.PLUS, operand) | ex.Parenthesised(operand):
            return polynomial_of(operand, note, degree)
        case ex.Binary(Operator.PLUS | Operator.MINUS as op, left, right):
            first, second = polynomial_of(left, note, degree), polynomial_of(right, note, degree)
            return first.plus(second, 1 if op is Operator.PLUS else -1)
        case ex.Binary(Operator.TIMES, left, right):
            found = polynomial_of(left, note, degree).times(polynomial_of(right, note, degree))
            if len(found.factors) <= _MOST_TERMS and (degree is None or found.degree <= degree):
                return found
        case ex.Binary() if (value := ex.integer_value(expr)) is not None:
            return constant_polynomial(value)
    key = expr.key if isinstance(expr, ex.Name) else ex.canonical(expr)
    note(key, expr)
    return symbol(key)


# ---------------------------------------------------------------------------- affine forms


@dataclass(frozen=True, slots=True)
class AffineForm:
    """A polynomial of degree 1, and the expression for each of its symbols."""

    polynomial: Polynomial
    symbols: Mapping[str, ex.Expr] = field(compare=False)

    @property
    def known(self) -> int | None:
        """The value if the form contains no symbol, otherwise None."""
        return self.polynomial.known

    @property
    def constant(self) -> int:
        """The constant term."""
        return self.polynomial.constant

    @property
    def terms(self) -> tuple[tuple[int, ex.Expr], ...]:
        """The pairs (factor, expression) of the form, positive factors first."""
        found = [
            (factor, self.symbols[monomial[0]])
            for monomial, factor in self.polynomial.factors.items()
            if monomial
        ]
        return tuple(sorted(found, key=lambda term: term[0] < 0))

    @property
    def expr(self) -> ex.Expr:
        """The form as an expression, with the constant last."""
        found: ex.Expr | None = None
        for factor, term in self.terms:
            size = abs(factor)
            scaled = term if size == 1 else ex.Binary(Operator.TIMES, ex.whole(size), term)
            found = _added(found, scaled, factor < 0)
        if found is None or self.constant:
            found = _added(found, ex.whole(abs(self.constant)), self.constant < 0)
        return found

    def plus(self, other: AffineForm) -> AffineForm:
        """Return the sum of two forms."""
        return AffineForm(self.polynomial.plus(other.polynomial), {**self.symbols, **other.symbols})

    def minus(self, other: AffineForm) -> AffineForm:
        """Return the difference of two forms."""
        polynomial = self.polynomial.minus(other.polynomial)
        return AffineForm(polynomial, {**self.symbols, **other.symbols})

    def shifted(self, by: int) -> AffineForm:
        """Return the form plus the integer `by`."""
        return AffineForm(self.polynomial.plus(constant_polynomial(by)), self.symbols)

    def without(self, term: ex.Expr) -> AffineForm:
        """Return the form without the term whose expression is the object `term`."""
        gone = next(key for key, one in self.symbols.items() if one is term)
        factors = {key: one for key, one in self.polynomial.factors.items() if key != (gone,)}
        return AffineForm(Polynomial(factors), self.symbols)

    def is_name(self, key: str) -> bool:
        """Return whether the form is the variable `key`, with factor 1, plus a constant."""
        match self.terms:
            case ((1, ex.Name() as name),):
                return name.key == key
        return False


def affine_form(expr: ex.Expr) -> AffineForm:
    """Return the affine form of an integer expression."""
    symbols: dict[str, ex.Expr] = {}
    polynomial = polynomial_of(expr, symbols.setdefault, degree=1)
    return AffineForm(polynomial, {key: symbols[key] for key in polynomial.symbols})


def _added(total: ex.Expr | None, term: ex.Expr, negative: bool) -> ex.Expr:
    if total is None:
        return ex.Unary(Operator.MINUS, term) if negative else term
    return ex.Binary(Operator.MINUS if negative else Operator.PLUS, total, term)


def simplified(expr: ex.Expr) -> ex.Expr:
    """Return an integer expression with constants folded and equal terms combined."""
    return affine_form(expr).expr


def difference(first: ex.Expr, second: ex.Expr) -> int | None:
    """Return `first - second` if it is a constant integer, otherwise None."""
    return affine_form(first).minus(affine_form(second)).known


def with_offset(index: ex.Expr, by: int) -> ex.Expr:
    """Return `index + by`, folding `by` into an existing constant term of `index`."""
    match index:
        case ex.Binary(Operator.PLUS, left, right) if (
            value := ex.integer_value(right)
        ) is not None:
            return with_offset(left, by + value)
        case ex.Binary(Operator.MINUS, left, right) if (
            value := ex.integer_value(right)
        ) is not None:
            return with_offset(left, by - value)
    value = ex.integer_value(index)
    if value is not None:
        return _added(None, ex.whole(abs(value + by)), value + by < 0)
    return _added(index, ex.whole(abs(by)), by < 0) if by else index


def integer_constant(expr: ex.Expr) -> int | None:
    """Return the value of a constant integer expression, otherwise None.

    The expression may contain named constants.
    """
    return ex.integer_value(substitute_constants(expr))


def substitute_constants(expr: ex.Expr) -> ex.Expr:
    """Return `expr` with constant integer subexpressions replaced by their values.

    Named constants are replaced too. The initial value of a variable is not used.
    """
    known = None
    match expr:
        case ex.Name(symbol=ex.Symbol(sort=sort, value=value)) if value is not None:
            known = None if sort is ex.Sort.VARIABLE else integer_constant(value)
        case _:
            expr = with_parts(expr, substitute_constants)
            known = ex.integer_value(expr)
    return expr if known is None else _added(None, ex.whole(abs(known)), known < 0)
