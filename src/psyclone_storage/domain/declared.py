"""What an algorithm declares about an actual argument: its type and rank.

The front end has looked up the names. What another module declares is not read: the answer is then
None.
"""

from __future__ import annotations

from psyclone_storage.base.diagnostic import Related
from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.expr import (
    CallFunction,
    Construct,
    Element,
    Expr,
    Index,
    Member,
    Name,
    Range,
    Section,
    Symbol,
)
from psyclone_storage.ir.types import DataType


@dataclass(frozen=True, slots=True)
class Declared:
    """The type and rank of an expression, and the variable or component that has them."""

    type: DataType
    rank: int
    symbol: Symbol

    @property
    def places(self) -> tuple[Related, ...]:
        """Where it is declared, for a diagnostic."""
        span = self.symbol.span
        return (Related(span, "declared here"),) if span else ()


def declared(expr: Expr) -> Declared | None:
    """Return what is declared about `expr`, or None."""
    match expr:
        case Name(symbol=Symbol() as symbol) | Member(symbol=Symbol() as symbol):
            if not symbol.is_data or symbol.type is None:
                return None
            return Declared(symbol.type, symbol.rank, symbol)
        case Element(base, items) | Section(base, items):
            whole = declared(base)
            if whole is None or whole.rank != len(items):
                return None
            sections = sum(isinstance(item, Range) for item in items)
            return Declared(whole.type, sections, whole.symbol)
    return None


def is_variable(expr: Expr) -> bool:
    """Return whether `expr` designates an object: a name, a component or an element.

    What nobody knows may be one.
    """
    match expr:
        case Name(_):
            return True
        case CallFunction() | Construct():
            return False
        case Member(base, _) | Index(base, _):
            return is_variable(base)
    return False
