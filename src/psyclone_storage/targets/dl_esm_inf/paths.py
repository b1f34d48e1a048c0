"""Expressions from the settings for the values and grid properties of a field."""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.expr import Expr
from psyclone_storage.ir.kernel import FIELD_ON_GRID
from psyclone_storage.ir.rewrite import substituted


@dataclass(frozen=True, slots=True)
class Paths:
    """Expressions in terms of `FIELD_ON_GRID`, by grid property name."""

    by_name: Mapping[str, Expr]

    def reach(self, property_name: str, field: Expr) -> Expr:
        """Return the expression for a grid property of `field`."""
        return substituted(self.by_name[property_name], {FIELD_ON_GRID.text: field})
