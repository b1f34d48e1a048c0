"""Names of arrays where statements on these become loops: their shapes, types and bounds."""

from __future__ import annotations

from collections.abc import Iterable

from psyclone_storage.backend.python.values import DOUBLE, INTEGER
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.ir.expr import (
    Binary,
    CallFunction,
    Element,
    Expr,
    Keyword,
    Literal,
    Name,
    Origin,
    Parenthesised,
    Range,
    Section,
    Sort,
    Symbol,
    Unary,
    integer_value,
    spell,
)
from psyclone_storage.ir.intrinsics import LIKE_FIRST
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.symbols import declared_symbol
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.typing import CScope, PrintError
from psyclone_storage.ir.unit import Declare

ONE = Literal("1", Intrinsic.INTEGER)


class NoLoopsError(Exception):
    """A statement that has no form as loops which certainly do the same; the text may say why."""


class UnknownBoundsError(NoLoopsError):
    """An array whose declaration does not say where it ends."""


@dataclass(slots=True)
class ArrayNames:
    """The names that a subroutine sees, and those that loops need, which are `declared`."""

    scope: CScope
    declared: list[Declare] = field(default_factory=list)

    def symbol(self, key: str) -> Symbol:
        """Return what a name stands for."""
        made = next((one for one in self.declared if one.key == key), None)
        return self.scope.symbol(key) if made is None else declared_symbol(made, Origin.LOCAL)

    def shape(self, name: Name) -> tuple[Expr, ...]:
        """Return the dimensions of an array; none for a scalar."""
        return self.symbol(name.key).shape

    def is_of_language(self, expr: Expr) -> bool:
        """Return whether an expression calls a function of the language, and no author's."""
        if not isinstance(expr, CallFunction) or not isinstance(expr.base, Name):
            return False
        return self.symbol(expr.base.key).origin is Origin.INTRINSIC

    def is_real(self, terms: Expr) -> bool:
        """Return whether values are real numbers."""
        return self.type_of(terms).intrinsic is Intrinsic.REAL

    def type_of(self, terms: Expr) -> ScalarType:
        """Return the type of what is summed, which is that of all that it is made of."""
        types = {self.scope.type_of(one): one.type for one in self._operands(terms)}
        for wanted in (DOUBLE, INTEGER):
            if set(types) == {wanted} and isinstance(found := types[wanted], ScalarType):
                return found
        raise NoLoopsError

    def _operands(self, expr: Expr) -> Iterable[Symbol]:
        """Yield the variables whose values an expression is computed from, not those of indices."""
        match expr:
            case Name() | Section(Name()) | Element(Name()):
                name = expr if isinstance(expr, Name) else expr.base
                yield self.symbol(name.key)  # type: ignore[union-attr]
            case Literal():
                type_ = ScalarType(expr.intrinsic, expr.kind)
                yield Symbol("literal", "literal", Origin.LOCAL, Sort.CONSTANT, type_)
            case CallFunction(Name(key="real"), (_, kind)) if self.is_of_language(expr):
                kind = kind.value if isinstance(kind, Keyword) else kind
                type_ = ScalarType(Intrinsic.REAL, spell(kind))
                yield Symbol("real", "real", Origin.LOCAL, Sort.VARIABLE, type_)
            case Binary(Operator.POWER, left, right) if integer_value(right) is not None:
                yield from self._operands(left)
            case CallFunction(Name(key=word), items) if word in (*LIKE_FIRST, "matmul"):
                for item in items:
                    yield from self._operands(item)
            case Unary(_, operand) | Parenthesised(operand):
                yield from self._operands(operand)
            case Binary(_, left, right):
                yield from self._operands(left)
                yield from self._operands(right)
            case _:
                raise NoLoopsError

    def type_if_known(self, item: Expr) -> ScalarType | None:
        """Return the type of a value, None if it is not known."""
        try:
            return self.type_of(item)
        except (NoLoopsError, PrintError):
            return None


def of_dimension(one: Expr) -> tuple[Expr, Expr]:
    """Return the bounds that a declaration gives a dimension."""
    if not isinstance(one, Range):
        return ONE, one
    if one.upper is None:
        raise UnknownBoundsError
    return one.lower or ONE, one.upper


def lower_of(one: Expr) -> Expr:
    """Return the number of the first element in a dimension."""
    return ONE if not isinstance(one, Range) or one.lower is None else one.lower


def check_step(item: Range) -> None:
    """Refuse a triplet with a step."""
    if item.step is not None and integer_value(item.step) != 1:
        raise NoLoopsError("a section has a step")


def of_triplet(item: Range, extent: Expr) -> tuple[Expr, Expr]:
    """Return the bounds of a triplet in a dimension."""
    check_step(item)
    if item.lower is not None and item.upper is not None:
        return item.lower, item.upper
    lower, upper = of_dimension(extent)
    return item.lower or lower, item.upper or upper
