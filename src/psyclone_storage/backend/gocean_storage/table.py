"""Fields with storages as a row: dl_esm_inf's, but for where values are.

Bounds, scalars and exchanges are those of dl_esm_inf's fields. Values are windows, pointers that an
acquire sets. Properties of a grid that are arrays are held, too, where calls are passed them: each
until the side changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from psyclone_storage.backend.gocean import abi as fields
from psyclone_storage.backend.gocean.paths import Paths
from psyclone_storage.backend.gocean.table import exchanged_together, gocean_infrastructure
from psyclone_storage.backend.gocean_storage import abi
from psyclone_storage.backend.infrastructure import Infrastructure, LoweringContext
from psyclone_storage.backend.workspace import SetupSection, colons
from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.base.fresh import Fresh
from psyclone_storage.base.records import replace
from psyclone_storage.infrastructures.gocean import INTEGER, REAL, GridProperty, value_type
from psyclone_storage.ir import runtime_ops as ops
from psyclone_storage.ir.devices import device_calls, device_regions
from psyclone_storage.ir.expr import Expr, Member, Name, spell
from psyclone_storage.ir.holding import (
    AcquireData,
    HoldingContract,
    PrefetchData,
    ReleaseData,
    TouchData,
)
from psyclone_storage.ir.interface import Role
from psyclone_storage.ir.schedule import (
    Datum,
    DirectiveRegion,
    KernelCall,
    Loop,
    Phase,
    Statement,
)
from psyclone_storage.ir.transfer import Side
from psyclone_storage.ir.types import ScalarType
from psyclone_storage.ir.unit import Call, Comment, Declare, DeviceItem, Line
from psyclone_storage.ir.walk import kernel_calls

CONTRACT = HoldingContract(through_exchanges=False, at_once=False, directives_act=True)


def gocean_storage(
    paths: Mapping[str, Expr], properties: Mapping[str, GridProperty]
) -> Infrastructure:
    """Return fields with storages; `paths` lead from a field to each grid property."""
    known = Paths(paths)
    plain = gocean_infrastructure(paths)
    arrays = {name: value_type(one.intrinsic) for name, one in properties.items() if one.rank}
    return replace(
        plain,
        name="GOcean with storages",
        reserved=abi.RESERVED,
        values={
            **plain.values,
            ops.DataOf: lambda context, op: _window(context, op.datum.name),
            ops.GridPropertyOf: partial(_property, known, arrays),
            ops.LoopStart: partial(_before_regions, plain.values[ops.LoopStart]),
            ops.LoopEnd: partial(_before_regions, plain.values[ops.LoopEnd]),
            ops.PointsEnd: partial(_before_regions, plain.values[ops.PointsEnd]),
        },
        actions={
            **plain.actions,
            ops.Exchange: _exchanged,
            ops.ExchangeTogether: exchanged_together,
            ops.MarkDirty: _marks_itself,
            ops.EnterDevice: _knows_itself,
            ops.CopyTo: _knows_itself,
        },
        region_items=partial(_region_items, known, arrays),
        helpers=lambda _program, _imports: (),
        holding=CONTRACT,
        beside=partial(_grids_beside, known, arrays),
        storages={
            AcquireData: _acquired,
            TouchData: _marks_itself,
            ReleaseData: _released,
            PrefetchData: _prefetched,
        },
    )


# ---------------------------------------------------------------------------- fields


def _window(context: LoweringContext, name: str) -> Name:
    """Return the pointer to the values of a field, while it is held."""
    attributes = ("pointer", "contiguous")
    wished = Declare(f"{name}_data", REAL, attributes, colons(2))
    return context.work.variable(SetupSection.DATA, ("window", name), wished)


def _word(context: LoweringContext, word: str) -> Name:
    return Name(context.work.imports.local(abi.WORDS_MODULE, word))


def _space(context: LoweringContext, side: Side) -> Name:
    return _word(context, abi.SPACES[side])


def _acquired(context: LoweringContext, asked: AcquireData) -> tuple[Line, ...]:
    access, reason = abi.READ, asked.why
    if asked.writes and asked.covered is Fresh.NO:
        access, reason = abi.READ_WRITE, f"brought, as {asked.why}"
    elif asked.writes:
        access, reason = abi.WRITE, f"not brought, as {asked.why}"
    args = (_space(context, asked.side), _word(context, access), _window(context, asked.datum))
    return (
        Comment(f"{asked.datum}: {reason}"),
        Call(Member(Name(asked.datum), abi.ACQUIRE), args),
    )


def _released(context: LoweringContext, asked: ReleaseData) -> tuple[Line, ...]:
    return (Call(Member(Name(asked.datum), abi.RELEASE), (_space(context, asked.side),)),)


def _prefetched(context: LoweringContext, asked: PrefetchData) -> tuple[Line, ...]:
    return (
        Comment(f"{asked.datum}: begins to be brought to where it is needed next"),
        Call(Member(Name(asked.datum), abi.PREFETCH), (_space(context, asked.side),)),
    )


def _marks_itself(_context: LoweringContext, _asked: object) -> tuple[Line, ...]:
    """Return nothing: an access that writes has marked all other copies, and the halo."""
    return ()


def _knows_itself(_context: LoweringContext, _asked: object) -> tuple[Line, ...]:
    """Return nothing: an acquire brings what is not there."""
    return ()


def _exchanged(_context: LoweringContext, asked: ops.Exchange) -> tuple[Line, ...]:
    if asked.phase is not Phase.WHOLE:
        raise InternalError(f"The exchange of '{asked.datum.name}' is asynchronous.")
    return (Call(Member(Name(asked.datum.name), fields.EXCHANGE), (asked.depth,)),)


# ---------------------------------------------------------------------------- grids


def _property(
    paths: Paths,
    arrays: Mapping[str, ScalarType],
    context: LoweringContext,
    asked: ops.GridPropertyOf,
) -> Expr:
    """Return a property of a grid: the window of an array, or the value that it is."""
    path = paths.reach(asked.name, asked.field)
    if asked.name in arrays:
        return _grid_window(context, path, arrays[asked.name])
    return _read_before(context, path, REAL)


def _before_regions(
    plain: Callable[[LoweringContext, Any], Expr], context: LoweringContext, asked: object
) -> Expr:
    """Return a bound of points, read before regions on a device, which do not see into fields."""
    return _read_before(context, plain(context, asked), INTEGER)


def _read_before(context: LoweringContext, value: Expr, kind: ScalarType) -> Expr:
    """Return a component of a field, or a variable that holds it where a device needs it."""
    if not isinstance(value, Member) or not any(device_regions(context.schedule)):
        return value
    wished = Declare(spell(value).replace("%", "_"), kind)
    return context.work.assigned(SetupSection.BOUNDS, ("component", value), wished, value)


def _grid_window(context: LoweringContext, path: Expr, kind: ScalarType) -> Name:
    """Return the pointer to the values of an array of a grid, while it is held."""
    wished = Declare(spell(path).rpartition("%")[2], kind, ("pointer", "contiguous"), colons(2))
    return context.work.variable(SetupSection.DATA, ("window", path), wished)


def _arrays_of(
    paths: Paths, arrays: Mapping[str, ScalarType], calls: Iterable[KernelCall]
) -> Iterator[tuple[Expr, ScalarType]]:
    """Yield the arrays of grids that calls are passed, with the type of their values."""
    for call in calls:
        for dummy in call.dummies:
            if dummy.arg is not None and dummy.property_name in arrays:
                path = paths.reach(dummy.property_name, call.args[dummy.arg].value)
                yield path, arrays[dummy.property_name]


def _grids_beside(
    paths: Paths, arrays: Mapping[str, ScalarType], context: LoweringContext, item: Statement
) -> tuple[tuple[Line, ...], tuple[Line, ...]]:
    """Return what holds the arrays of grids around a statement: nobody ever writes them."""
    if not isinstance(item, Loop | DirectiveRegion):
        return (), ()
    there = device_calls(item)
    on_device = {call.uid for call in there}
    here = tuple(call for call in kernel_calls(item) if call.uid not in on_device)
    before: list[Line] = []
    after: list[Line] = []
    for side, calls in ((Side.HOST, here), (Side.DEVICE, there)):
        for path, kind in dict(_arrays_of(paths, arrays, calls)).items():
            space, window = _space(context, side), _grid_window(context, path, kind)
            before.append(Call(_bound(path, abi.ACQUIRE), (path, space, window)))
            after.append(Call(_bound(path, abi.RELEASE), (path, space)))
    return tuple(before), tuple(after)


def _bound(path: Expr, word: str) -> Expr:
    """Return what is bound to the grid that an array is a component of."""
    if not isinstance(path, Member):
        raise InternalError(f"'{spell(path)}' is no component of a grid.")
    return Member(path.base, word)


def _region_items(
    paths: Paths,
    arrays: Mapping[str, ScalarType],
    context: LoweringContext,
    calls: Iterable[KernelCall],
    lines: Iterable[Line],  # noqa: ARG001 - every infrastructure is asked so
) -> tuple[DeviceItem, ...]:
    """Return the windows that a region for a device looks through."""
    found: dict[Expr, DeviceItem] = {}
    for call in calls:
        for dummy in call.dummies:
            if dummy.role is Role.FIELD and dummy.arg is not None:
                datum: Datum = context.datum(call, dummy.arg)
                written = call.kernel.args[dummy.arg].access.writes
                window = _window(context, datum.name)
                known = found.get(window)
                found[window] = DeviceItem(
                    window, 0, written or (known is not None and known.written)
                )
    for path, kind in _arrays_of(paths, arrays, calls):
        window = _grid_window(context, path, kind)
        found[window] = DeviceItem(window)
    return tuple(found.values())
