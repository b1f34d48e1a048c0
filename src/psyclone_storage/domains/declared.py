"""Declared type and rank of actual arguments.

Names are already resolved. An imported name has no known type, and the result is then None. Other
modules provide only the values of integer constants in subscripts and bounds.
"""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.base.diagnostic import Diagnostic, Related
from psyclone_storage.base.records import dataclass
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.affine import integer_constant
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.parsed import ParsedArgument, ParsedInvoke
from psyclone_storage.ir.types import DataType, Intrinsic, ScalarType

_ARITHMETIC = (Operator.PLUS, Operator.MINUS, Operator.TIMES, Operator.DIVIDE, Operator.POWER)


@dataclass(frozen=True, slots=True)
class Declared:
    """Declared type and rank of an expression, with the declared variable or component."""

    type: DataType
    rank: int
    symbol: ex.Symbol

    @property
    def places(self) -> tuple[Related, ...]:
        """Location of the declaration, for a diagnostic."""
        span = self.symbol.span
        return (Related(span, "declared here"),) if span else ()


def declared(expr: ex.Expr) -> Declared | None:
    """Return the declared type and rank of `expr`, or None if unknown."""
    match expr:
        case ex.Name(symbol=ex.Symbol() as symbol) | ex.Member(symbol=ex.Symbol() as symbol):
            if not symbol.is_data or symbol.type is None:
                return None
            outer = declared(expr.base) if isinstance(expr, ex.Member) else None
            return Declared(symbol.type, symbol.rank + (outer.rank if outer else 0), symbol)
        case ex.Element(base, items) | ex.Section(base, items):
            whole = declared(base)
            if whole is None or whole.symbol.rank != len(items):
                return None
            rank = whole.rank - len(items) + sum(map(_selects_several, items))
            return Declared(whole.type, rank, whole.symbol)
    return None


def _selects_several(subscript: ex.Expr) -> bool:
    """Return whether a subscript is a range or an array of subscripts."""
    match subscript:
        case ex.Range():
            return True
        case ex.Unary() | ex.Binary():
            return any(map(_selects_several, ex.children(subscript)))
    known = declared(subscript)
    return known is not None and known.rank > 0


def intrinsic_of(expr: ex.Expr) -> Intrinsic | None:
    """Return the intrinsic type of an arithmetic expression, or None if unknown."""
    match expr:
        case ex.Literal():
            return expr.intrinsic
        case ex.Unary(Operator.PLUS | Operator.MINUS, operand):
            return intrinsic_of(operand)
        case ex.Binary(op, left, right) if op in _ARITHMETIC:
            types = {intrinsic_of(left), intrinsic_of(right)}
            if types <= {Intrinsic.REAL, Intrinsic.INTEGER}:
                return Intrinsic.REAL if Intrinsic.REAL in types else Intrinsic.INTEGER
            return None
    known = declared(expr) if is_variable(expr) else None
    return known.type.intrinsic if known and isinstance(known.type, ScalarType) else None


def is_named_constant(expr: ex.Expr) -> bool:
    """Return whether `expr` is a named constant or a part of one."""
    while isinstance(expr, ex.Member | ex.Index):
        expr = expr.base
    return (
        isinstance(expr, ex.Name)
        and expr.symbol is not None
        and expr.symbol.sort is ex.Sort.CONSTANT
    )


def is_read_only(known: Declared) -> bool:
    """Return whether a dummy argument may not be changed; the target of a pointer may be."""
    words = {"".join(key_of(one).split()) for one in known.symbol.attributes}
    return "intent(in)" in words and "pointer" not in words


def write_real(digits: str, kind: str | None) -> str:
    """Return the hint to write a real constant instead of an integer one."""
    real = f"{digits}.0_{kind}" if kind else f"{digits}.0"
    return f"Write {real}, or change the metadata if the kernel takes an integer."


def check_declared_bounds(invoke: ParsedInvoke) -> Iterator[Diagnostic]:
    """Yield `S106` for each constant subscript outside of the declared bounds."""
    for call in invoke.calls:
        for given in call.args:
            for part in ex.walk(given.expr):
                if isinstance(part, ex.Element | ex.Section):
                    yield from _outside(part, given)


def _outside(part: ex.Element | ex.Section, given: ParsedArgument) -> Iterator[Diagnostic]:
    array = declared(part.base)
    if array is None or array.symbol.rank != len(part.items):
        return
    for item, extent in zip(part.items, array.symbol.shape, strict=True):
        lower, upper = _bounds(extent)
        for value in _subscripts(item):
            if (lower is None or value >= lower) and (upper is None or value <= upper):
                continue
            yield Diagnostic(
                "S106",
                f"The subscript {value} in '{ex.spell(part)}' is outside of the bounds of"
                f" '{ex.spell(part.base)}'.",
                given.span,
                hint=f"Write a subscript {_limits(lower, upper)}.",
                related=array.places,
            )
            break


def _subscripts(item: ex.Expr) -> tuple[int, ...]:
    """Return the known first and last subscript of a selection; () if it may be empty."""
    if not isinstance(item, ex.Range):
        value = integer_constant(item)
        return () if value is None else (value,)
    ends = [integer_constant(end) for end in (item.lower, item.upper) if end is not None]
    known = [end for end in ends if end is not None]
    is_all = item.upper is not None and item.step is None and known == ends
    return tuple(known) if is_all and known == sorted(known) else ()


def _limits(lower: int | None, upper: int | None) -> str:
    if lower is None or upper is None:
        return f"of at most {upper}" if lower is None else f"of at least {lower}"
    return f"from {lower} to {upper}"


def _bounds(extent: ex.Expr) -> tuple[int | None, int | None]:
    """Return the declared bounds of a dimension, with None for an unknown bound."""
    if isinstance(extent, ex.Range):
        lower = integer_constant(extent.lower) if extent.lower else 1 if extent.upper else None
        return lower, integer_constant(extent.upper) if extent.upper else None
    upper = integer_constant(extent)
    return (None if upper is None else 1), upper


def is_variable(expr: ex.Expr) -> bool:
    """Return whether `expr` may designate a variable, a component or an element."""
    match expr:
        case ex.Name(_):
            return True
        case ex.CallFunction() | ex.StructureConstructor():
            return False
        case ex.Member(base, _) | ex.Index(base, _):
            return is_variable(base)
    return False
