"""Type and rank inference for expressions.

An unknown type or rank equals None.
"""

from __future__ import annotations

from collections.abc import Callable

from psyclone_storage.base.records import dataclass
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.intrinsics import (
    ELEMENTAL,
    INQUIRING,
    LIKE_FIRST,
    REDUCING,
    WHOLE_NUMBERS,
)
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import AnyOperator, Operator, OperatorKind
from psyclone_storage.ir.types import DataType, DerivedType, Intrinsic, ScalarType

DOUBLE = "kind(0.0d0)"
"""The kind of double precision, as declarations have it too."""

_LOGICAL = (OperatorKind.RELATIONAL, OperatorKind.LOGICAL)
_NUMBERS = (Intrinsic.INTEGER, Intrinsic.REAL, Intrinsic.COMPLEX)


def no_component(_key: str) -> None:
    """Return None: the component is unknown."""


@dataclass(frozen=True, slots=True)
class Typing:
    """Type inference, given lookup functions for symbols and derived types.

    `structure` returns the definition of a derived type, or None. `component_of_unknown` returns a
    component, by key, of a structure of unknown type, if known. With `any_kind`, an operation on
    two different kinds of one type has that type, without a kind.
    """

    symbol: Callable[[str], ex.Symbol]
    structure: Callable[[DerivedType], ex.Symbol | None]
    component_of_unknown: Callable[[str], ex.Symbol | None] = no_component
    any_kind: bool = False

    # ------------------------------------------------------------------------ types

    def type_of(self, expr: ex.Expr) -> DataType | None:
        """Return the type of the values of `expr`, or None if it is unknown."""
        match expr:
            case ex.Literal() if expr.is_double:
                return ScalarType(Intrinsic.REAL, DOUBLE)
            case ex.Literal(_, intrinsic, kind):
                return ScalarType(intrinsic, kind)
            case ex.ComplexLiteral(real, _):
                part = self.type_of(real)
                kind = part.kind if isinstance(part, ScalarType) else None
                return ScalarType(Intrinsic.COMPLEX, kind) if part else None
            case ex.Name():
                return self.symbol(expr.key).type
            case ex.Member():
                component = self.component(expr)
                return component.type if component else None
            case ex.Index(ex.Name() as name, items):
                return self._bracketed_type(self.symbol(name.key), items)
            case ex.Index(ex.Literal() | ex.Member() | ex.Index() as base, _):
                return self.type_of(base)
            case ex.ArrayLiteral(items) if items:
                return self.type_of(items[0])
            case ex.TypedArrayLiteral(type_):
                return type_
            case ex.Keyword(_, value) | ex.Parenthesised(value) | ex.Unary(_, value):
                return self.type_of(value)
            case ex.Binary(op, left, right):
                return self._type_of_operation(op, left, right)
        return None

    def _type_of_operation(self, op: AnyOperator, left: ex.Expr, right: ex.Expr) -> DataType | None:
        first, second = self.type_of(left), self.type_of(right)
        if self.any_kind:
            first, second = _of_no_kind(first), _of_no_kind(second)
        return operation_type(op, first, second)

    def _bracketed_type(self, symbol: ex.Symbol, items: tuple[ex.Expr, ...]) -> DataType | None:
        if symbol.origin is ex.Origin.INTRINSIC:
            return self._function_type(symbol.key, items)
        if symbol.sort is ex.Sort.TYPE:
            return DerivedType(symbol.key, symbol.module_key or None)
        return symbol.type

    def _function_type(self, word: str, items: tuple[ex.Expr, ...]) -> DataType | None:
        """Return the result type of the intrinsic function `word`."""
        if word == "real" and items:
            return ScalarType(Intrinsic.REAL, _kind_argument(items))
        if word == "int" and len(items) > 1:
            return ScalarType(Intrinsic.INTEGER, _kind_argument(items))
        if word in {"dot_product", "matmul"} and len(items) == 2:
            return self._type_of_operation(Operator.TIMES, *items)
        if word in LIKE_FIRST and items:
            return self.type_of(items[0])
        if word in WHOLE_NUMBERS:
            return ScalarType(Intrinsic.INTEGER)
        if word in {"all", "any"}:
            return ScalarType(Intrinsic.LOGICAL)
        return None

    def component(self, member: ex.Member) -> ex.Symbol | None:
        """Return the symbol of the component that `member` names, or None."""
        found = self._definition(member)
        if found is None:
            return self.component_of_unknown(member.key)
        while found is not None:
            for item in found.components:
                if item.key == member.key:
                    return item
            found = self._parent(found)
        return None

    def is_binding(self, member: ex.Member) -> bool:
        """Return whether `member` names a known type-bound procedure."""
        found = self._definition(member)
        while found is not None:
            if member.key in found.bindings:
                return True
            found = self._parent(found)
        return False

    def _definition(self, member: ex.Member) -> ex.Symbol | None:
        owner = self.type_of(member.base)
        return self.structure(owner) if isinstance(owner, DerivedType) else None

    def _parent(self, definition: ex.Symbol) -> ex.Symbol | None:
        if not definition.extends:
            return None
        return self.structure(DerivedType(definition.extends, definition.module_key))

    # ------------------------------------------------------------------------ ranks

    def rank_of(self, expr: ex.Expr) -> int | None:
        """Return the rank of `expr` (0 for a scalar), or None if it is unknown."""
        match expr:
            case ex.Literal() | ex.BozLiteral() | ex.ComplexLiteral() | ex.StructureConstructor():
                return 0
            case ex.Name():
                found = self.symbol(expr.key)
                return found.rank if found.is_data else None
            case ex.Member(base, _):
                component, outer = self.component(expr), self.rank_of(base)
                if component is None or outer is None:
                    return None
                return outer + component.rank
            case ex.ArrayLiteral() | ex.TypedArrayLiteral():
                return 1
            case ex.Substring(base, _):
                return self.rank_of(base)
            case ex.CallFunction(base, items):
                return self._function_rank(base, items)
            case ex.Index(base, items):
                return self._subscripted_rank(base, items)
            case ex.Keyword(_, value) | ex.Parenthesised(value) | ex.Unary(_, value):
                return self.rank_of(value)
            case ex.Binary(_, left, right):
                return self._common_rank((left, right))
        return None

    def subscript_rank(self, item: ex.Expr) -> int | None:
        """Return the rank that a subscript contributes: 1 for a triplet, otherwise its own rank."""
        return 1 if isinstance(item, ex.Range) else self.rank_of(item)

    def _subscripted_rank(self, base: ex.Expr, items: tuple[ex.Expr, ...]) -> int | None:
        """Return the rank of an array reference, including the rank of enclosing structures."""
        if isinstance(base, ex.Name) and not self.symbol(base.key).is_data:
            return None
        outer = self.rank_of(base.base) if isinstance(base, ex.Member) else 0
        ranks = [outer, *map(self.subscript_rank, items)]
        known = [rank for rank in ranks if rank is not None]
        return sum(known) if len(known) == len(ranks) else None

    def _common_rank(self, parts: tuple[ex.Expr, ...]) -> int | None:
        ranks = [self.rank_of(part) for part in parts]
        known = [rank for rank in ranks if rank is not None]
        return max(known, default=0) if len(known) == len(ranks) else None

    def _function_rank(self, base: ex.Expr, items: tuple[ex.Expr, ...]) -> int | None:
        if not isinstance(base, ex.Name):
            return None
        found = self.symbol(base.key)
        if found.origin is not ex.Origin.INTRINSIC:
            knows = found.sort is ex.Sort.FUNCTION and found.type is not None
            return found.rank if knows and "elemental" not in found.attributes else None
        if found.key in ELEMENTAL:
            return self._common_rank(items)
        if found.key in REDUCING:
            words = {item.key for item in items if isinstance(item, ex.Keyword)}
            alone = len(items) == 1 or found.key == "dot_product"
            return 0 if alone or (len(items) == 2 and words == {"mask"}) else None
        if found.key in INQUIRING and found.key != "shape":
            bounds = found.key in {"lbound", "ubound"}
            return 0 if len(items) > 1 or not bounds else 1
        return None


def _kind_argument(items: tuple[ex.Expr, ...]) -> str | None:
    if len(items) < 2:
        return None
    kind = items[1].value if isinstance(items[1], ex.Keyword) else items[1]
    return kind.text if isinstance(kind, ex.Name | ex.Literal) else None


def operation_type(
    op: AnyOperator, left: DataType | None, right: DataType | None
) -> DataType | None:
    """Return the type of a binary operation, None if it is unknown.

    It is unknown if the operands have different kinds of one type.
    """
    if op.kind in _LOGICAL:
        return ScalarType(Intrinsic.LOGICAL)
    if not isinstance(left, ScalarType) or not isinstance(right, ScalarType):
        return None
    if op is Operator.POWER and right.intrinsic is Intrinsic.INTEGER:
        return left
    if left.intrinsic not in _NUMBERS or right.intrinsic not in _NUMBERS:
        return None
    if left.intrinsic is right.intrinsic:
        return left if _same_kind(left.kind, right.kind) else None
    wider, narrower = sorted((left, right), key=lambda it: _NUMBERS.index(it.intrinsic))[::-1]
    if wider.intrinsic is Intrinsic.COMPLEX and narrower.intrinsic is Intrinsic.REAL:
        return wider if _same_kind(wider.kind, narrower.kind) else None
    return wider


def _of_no_kind(type_: DataType | None) -> DataType | None:
    return ScalarType(type_.intrinsic) if isinstance(type_, ScalarType) else type_


def _same_kind(first: str | None, second: str | None) -> bool:
    return key_of(first or "") == key_of(second or "")
