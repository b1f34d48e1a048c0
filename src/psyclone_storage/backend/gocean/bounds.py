"""Where the loops over rows and columns start and stop.

Fields know their own regions, which differ with the staggering: `internal` for the points that a
rank owns, `whole` for the halo too. A field on any type of point is looped over as a whole
(spec 5.4). Bounds of the settings are Fortran in which `{start}` and `{stop}` stand for the ends of
the grid's internal region.
"""

from __future__ import annotations

from psyclone_storage.backend.abi_gocean import Path
from psyclone_storage.backend.gocean.context import Context, looped_field
from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.ir.expr import Expr, Index, Literal, Name, Verbatim, spell
from psyclone_storage.ir.kernel import GridBounds, GridPoints
from psyclone_storage.ir.schedule import Loop, Over
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.ir.walk import kernel_calls

_ANY_TYPE = "go_every"
_FIRST_INTERNAL = "2"
"""The first internal index of a grid: one point of boundary or halo lies before it."""

_REGIONS = {
    ("go_internal_pts", Over.ROWS): (Path.INTERNAL_OUTER_START, Path.INTERNAL_OUTER_STOP),
    ("go_internal_pts", Over.COLUMNS): (Path.INTERNAL_INNER_START, Path.INTERNAL_INNER_STOP),
    ("go_all_pts", Over.ROWS): (Path.WHOLE_OUTER_START, Path.WHOLE_OUTER_STOP),
    ("go_all_pts", Over.COLUMNS): (Path.WHOLE_INNER_START, Path.WHOLE_INNER_STOP),
}
_DIMENSIONS = {Over.COLUMNS: 1, Over.ROWS: 2}


def loop_bounds(context: Context, loop: Loop) -> tuple[Expr, Expr]:
    """Return the first and the last index of `loop`."""
    call = kernel_calls(loop)[0]
    points, described = call.kernel.points, call.kernel.args[loop.bounds_from]
    if points is None or loop.over not in _DIMENSIONS:
        raise InternalError(f"'{loop.uid}' counts {loop.over.value}, which grids do not have.")
    field = looped_field(call, loop.bounds_from)
    if points.bounds is not None:
        return _configured(context, points.bounds, loop.over, field)
    if described.space == _ANY_TYPE:
        return _whole(1), _size(context, field, _DIMENSIONS[loop.over])
    return _region(context, points, loop.over, field)


def _region(context: Context, points: GridPoints, over: Over, field: Expr) -> tuple[Expr, Expr]:
    if (points.name, over) not in _REGIONS:
        raise InternalError(f"The points '{points.name}' have no bounds.")
    start, stop = _REGIONS[points.name, over]
    return context.reach(start, field), context.reach(stop, field)


def _configured(context: Context, bounds: GridBounds, over: Over, field: Expr) -> tuple[Expr, Expr]:
    rows = over is Over.ROWS
    last = spell(context.reach(Path.Y_STOP if rows else Path.X_STOP, field))
    texts = (
        (bounds.outer_start, bounds.outer_stop) if rows else (bounds.inner_start, bounds.inner_stop)
    )
    start, stop = (
        Verbatim(text.replace("{start}", _FIRST_INTERNAL).replace("{stop}", last)) for text in texts
    )
    return start, stop


def _size(context: Context, field: Expr, dimension: int) -> Expr:
    data = context.reach(Path.DATA, field)
    return Index(Name("size"), (data, _whole(dimension)))


def _whole(value: int) -> Literal:
    return Literal(str(value), Intrinsic.INTEGER)
