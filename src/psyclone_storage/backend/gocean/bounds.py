"""Where the loops over rows and columns start and stop.

Fields know their own regions, which differ with the staggering: `internal` for the points that a
rank owns, `whole` for the halo too. A field on any type of point is looped over as a whole
(spec 5.4). Bounds of the settings are Fortran in which `{start}` and `{stop}` stand for the ends of
the grid's internal region; so are those that a step has chosen, for which the ends are read once,
from the grid of the first field.
"""

from __future__ import annotations

from psyclone_storage.backend import abi_gocean as abi
from psyclone_storage.backend.abi_gocean import Path
from psyclone_storage.backend.gocean.context import Context, looped_field
from psyclone_storage.backend.workspace import Section
from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.ir.expr import Expr, Index, Literal, Name, Verbatim, spell
from psyclone_storage.ir.interface import Role
from psyclone_storage.ir.kernel import ArgKind, GridBounds, GridPoints
from psyclone_storage.ir.schedule import Axis, KernelCall, Loop
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.ir.unit import Declare
from psyclone_storage.ir.walk import kernel_calls

_ANY_TYPE = "go_every"
_FIRST_INTERNAL = "2"
"""The first internal index of a grid: one point of boundary or halo lies before it."""

_REGIONS = {
    ("go_internal_pts", Axis.NORTH): (Path.INTERNAL_OUTER_START, Path.INTERNAL_OUTER_STOP),
    ("go_internal_pts", Axis.EAST): (Path.INTERNAL_INNER_START, Path.INTERNAL_INNER_STOP),
    ("go_all_pts", Axis.NORTH): (Path.WHOLE_OUTER_START, Path.WHOLE_OUTER_STOP),
    ("go_all_pts", Axis.EAST): (Path.WHOLE_INNER_START, Path.WHOLE_INNER_STOP),
}
_DIMENSIONS = {Axis.EAST: 1, Axis.NORTH: 2}
_STOPS = {Axis.EAST: Path.X_STOP, Axis.NORTH: Path.Y_STOP}


def loop_bounds(context: Context, loop: Loop) -> tuple[Expr, Expr]:
    """Return the first and the last index that `loop` and the loops for its tiles run over."""
    call = kernel_calls(loop)[0]
    axis = loop.over.axis
    if axis is None:
        raise InternalError(f"'{loop.uid}' counts {loop.over.value}, which grids do not have.")
    field = looped_field(call, loop.bounds_from)
    if loop.bounds is not None:
        return _written(loop.bounds, axis, _constant_stop(context, axis))
    if all(_looks_at_bounds(call) for call in kernel_calls(loop)):
        return _whole(1), _size(context, field, _DIMENSIONS[axis])
    return points_of_call(context, call, loop.bounds_from, axis)


def _looks_at_bounds(call: KernelCall) -> bool:
    return any(dummy.role is Role.FIRST_COLUMN for dummy in call.dummies)


def points_of_call(
    context: Context, call: KernelCall, bounds_from: int, axis: Axis
) -> tuple[Expr, Expr]:
    """Return the first and the last index, in one direction, of the points that `call` is for."""
    points, described = call.kernel.points, call.kernel.args[bounds_from]
    field = looped_field(call, bounds_from)
    if points is None:
        raise InternalError(f"'{call.uid}' is for no points of a grid.")
    if points.bounds is not None:
        return _written(points.bounds, axis, context.reach(_STOPS[axis], field))
    if described.space == _ANY_TYPE:
        return _whole(1), _size(context, field, _DIMENSIONS[axis])
    return _region(context, points, axis, field)


def _region(context: Context, points: GridPoints, axis: Axis, field: Expr) -> tuple[Expr, Expr]:
    if (points.name, axis) not in _REGIONS:
        raise InternalError(f"The points '{points.name}' have no bounds.")
    start, stop = _REGIONS[points.name, axis]
    return context.reach(start, field), context.reach(stop, field)


def _written(bounds: GridBounds, axis: Axis, last: Expr) -> tuple[Expr, Expr]:
    """Return bounds of one direction, in which `last` is the end of the internal region."""
    texts = (bounds.inner_start, bounds.inner_stop)
    if axis is Axis.NORTH:
        texts = (bounds.outer_start, bounds.outer_stop)
    start, stop = (
        Verbatim(text.replace("{start}", _FIRST_INTERNAL).replace("{stop}", spell(last)))
        for text in texts
    )
    return start, stop


def _constant_stop(context: Context, axis: Axis) -> Name:
    """Return the variable that holds the end of the internal region of the grid."""
    first = next(datum for datum in context.schedule.data if datum.kind is ArgKind.FIELD)
    stop = context.reach(_STOPS[axis], Name(first.name))
    declared = Declare(f"{axis.value}stop", abi.INTEGER)
    return context.work.assigned(Section.BOUNDS, ("stop", axis), declared, stop)


def _size(context: Context, field: Expr, dimension: int) -> Expr:
    data = context.reach(Path.DATA, field)
    return Index(Name("size"), (data, _whole(dimension)))


def _whole(value: int) -> Literal:
    return Literal(str(value), Intrinsic.INTEGER)
