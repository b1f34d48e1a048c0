"""Generated code for arrays without a storage member, which use a registry of storages.

The code looks up the storage of an array at the start of an access and refers to it by a pointer
until the access ends. Exchanges use host memory.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from psyclone_storage.base.fresh import Fresh
from psyclone_storage.base.records import replace
from psyclone_storage.ir.expr import CallFunction, Expr, Keyword, Member, Name, logical
from psyclone_storage.ir.insertion import END
from psyclone_storage.ir.runtime_ops import IsDirty
from psyclone_storage.ir.schedule import HaloExchange
from psyclone_storage.ir.storage_access import AcquireData, PrefetchData, ReleaseData
from psyclone_storage.ir.unit import Call, Declare, Line, PointerAssign
from psyclone_storage.ir.walk import statements
from psyclone_storage.lowering import runtime_names_registry as abi
from psyclone_storage.lowering import runtime_names_storage as abi_storage
from psyclone_storage.lowering.emit_storage import acquire_lines, prefetch_lines, space_word
from psyclone_storage.lowering.infrastructure import LoweringContext
from psyclone_storage.lowering.routine_builder import SetupSection


def storage_named(context: LoweringContext, key: Hashable, wish: str) -> Name:
    """Return the pointer variable for a storage, named after `wish`."""
    wished = Declare(f"{wish}_storage", abi.STORAGE, ("pointer",))
    return context.work.variable(SetupSection.DATA, ("storage", key), wished)


def registry_lookup(context: LoweringContext, storage: Name, values: Expr) -> PointerAssign:
    """Return the assignment of the storage of `values` to a pointer."""
    function = Name(context.work.imports.local(abi.MODULE, abi.STORAGE_OF))
    return PointerAssign(storage, CallFunction(function, (values,)))


def halo_is_dirty(context: LoweringContext, values: Expr, depth: Expr) -> Expr:
    """Return whether the halo of `values` is dirty, as their storage has recorded."""
    function, storage_of = (
        Name(context.work.imports.local(abi.MODULE, name))
        for name in (abi.HALO_IS_DIRTY, abi.STORAGE_OF)
    )
    return CallFunction(function, (CallFunction(storage_of, (values,)), depth))


def acquire_registered(
    context: LoweringContext, asked: AcquireData, storage: Name, values: Expr, window: Expr
) -> tuple[Line, ...]:
    """Return the statements that acquire `values`.

    Values are transferred unless all are overwritten: for an array, padding and the number of
    values per dof are unknown. The registry always transfers an array that may also be acquired
    under another name.
    """
    if asked.writes and asked.covered is Fresh.MAYBE:
        asked = replace(asked, covered=Fresh.NO, why=f"{asked.why}, which may not be all values")
    elif asked.writes and asked.may_be and asked.covered is Fresh.YES:
        why = f"{asked.why}, but it may be what '{asked.may_be[0]}' is, which needs values"
        asked = replace(asked, covered=Fresh.NO, why=why)
    sharing = (Keyword(abi.MAY_SHARE, logical(value=True)),) if asked.may_be else ()
    comment, call = acquire_lines(context, asked, storage, window, *sharing)
    return (comment, registry_lookup(context, storage, values), call)


def release_registered(
    context: LoweringContext, asked: ReleaseData, storage: Name
) -> tuple[Line, ...]:
    """Return the statements that release values; they stay in place if they are acquired again."""
    args = (space_word(context, asked.side), *(_STAYING if asked.again else ()))
    return (Call(Member(storage, abi_storage.RELEASE), args),)


def prefetch_registered(
    context: LoweringContext, asked: PrefetchData, storage: Name, values: Expr
) -> tuple[Line, ...]:
    """Return the statements that start a transfer of `values`."""
    comment, call = prefetch_lines(context, asked, storage)
    return (comment, registry_lookup(context, storage, values), call)


def registry_read_lines(
    context: LoweringContext, storage: Name, values: Expr, space: Name, window: Name
) -> tuple[Line, ...]:
    """Return the statements that acquire `values` for reading."""
    read = Name(context.work.imports.local(abi_storage.WORDS_MODULE, abi_storage.READ))
    call = Call(Member(storage, abi_storage.ACQUIRE), (space, read, window))
    return (registry_lookup(context, storage, values), call)


def begin_exchange(
    context: LoweringContext, storage: Name, values: Expr, *part: Expr
) -> tuple[Line, ...]:
    """Return the statements that copy the values for an exchange to the host: all, or `part`."""
    call = Call(Member(storage, abi.BEGIN_EXCHANGE), part)
    return (registry_lookup(context, storage, values), call)


def only_if_dirty(context: LoweringContext, asked: IsDirty) -> tuple[Keyword]:
    """Return the argument that makes a storage skip an exchange if the halo is clean."""
    return (Keyword(abi.NEEDED, context.value(asked)),)


def end_exchange(
    context: LoweringContext, storages: Iterable[tuple[Name, str, int | None]]
) -> tuple[Line, ...]:
    """Return the calls that report received halos to the storages.

    The values stay in place if they are acquired again after all exchanges of the datum.
    """
    return tuple(
        Call(
            Member(storage, abi.END_EXCHANGE),
            _STAYING if _is_used_behind(context, datum, component) else (),
        )
        for storage, datum, component in storages
    )


_STAYING = (Keyword(abi.STAY, logical(value=True)),)


def _is_used_behind(context: LoweringContext, datum: str, component: int | None) -> bool:
    """Return whether a statement acquires a datum after its last exchange."""
    items = list(statements(context.schedule))
    places = {item.uid: at for at, item in enumerate(items)} | {END: len(items)}
    last = max(
        (
            at
            for at, item in enumerate(items)
            if isinstance(item, HaloExchange) and item.datum == datum
        ),
        default=len(items),
    )
    return any(
        places[placed.before] > last
        for placed in context.held.insertions
        if isinstance(placed.statement, AcquireData)
        and (placed.statement.datum, placed.statement.component or 1) == (datum, component or 1)
    )
