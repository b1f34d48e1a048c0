"""Lowering table of fields with storages.

Bounds, scalars and exchanges are those of dl_esm_inf. Values are accessed by windows: pointers that
an acquire sets. Grid property arrays are acquired too: from the first call that receives them to
the last, or until the side changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.base.records import replace
from psyclone_storage.infrastructures.gocean import INTEGER, REAL, GridProperty, value_type
from psyclone_storage.ir import runtime_ops as ops
from psyclone_storage.ir import schedule as sch
from psyclone_storage.ir import storage_access as sa
from psyclone_storage.ir.cached_values import CachedArray
from psyclone_storage.ir.devices import device_calls, device_regions
from psyclone_storage.ir.expr import Expr, Member, Name, spell
from psyclone_storage.ir.interface import Role
from psyclone_storage.ir.transfer import Side
from psyclone_storage.ir.types import ScalarType
from psyclone_storage.ir.unit import Call, Declare, DeviceItem, Line
from psyclone_storage.ir.walk import kernel_calls
from psyclone_storage.lowering.emit_storage import (
    acquire_lines,
    knows_itself,
    marks_itself,
    prefetch_lines,
    release_lines,
    space_word,
)
from psyclone_storage.lowering.infrastructure import Infrastructure, LoweringContext
from psyclone_storage.lowering.routine_builder import SetupSection, colons
from psyclone_storage.lowering.runtime_names_storage import ACQUIRE, RELEASE
from psyclone_storage.targets.dl_esm_inf.paths import Paths
from psyclone_storage.targets.dl_esm_inf.table import (
    exchange_call,
    exchange_fields,
    gocean_infrastructure,
)
from psyclone_storage.targets.dl_esm_inf_storage import abi

CONTRACT = sa.StoragePolicy(through_exchanges=False, at_once=False, directives_act=True)


class GridArrays(NamedTuple):
    """Functions that generate acquire and release of a grid array for reading."""

    acquired: Callable[[LoweringContext, Expr, Name, Name], tuple[Line, ...]]
    released: Callable[[LoweringContext, Expr, Name], tuple[Line, ...]]


def gocean_storage(
    paths: Mapping[str, Expr],
    properties: Mapping[str, GridProperty],
    grids: GridArrays | None = None,
) -> Infrastructure:
    """Return the table of fields with storages.

    `grids` acquires and releases grid arrays; by default the grid does.
    """
    held_by = grids or GridArrays(_acquired_by_grid, _released_by_grid)
    known = Paths(paths)
    plain = gocean_infrastructure(paths)
    arrays = {name: value_type(one.intrinsic) for name, one in properties.items() if one.rank}
    return replace(
        plain,
        name="GOcean with storages",
        reserved=abi.RESERVED,
        values={
            **{op: value for op, value in plain.values.items() if op is not CachedArray},
            ops.DataOf: lambda context, op: field_window(context, op.datum.name),
            ops.GridPropertyOf: partial(_property, known, arrays),
            ops.LoopStart: partial(_before_regions, plain.values[ops.LoopStart]),
            ops.LoopEnd: partial(_before_regions, plain.values[ops.LoopEnd]),
            ops.PointsEnd: partial(_before_regions, plain.values[ops.PointsEnd]),
        },
        actions={
            **plain.actions,
            ops.Exchange: _exchanged,
            ops.ExchangeTogether: exchange_fields,
            ops.MarkDirty: marks_itself,
            ops.EnterDevice: knows_itself,
            ops.CopyTo: knows_itself,
        },
        region_items=partial(_region_items, known, arrays),
        helpers=lambda _program, _imports: (),
        holding=CONTRACT,
        beside=partial(_grids_beside, partial(_arrays_of, known, arrays), held_by),
        storages={
            sa.AcquireData: _acquired,
            sa.TouchData: marks_itself,
            sa.ReleaseData: _released,
            sa.PrefetchData: _prefetched,
        },
    )


# ---------------------------------------------------------------------------- fields


def field_window(context: LoweringContext, name: str) -> Name:
    """Return the window (pointer) to the values of a field while it is acquired."""
    attributes = ("pointer", "contiguous")
    wished = Declare(f"{name}_data", REAL, attributes, colons(2))
    return context.work.variable(SetupSection.DATA, ("window", name), wished)


def _acquired(context: LoweringContext, asked: sa.AcquireData) -> tuple[Line, ...]:
    return acquire_lines(context, asked, Name(asked.datum), field_window(context, asked.datum))


def _released(context: LoweringContext, asked: sa.ReleaseData) -> tuple[Line, ...]:
    return release_lines(context, asked, Name(asked.datum))


def _prefetched(context: LoweringContext, asked: sa.PrefetchData) -> tuple[Line, ...]:
    return prefetch_lines(context, asked, Name(asked.datum))


def _exchanged(_context: LoweringContext, asked: ops.Exchange) -> tuple[Line, ...]:
    return (exchange_call(asked),)


# ---------------------------------------------------------------------------- grids


def _property(
    paths: Paths,
    arrays: Mapping[str, ScalarType],
    context: LoweringContext,
    asked: ops.GridPropertyOf,
) -> Expr:
    """Return a grid property: the window of an array, or a scalar value."""
    path = paths.reach(asked.name, asked.field)
    if asked.name in arrays:
        return _grid_window(context, path, arrays[asked.name])
    return _read_before(context, path, REAL)


def _before_regions(
    plain: Callable[[LoweringContext, Any], Expr], context: LoweringContext, asked: object
) -> Expr:
    """Return a bound of points, evaluated before device regions, which cannot access fields."""
    return _read_before(context, plain(context, asked), INTEGER)


def _read_before(context: LoweringContext, value: Expr, kind: ScalarType) -> Expr:
    """Return a component of a field, or a variable with its value if device regions exist."""
    if not isinstance(value, Member) or not any(device_regions(context.schedule)):
        return value
    wished = Declare(spell(value).replace("%", "_"), kind)
    return context.work.assigned(SetupSection.BOUNDS, ("component", value), wished, value)


def _grid_window(context: LoweringContext, path: Expr, kind: ScalarType) -> Name:
    """Return the window (pointer) to a grid array while it is acquired."""
    wished = Declare(spell(path).rpartition("%")[2], kind, ("pointer", "contiguous"), colons(2))
    return context.work.variable(SetupSection.DATA, ("window", path), wished)


def _arrays_of(
    paths: Paths, arrays: Mapping[str, ScalarType], calls: Iterable[sch.KernelCall]
) -> Iterator[tuple[Expr, ScalarType]]:
    """Yield the grid arrays that calls receive, with the types of their values."""
    for call in calls:
        for dummy in call.dummies:
            if dummy.arg is not None and dummy.property_name in arrays:
                path = paths.reach(dummy.property_name, call.args[dummy.arg].value)
                yield path, arrays[dummy.property_name]


class _GridArray(NamedTuple):
    """A grid array that a statement reads on one side: its path and value type."""

    path: Expr
    kind: ScalarType
    side: Side


class _Held(NamedTuple):
    """The grid arrays acquired before a statement, and those released after it."""

    before: tuple[_GridArray, ...]
    behind: tuple[_GridArray, ...]


_ArraysOf = Callable[[Iterable[sch.KernelCall]], Iterator[tuple[Expr, ScalarType]]]


def _grids_beside(
    arrays_of: _ArraysOf,
    held_by: GridArrays,
    context: LoweringContext,
    item: sch.Statement,
    lines: tuple[Line, ...],
) -> tuple[Line, ...]:
    """Return a statement with the code that acquires and releases grid arrays around it."""
    plan = context.work.kept("grids", lambda: _plan_grids(arrays_of, context.schedule))
    if item.uid not in plan:
        return lines
    before: list[Line] = []
    behind: list[Line] = []
    for path, kind, side in plan[item.uid].before:
        window = _grid_window(context, path, kind)
        before += held_by.acquired(context, path, space_word(context, side), window)
    for path, _, side in plan[item.uid].behind:
        behind += held_by.released(context, path, space_word(context, side))
    return (*before, *lines, *behind)


def _plan_grids(arrays_of: _ArraysOf, schedule: sch.Schedule) -> dict[str, _Held]:
    """Return the acquires and releases of grid arrays by statement uid.

    An array is acquired from its first use to its last, or until it is used on the other side.
    """
    uses = [(item.uid, tuple(_read_by(arrays_of, item))) for item in _loops_and_regions(schedule)]
    before = _first_uses(uses)
    behind = _first_uses(reversed(uses))
    return {uid: _Held(before[uid], behind[uid]) for uid, _ in uses}


def _first_uses(
    uses: Iterable[tuple[str, tuple[_GridArray, ...]]],
) -> dict[str, tuple[_GridArray, ...]]:
    """Return, for each statement, the arrays that no previous statement used on the same side."""
    sides: dict[Expr, Side] = {}
    found: dict[str, tuple[_GridArray, ...]] = {}
    for uid, arrays in uses:
        found[uid] = tuple(one for one in arrays if sides.get(one.path) is not one.side)
        sides.update((one.path, one.side) for one in arrays)
    return found


def _read_by(arrays_of: _ArraysOf, item: sch.Loop | sch.DirectiveRegion) -> Iterator[_GridArray]:
    """Yield the grid arrays that a loop or region reads, with the side."""
    there = device_calls(item)
    on_device = {call.uid for call in there}
    here = tuple(call for call in kernel_calls(item) if call.uid not in on_device)
    for side, calls in ((Side.HOST, here), (Side.DEVICE, there)):
        for path, kind in dict(arrays_of(calls)).items():
            yield _GridArray(path, kind, side)


def _loops_and_regions(
    block: sch.Schedule | sch.ProfileRegion,
) -> Iterator[sch.Loop | sch.DirectiveRegion]:
    """Yield the top-level loops and regions, including those in profile regions, in order."""
    for item in block.body:
        if isinstance(item, sch.ProfileRegion):
            yield from _loops_and_regions(item)
        elif isinstance(item, sch.Loop | sch.DirectiveRegion):
            yield item


def _acquired_by_grid(
    _context: LoweringContext, path: Expr, space: Name, window: Name
) -> tuple[Line, ...]:
    return (Call(_bound(path, ACQUIRE), (path, space, window)),)


def _released_by_grid(_context: LoweringContext, path: Expr, space: Name) -> tuple[Line, ...]:
    return (Call(_bound(path, RELEASE), (path, space)),)


def _bound(path: Expr, word: str) -> Expr:
    """Return the type-bound procedure `word` of the grid that contains an array."""
    if not isinstance(path, Member):
        raise InternalError(f"'{spell(path)}' is no component of a grid.")
    return Member(path.base, word)


def _region_items(
    paths: Paths,
    arrays: Mapping[str, ScalarType],
    context: LoweringContext,
    calls: Iterable[sch.KernelCall],
    lines: Iterable[Line],  # noqa: ARG001 - the interface of all infrastructures
) -> tuple[DeviceItem, ...]:
    """Return the windows that a device region accesses."""
    found: dict[Expr, DeviceItem] = {}
    for call in calls:
        for dummy in call.dummies:
            if dummy.role is Role.FIELD and dummy.arg is not None:
                datum: sch.Datum = context.datum(call, dummy.arg)
                written = call.kernel.args[dummy.arg].access.writes
                window = field_window(context, datum.name)
                known = found.get(window)
                found[window] = DeviceItem(
                    window, 0, written or (known is not None and known.written)
                )
    for path, kind in _arrays_of(paths, arrays, calls):
        window = _grid_window(context, path, kind)
        found[window] = DeviceItem(window)
    return tuple(found.values())
