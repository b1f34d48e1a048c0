"""Types of the elements of array expressions, for variables in which these are summed."""

from __future__ import annotations

from collections.abc import Iterable

from psyclone_storage.ir.code import KernelCode, ModuleContext
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
    Section,
    Sort,
    Symbol,
    Unary,
    integer_value,
    intrinsic_called,
    spell,
)
from psyclone_storage.ir.intrinsics import LIKE_FIRST
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.typing import DOUBLE, INTEGER, CScope, PrintError
from psyclone_storage.passes.array_functions import Values
from psyclone_storage.passes.element_loops import NotScalarisedError


def values_of_modules(code: KernelCode, around: ModuleContext) -> Values:
    """Return the values and types that other modules give expressions of a routine."""

    def type_of(terms: Expr, code: KernelCode) -> ScalarType:
        return element_type(terms, CScope(code, around))

    return Values(CScope(code, around).integer, type_of)


def element_type(terms: Expr, scope: CScope) -> ScalarType:
    """Return the type of all variables and constants that elements are computed from.

    Raise `NotScalarisedError` if they have several, or another one than kernels in Python sum.
    """
    try:
        types = {scope.type_of(one): one.type for one in _operands(terms, scope)}
    except PrintError:
        raise NotScalarisedError from None
    for wanted in (DOUBLE, INTEGER):
        if set(types) == {wanted} and isinstance(found := types[wanted], ScalarType):
            return found
    raise NotScalarisedError


def _operands(expr: Expr, scope: CScope) -> Iterable[Symbol]:
    """Yield the variables whose values an expression is computed from, not those of indices."""
    match expr:
        case Name() | Section(Name()) | Element(Name()):
            name = expr if isinstance(expr, Name) else expr.base
            yield scope.symbol(name.key)  # type: ignore[union-attr]
        case Literal():
            type_ = ScalarType(expr.intrinsic, expr.kind)
            yield Symbol("literal", "literal", Origin.LOCAL, Sort.CONSTANT, type_)
        case CallFunction(_, (_, kind)) if intrinsic_called(expr) == "real":
            kind = kind.value if isinstance(kind, Keyword) else kind
            type_ = ScalarType(Intrinsic.REAL, spell(kind))
            yield Symbol("real", "real", Origin.LOCAL, Sort.VARIABLE, type_)
        case Binary(Operator.POWER, left, right) if integer_value(right) is not None:
            yield from _operands(left, scope)
        case CallFunction(Name(key=word), items) if word in (*LIKE_FIRST, "matmul"):
            for item in items:
                yield from _operands(item, scope)
        case Unary(_, operand) | Parenthesised(operand):
            yield from _operands(operand, scope)
        case Binary(_, left, right):
            yield from _operands(left, scope)
            yield from _operands(right, scope)
        case _:
            raise NotScalarisedError
