"""Lowering table of LFRic with a storage registry.

Storages are looked up by arrays. The proxies contain the halo flags. An exchange transfers values
near other ranks through the host; a separate module finds these values, because LFRic does not
expose them. Maps and other tables are transferred for each routine call, because LFRic does not
report when it frees them, or once if the program does.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from psyclone_storage.base.records import replace
from psyclone_storage.ir import runtime_ops as ops
from psyclone_storage.ir.devices import moved_parts
from psyclone_storage.ir.expr import Expr, Member, Name
from psyclone_storage.ir.kernel import ArgKind
from psyclone_storage.ir.schedule import Datum, Phase
from psyclone_storage.ir.storage_access import AcquireData, PrefetchData, ReleaseData, TouchData
from psyclone_storage.ir.unit import Call, Line
from psyclone_storage.lowering.emit_registry import (
    acquire_registered,
    end_exchange,
    only_if_dirty,
    prefetch_registered,
    registry_lookup,
    release_registered,
    storage_named,
)
from psyclone_storage.lowering.emit_storage import marks_itself
from psyclone_storage.lowering.infrastructure import PADDING, Infrastructure, LoweringContext
from psyclone_storage.targets.lfric_fortran import abi as members
from psyclone_storage.targets.lfric_fortran.checks import CheckLevel
from psyclone_storage.targets.lfric_fortran.field_values import proxy
from psyclone_storage.targets.lfric_fortran.halos import exchange_phase, exchanged
from psyclone_storage.targets.lfric_fortran.table import lfric_infrastructure
from psyclone_storage.targets.lfric_registry import abi
from psyclone_storage.targets.lfric_storage.lookup_tables import with_tables
from psyclone_storage.targets.lfric_storage.table import lfric_storage, window


def lfric_registry(
    checks: CheckLevel = CheckLevel.NONE, *, exact_sums: bool = False, padding: int = PADDING
) -> Infrastructure:
    """Return the table of LFRic with a registry; arguments as for `lfric_infrastructure`."""
    plain = lfric_infrastructure(checks, exact_sums=exact_sums, padding=padding)
    held = lfric_storage(checks, exact_sums=exact_sums, padding=padding)
    return replace(
        held,
        name="LFRic with a registry of storages",
        reserved=abi.RESERVED,
        actions={
            **held.actions,
            ops.MarkDirty: plain.actions[ops.MarkDirty],
            ops.Exchange: _exchanged,
            ops.ExchangeTogether: _exchanged_together,
        },
        beside=partial(with_tables, maps_stay=False),
        storages={
            AcquireData: _acquired,
            TouchData: marks_itself,
            ReleaseData: _released,
            PrefetchData: _prefetched,
        },
    )


def _storage(context: LoweringContext, name: str, component: int | None) -> Name:
    datum = context.schedule.datum(name)
    part = f"_{component or 1}" if datum.vector > 1 else ""
    return storage_named(context, (name, component or 1), f"{name}{part}")


def _values(context: LoweringContext, datum: Datum, component: int | None) -> Expr:
    """Return the value array of a field, a field-vector component or an operator."""
    match datum.kind:
        case ArgKind.OPERATOR:
            member: str = members.OperatorMember.STENCIL
        case ArgKind.COLUMNWISE_OPERATOR:
            member = members.Columnwise.MATRIX
        case _:
            member = members.FieldMember.DATA
    return Member(proxy(context, datum, component), member)


def _acquired(context: LoweringContext, asked: AcquireData) -> tuple[Line, ...]:
    datum = context.schedule.datum(asked.datum)
    return acquire_registered(
        context,
        asked,
        _storage(context, asked.datum, asked.component),
        _values(context, datum, asked.component),
        window(context, datum, asked.component),
    )


def _released(context: LoweringContext, asked: ReleaseData) -> tuple[Line, ...]:
    storage = _storage(context, asked.datum, asked.component)
    return release_registered(context, asked, storage)


def _prefetched(context: LoweringContext, asked: PrefetchData) -> tuple[Line, ...]:
    values = _values(context, context.schedule.datum(asked.datum), asked.component)
    storage = _storage(context, asked.datum, asked.component)
    return prefetch_registered(context, asked, storage, values)


# ---------------------------------------------------------------------------- halos


def _exchanged(context: LoweringContext, asked: ops.Exchange) -> tuple[Line, ...]:
    part = (asked.datum, asked.component, asked.depth)
    return _around(context, asked.phase, (part,), exchanged(context, asked))


def _exchanged_together(context: LoweringContext, asked: ops.ExchangeTogether) -> tuple[Line, ...]:
    exchanges = (
        (context.schedule.datum(one.datum), one.component, depth)
        for one, depth in zip(asked.exchanges, asked.depths, strict=True)
    )
    parts = [
        (datum, part, depth) for datum, of, depth in exchanges for part in moved_parts(datum, of)
    ]
    lines = exchange_phase(context, asked)
    return _around(context, asked.exchanges[0].phase, parts, lines, dirty_only=True)


def _around(
    context: LoweringContext,
    phase: Phase,
    parts: Iterable[tuple[Datum, int | None, Expr]],
    lines: tuple[Line, ...],
    *,
    dirty_only: bool = False,
) -> tuple[Line, ...]:
    """Return an exchange, or its start or end, with the notifications of storages.

    With `dirty_only` the exchange and the storages skip fields with clean halos.
    """
    named = [(_storage(context, datum.name, part), datum, part, depth)
             for datum, part, depth in parts]  # fmt: skip
    begun = [
        line
        for storage, datum, part, depth in named
        if phase is not Phase.FINISH
        for line in _begun(context, storage, (datum, part, depth), dirty_only=dirty_only)
    ]
    ended: tuple[Line, ...] = ()
    if phase is not Phase.START:
        ended = end_exchange(
            context, ((storage, datum.name, part) for storage, datum, part, _ in named)
        )
    return (*begun, *lines, *ended)


def _begun(
    context: LoweringContext,
    storage: Name,
    part: tuple[Datum, int | None, Expr],
    *,
    dirty_only: bool,
) -> tuple[Line, ...]:
    """Return the transfer to the host of the values that an exchange sends."""
    datum, component, depth = part
    procedure = Name(context.work.imports.local(abi.STRIPS_MODULE, abi.BEGIN_EXCHANGE_OF_STRIPS))
    space = Member(proxy(context, datum, component), members.FieldMember.SPACE)
    needed = only_if_dirty(context, ops.IsDirty(datum, component, depth)) if dirty_only else ()
    call = Call(procedure, (storage, space, depth, *needed))
    return (registry_lookup(context, storage, _values(context, datum, component)), call)
