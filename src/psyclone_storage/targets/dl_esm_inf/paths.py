"""Paths from a field to its data and those of its grid: expressions from the settings."""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.expr import Expr
from psyclone_storage.ir.kernel import FIELD_ON_GRID
from psyclone_storage.ir.rewrite import substituted


@dataclass(frozen=True, slots=True)
class Paths:
    """Expressions of `FIELD_ON_GRID`, by the names of grid properties."""

    by_name: Mapping[str, Expr]

    def reach(self, property_name: str, field: Expr) -> Expr:
        """Return the expression that leads from `field` to a grid property."""
        return substituted(self.by_name[property_name], {FIELD_ON_GRID.text: field})
