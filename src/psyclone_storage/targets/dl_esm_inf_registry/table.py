"""Lowering table of dl_esm_inf with a storage registry.

Storages are looked up by the arrays of fields and grids. An exchange transfers the values within
its depth of the border of the owned region, and those beyond.
"""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.infrastructures.gocean import GridProperty, RequiredProperty
from psyclone_storage.ir import runtime_ops as ops
from psyclone_storage.ir.expr import ArrayLiteral, Expr, Member, Name, spell
from psyclone_storage.ir.schedule import Phase
from psyclone_storage.ir.storage_access import AcquireData, PrefetchData, ReleaseData, TouchData
from psyclone_storage.ir.types import DerivedType
from psyclone_storage.ir.unit import Call, Declare, Line
from psyclone_storage.lowering import runtime_names_storage as abi_storage
from psyclone_storage.lowering.emit_registry import (
    acquire_registered,
    begin_exchange,
    end_exchange,
    halo_is_dirty,
    only_if_dirty,
    prefetch_registered,
    registry_read_lines,
    release_registered,
    storage_named,
)
from psyclone_storage.lowering.emit_storage import marks_itself
from psyclone_storage.lowering.infrastructure import Infrastructure, LoweringContext
from psyclone_storage.targets.dl_esm_inf import abi as fields
from psyclone_storage.targets.dl_esm_inf.paths import Paths
from psyclone_storage.targets.dl_esm_inf.table import (
    exchange_call,
    exchange_fields,
    gocean_infrastructure,
)
from psyclone_storage.targets.dl_esm_inf_registry import abi
from psyclone_storage.targets.dl_esm_inf_storage.table import (
    GridArrays,
    field_window,
    gocean_storage,
)


def gocean_registry(
    paths: Mapping[str, Expr], properties: Mapping[str, GridProperty], *, has_flags: bool
) -> Infrastructure:
    """Return the table of dl_esm_inf with a storage registry.

    `has_flags`: the registry records whether halos are clean, because fields do not. It notes
    writes when generated code acquires values.
    """
    plain = gocean_infrastructure(paths)
    held = gocean_storage(paths, properties, GridArrays(_grid_acquired, _grid_released))
    known = _Fields(Paths(paths))
    flags = known.is_dirty if has_flags else plain.values[ops.IsDirty]
    marked = marks_itself if has_flags else plain.actions[ops.MarkDirty]
    return replace(
        held,
        name="GOcean with a registry of storages",
        reserved=abi.RESERVED,
        dummies=lambda context: tuple(map(_pointed_to, plain.dummies(context))),
        values={**held.values, ops.IsDirty: flags},
        actions={
            **held.actions,
            ops.MarkDirty: marked,
            ops.Exchange: known.exchanged,
            ops.ExchangeTogether: known.exchanged_together,
        },
        storages={
            AcquireData: known.acquired,
            TouchData: marks_itself,
            ReleaseData: lambda context, asked: release_registered(
                context, asked, _storage(context, asked.datum)
            ),
            PrefetchData: known.prefetched,
        },
    )


def _pointed_to(declared: Declare) -> Declare:
    """Return a dummy argument with `target`, because the registry may point to its values."""
    if not isinstance(declared.type, DerivedType) or "target" in declared.attributes:
        return declared
    return replace(declared, attributes=("target", *declared.attributes))


def _storage(context: LoweringContext, name: str) -> Name:
    return storage_named(context, name, name)


@dataclass(frozen=True, slots=True)
class _Fields:
    """Lowering of requests for fields whose arrays are given by paths."""

    paths: Paths

    def values(self, name: str) -> Expr:
        """Return the value array of a field."""
        return self.paths.reach(RequiredProperty.DATA, Name(name))

    def is_dirty(self, context: LoweringContext, asked: ops.IsDirty) -> Expr:
        """Return whether the storage of a field has recorded a dirty halo."""
        return halo_is_dirty(context, self.values(asked.datum.name), asked.depth)

    def acquired(self, context: LoweringContext, asked: AcquireData) -> tuple[Line, ...]:
        name = asked.datum
        window = field_window(context, name)
        return acquire_registered(
            context, asked, _storage(context, name), self.values(name), window
        )

    def prefetched(self, context: LoweringContext, asked: PrefetchData) -> tuple[Line, ...]:
        name = asked.datum
        return prefetch_registered(context, asked, _storage(context, name), self.values(name))

    def exchanged(self, context: LoweringContext, asked: ops.Exchange) -> tuple[Line, ...]:
        name = asked.datum.name
        begun = () if asked.phase is Phase.FINISH else self._begun(context, name, asked.depth)
        if asked.phase is Phase.START:
            return (*begun, exchange_call(asked))
        ended = end_exchange(context, [(_storage(context, name), name, None)])
        return (*begun, exchange_call(asked), *ended)

    def exchanged_together(
        self, context: LoweringContext, asked: ops.ExchangeTogether
    ) -> tuple[Line, ...]:
        names = [exchange.datum for exchange in asked.exchanges]
        begun = [
            line
            for name, depth in zip(names, asked.depths, strict=True)
            for line in self._begun(context, name, depth, dirty_only=asked.dirty_only)
        ]
        comment, call = exchange_fields(context, asked)
        ended = end_exchange(context, ((_storage(context, name), name, None) for name in names))
        return (comment, *begun, call, *ended)

    def _begun(
        self, context: LoweringContext, name: str, depth: Expr, *, dirty_only: bool = False
    ) -> tuple[Line, ...]:
        region: Expr = Name(name)
        for member in fields.OWNED:
            region = Member(region, member)
        inner = ArrayLiteral(tuple(Member(region, edge) for edge in fields.EDGES))
        dirty = ops.IsDirty(context.schedule.datum(name), None, depth)
        needed = only_if_dirty(context, dirty) if dirty_only else ()
        storage, values = _storage(context, name), self.values(name)
        return begin_exchange(context, storage, values, inner, depth, *needed)


def _grid_acquired(
    context: LoweringContext, path: Expr, space: Name, window: Name
) -> tuple[Line, ...]:
    return registry_read_lines(context, _grid_storage(context, path), path, space, window)


def _grid_released(context: LoweringContext, path: Expr, space: Name) -> tuple[Line, ...]:
    return (Call(Member(_grid_storage(context, path), abi_storage.RELEASE), (space,)),)


def _grid_storage(context: LoweringContext, path: Expr) -> Name:
    return storage_named(context, path, spell(path).rpartition("%")[2])
