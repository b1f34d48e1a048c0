"""Loop bounds known at compile time: the table of GOcean 1.0 (spec 5.4).

The table contains the points of each type for a grid whose internal region starts at 2, by index
offset and set of points. It describes one domain surrounded by its boundary. In dl_esm_inf each
field has its own region, which may differ from the table: U and V points extend as far as T points.
Each entry therefore also states whether it always equals the field's own region.
"""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.infrastructures.gocean import (
    ALL,
    ANY_OFFSET,
    ANY_TYPE,
    F_POINTS,
    INTERNAL,
    NORTH_EAST,
    POINT_TYPES,
    SOUTH_WEST,
    T_POINTS,
    U_POINTS,
    V_POINTS,
)
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.kernel import FIRST_INTERNAL, LAST_INTERNAL, GridBounds
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rules import KnownBounds

_Range = tuple[ex.Expr, ex.Expr]


def _next_to(end: ex.Expr, step: int) -> ex.Expr:
    """Return the index `step` points after `end`."""
    if not step:
        return end
    return ex.Binary(
        Operator.PLUS if step > 0 else Operator.MINUS,
        end,
        ex.whole(abs(step)),
    )


def _range(before: int, behind: int) -> _Range:
    """Return the internal region extended by `before` at its start and `behind` at its end."""
    return _next_to(FIRST_INTERNAL, -before), _next_to(LAST_INTERNAL, behind)


_INNER = _range(0, 0)
_TO_LAST_BUT_ONE = _range(0, -1)
_BEYOND = _range(0, 1)
_AROUND = _range(1, 1)
_FROM_BEFORE = _range(1, 0)
_SHIFTED = _range(1, -1)

# By offset, type of point and set of points: the columns (i), and the rows (j).
_RANGES: Mapping[tuple[str, str, str], tuple[_Range, _Range]] = {
    (NORTH_EAST, T_POINTS, ALL): (_AROUND, _AROUND),
    (NORTH_EAST, T_POINTS, INTERNAL): (_INNER, _INNER),
    (NORTH_EAST, U_POINTS, ALL): (_FROM_BEFORE, _AROUND),
    (NORTH_EAST, U_POINTS, INTERNAL): (_TO_LAST_BUT_ONE, _INNER),
    (NORTH_EAST, V_POINTS, ALL): (_AROUND, _FROM_BEFORE),
    (NORTH_EAST, V_POINTS, INTERNAL): (_INNER, _TO_LAST_BUT_ONE),
    (NORTH_EAST, F_POINTS, ALL): (_FROM_BEFORE, _FROM_BEFORE),
    (NORTH_EAST, F_POINTS, INTERNAL): (_SHIFTED, _SHIFTED),
    (SOUTH_WEST, T_POINTS, ALL): (_AROUND, _AROUND),
    (SOUTH_WEST, T_POINTS, INTERNAL): (_INNER, _INNER),
    (SOUTH_WEST, U_POINTS, ALL): (_AROUND, _AROUND),
    (SOUTH_WEST, U_POINTS, INTERNAL): (_BEYOND, _INNER),
    (SOUTH_WEST, V_POINTS, ALL): (_AROUND, _AROUND),
    (SOUTH_WEST, V_POINTS, INTERNAL): (_INNER, _BEYOND),
    (SOUTH_WEST, F_POINTS, ALL): (_AROUND, _AROUND),
    (SOUTH_WEST, F_POINTS, INTERNAL): (_BEYOND, _BEYOND),
    **{
        (ANY_OFFSET, field, points): (_FROM_BEFORE, _FROM_BEFORE)
        for field in POINT_TYPES
        for points in (ALL, INTERNAL)
    },
    **{
        (offset, ANY_TYPE, points): (_AROUND, _AROUND)
        for offset in (NORTH_EAST, SOUTH_WEST, ANY_OFFSET)
        for points in (ALL, INTERNAL)
    },
}

# Regions of dl_esm_inf with a halo of one point that no boundary condition changes.
_OWN_REGIONS = frozenset(
    (offset, T_POINTS, points) for offset in (NORTH_EAST, SOUTH_WEST) for points in (ALL, INTERNAL)
)


def known_bounds(offset: str, field: str, points: str) -> KnownBounds | None:
    """Return the bounds for `points` of a field on `field` points, or None if not in the table."""
    ranges = _RANGES.get((offset, field, points))
    if ranges is None:
        return None
    (inner_start, inner_stop), (outer_start, outer_stop) = ranges
    bounds = GridBounds(outer_start, outer_stop, inner_start, inner_stop)
    return KnownBounds(bounds, (offset, field, points) in _OWN_REGIONS)
