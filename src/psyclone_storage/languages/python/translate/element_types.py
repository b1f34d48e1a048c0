"""Element types of array expressions, for variables that accumulate sums of elements."""

from __future__ import annotations

from collections.abc import Iterable

from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.intrinsics import LIKE_FIRST
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.routine import ModuleContext, Routine
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.typing import DOUBLE, INTEGER, CScope, PrintError
from psyclone_storage.passes.array_functions import Values
from psyclone_storage.passes.element_loops import NotScalarisedError


def values_of_modules(code: Routine, around: ModuleContext) -> Values:
    """Return functions that evaluate and type expressions using other modules."""

    def type_of(terms: ex.Expr, code: Routine) -> ScalarType:
        return element_type(terms, CScope(code, around))

    return Values(CScope(code, around).integer, type_of)


def element_type(terms: ex.Expr, scope: CScope) -> ScalarType:
    """Return the common type of all variables and constants in an element expression.

    Raises:
        NotScalarisedError: there are several types, or a type that Python kernels cannot sum.
    """
    try:
        types = {scope.type_of(one): one.type for one in _operands(terms, scope)}
    except PrintError:
        raise NotScalarisedError from None
    for wanted in (DOUBLE, INTEGER):
        if set(types) == {wanted} and isinstance(found := types[wanted], ScalarType):
            return found
    raise NotScalarisedError


def _operands(expr: ex.Expr, scope: CScope) -> Iterable[ex.Symbol]:
    """Yield the variables and constants of an expression, except those in indices."""
    match expr:
        case ex.Name() | ex.Section(ex.Name()) | ex.Element(ex.Name()):
            name = expr if isinstance(expr, ex.Name) else expr.base
            yield scope.symbol(name.key)  # type: ignore[union-attr]
        case ex.Literal():
            type_ = ScalarType(expr.intrinsic, expr.kind)
            yield ex.Symbol("literal", "literal", ex.Origin.LOCAL, ex.Sort.CONSTANT, type_)
        case ex.CallFunction(_, (_, kind)) if ex.intrinsic_called(expr) == "real":
            kind = kind.value if isinstance(kind, ex.Keyword) else kind
            type_ = ScalarType(Intrinsic.REAL, ex.spell(kind))
            yield ex.Symbol("real", "real", ex.Origin.LOCAL, ex.Sort.VARIABLE, type_)
        case ex.Binary(Operator.POWER, left, right) if ex.integer_value(right) is not None:
            yield from _operands(left, scope)
        case ex.CallFunction(ex.Name(key=word), items) if word in (*LIKE_FIRST, "matmul"):
            for item in items:
                yield from _operands(item, scope)
        case ex.Unary(_, operand) | ex.Parenthesised(operand):
            yield from _operands(operand, scope)
        case ex.Binary(_, left, right):
            yield from _operands(left, scope)
            yield from _operands(right, scope)
        case _:
            raise NotScalarisedError
