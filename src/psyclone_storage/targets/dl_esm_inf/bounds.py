"""Bounds of loops over rows and columns.

Fields contain their regions, which depend on the staggering: `internal` for the points that a rank
owns, `whole` including the halo. A loop over all points of a field uses `whole` (spec 5.4). Bounds
from the settings are expressions of the limits of the grid's internal region. So are bounds set by
a step; their limits are read once, from the grid of the first field.
"""

from __future__ import annotations

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.infrastructures.gocean import ALL, ANY_TYPE, INTEGER, INTERNAL
from psyclone_storage.infrastructures.gocean import RequiredProperty as Required
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.interface import Role
from psyclone_storage.ir.kernel import FIRST_INTERNAL, LAST_INTERNAL, ArgKind, GridBounds
from psyclone_storage.ir.rewrite import substituted
from psyclone_storage.ir.runtime_ops import LoopEnd, LoopStart, PointsEnd
from psyclone_storage.ir.schedule import Axis, KernelCall, Loop
from psyclone_storage.ir.unit import Declare
from psyclone_storage.ir.walk import kernel_calls
from psyclone_storage.lowering.infrastructure import LoweringContext
from psyclone_storage.lowering.routine_builder import (
    SetupSection,
)
from psyclone_storage.lowering.split_bounds import peeled_end
from psyclone_storage.targets.dl_esm_inf import abi
from psyclone_storage.targets.dl_esm_inf.paths import Paths

_REGIONS = {
    (INTERNAL, Axis.NORTH): (Required.INTERNAL_OUTER_START, Required.INTERNAL_OUTER_STOP),
    (INTERNAL, Axis.EAST): (Required.INTERNAL_INNER_START, Required.INTERNAL_INNER_STOP),
    (ALL, Axis.NORTH): (Required.WHOLE_OUTER_START, Required.WHOLE_OUTER_STOP),
    (ALL, Axis.EAST): (Required.WHOLE_INNER_START, Required.WHOLE_INNER_STOP),
}
_DIMENSIONS = {Axis.EAST: 1, Axis.NORTH: 2}
_STOPS = {Axis.EAST: Required.X_STOP, Axis.NORTH: Required.Y_STOP}


def region_start(paths: Paths, context: LoweringContext, asked: LoopStart) -> ex.Expr:
    """Return the first index of a loop, or of the loop over its tiles."""
    return _loop_end(paths, context, asked.loop, last=False)


def region_end(paths: Paths, context: LoweringContext, asked: LoopEnd) -> ex.Expr:
    """Return the last index of a loop, or of the loop over its tiles."""
    return _loop_end(paths, context, asked.loop, last=True)


def points_end(paths: Paths, context: LoweringContext, asked: PointsEnd) -> ex.Expr:  # noqa: ARG001 - a table's
    """Return the first or last index, along one axis, of the points that a call computes."""
    points, field = asked.call.kernel.points, _looped_field(asked.call, asked.arg)
    if points is None:
        raise InternalError(f"'{asked.call.uid}' is for no points of a grid.")
    if points.bounds is not None:
        ends = {
            FIRST_INTERNAL.text: _owned_edge(field, asked.axis, last=False),
            LAST_INTERNAL.text: paths.reach(_STOPS[asked.axis], field),
        }
        return substituted(_bound(points.bounds, asked.axis, last=asked.last), ends)
    if asked.call.kernel.args[asked.arg].space == ANY_TYPE:
        return _size(paths, field, asked.axis) if asked.last else ex.whole(1)
    if (points.name, asked.axis) not in _REGIONS:
        raise InternalError(f"The points '{points.name}' have no bounds.")
    return paths.reach(_REGIONS[points.name, asked.axis][asked.last], field)


def _loop_end(paths: Paths, context: LoweringContext, loop: Loop, *, last: bool) -> ex.Expr:
    return peeled_end(
        context,
        loop,
        lambda end: _uncut_end(paths, context, loop, last=end),
        lambda end: _owned_end(loop, last=end),
        last=last,
    )


def _owned_end(loop: Loop, *, last: bool) -> ex.Expr:
    """Return the first or last index owned by the rank, along the axis of `loop`."""
    field, axis = _looped_field(kernel_calls(loop)[0], loop.bounds_from), loop.over.axis
    return _owned_edge(field, axis, last=last)


def _owned_edge(field: ex.Expr, axis: Axis | None, *, last: bool) -> ex.Expr:
    """Return the first or last index of a grid owned by the rank, along one axis."""
    region = field
    for member in abi.OWNED:
        region = ex.Member(region, member)
    return ex.Member(region, abi.EDGES[2 * (axis is Axis.NORTH) + last])


def _uncut_end(paths: Paths, context: LoweringContext, loop: Loop, *, last: bool) -> ex.Expr:
    calls, axis = kernel_calls(loop), loop.over.axis
    if axis is None:
        raise InternalError(f"'{loop.uid}' counts {loop.over.value}, which grids do not have.")
    if loop.bounds is not None:
        first = next(datum for datum in context.schedule.data if datum.kind is ArgKind.FIELD)
        return _read_once(
            paths, context, _bound(loop.bounds, axis, last=last), ex.Name(first.name), axis
        )
    if all(map(_looks_at_bounds, calls)):
        field = _looped_field(calls[0], loop.bounds_from)
        return _size(paths, field, axis) if last else ex.whole(1)
    return points_end(paths, context, PointsEnd(calls[0], loop.bounds_from, axis, last))


def _looks_at_bounds(call: KernelCall) -> bool:
    return any(dummy.role is Role.FIRST_COLUMN for dummy in call.dummies)


def _looped_field(call: KernelCall, bounds_from: int) -> ex.Expr:
    """Return the field that provides the bounds of a loop over `call`."""
    actual = call.args[bounds_from]
    if actual.datum is None:
        raise InternalError(f"'{call.uid}' takes its bounds from a constant.")
    return actual.value


def _read_once(
    paths: Paths, context: LoweringContext, bound: ex.Expr, field: ex.Name, axis: Axis
) -> ex.Expr:
    """Return a bound as an expression of variables for the limits of the internal region.

    The first internal index depends on the halo width, which is known only to the grid.
    """
    values = {
        FIRST_INTERNAL.text: ("start", _owned_edge(field, axis, last=False)),
        LAST_INTERNAL.text: ("stop", paths.reach(_STOPS[axis], field)),
    }
    ends: dict[str, ex.Expr] = {}
    for name in sorted(
        {item.text for item in ex.walk(bound) if isinstance(item, ex.Name)} & values.keys()
    ):
        which, value = values[name]
        declared = Declare(f"{axis.value}{which}", INTEGER)
        ends[name] = context.work.assigned(SetupSection.BOUNDS, (which, axis), declared, value)
    return substituted(bound, ends)


def _bound(bounds: GridBounds, axis: Axis, *, last: bool) -> ex.Expr:
    """Return the lower or upper bound along one axis."""
    pair = (bounds.inner_start, bounds.inner_stop)
    if axis is Axis.NORTH:
        pair = (bounds.outer_start, bounds.outer_stop)
    return pair[last]


def _size(paths: Paths, field: ex.Expr, axis: Axis) -> ex.Expr:
    return ex.intrinsic("size", paths.reach(Required.DATA, field), ex.whole(_DIMENSIONS[axis]))
