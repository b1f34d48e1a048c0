"""Explanations of planned exchanges, transfers and storage accesses (`--explain`).

An exchange names the reads that need it, the write that made the data stale, and their source
positions. A guard names the facts that are unknown at compile time. A read without an exchange also
has a reason. A transfer names the reader and the statement that made the replica stale; transfers
within an exchange share one reason.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import PurePath

from psyclone_storage.base.fresh import Fresh
from psyclone_storage.base.names import listed
from psyclone_storage.base.source import Span
from psyclone_storage.base.text import counted
from psyclone_storage.coherence.halos import (
    ElidedExchange,
    ElisionReason,
    HaloPlan,
    plan_halos,
)
from psyclone_storage.coherence.solver import OUTSIDE
from psyclone_storage.ir import schedule as sch
from psyclone_storage.ir.datum_parts import DatumPart
from psyclone_storage.ir.insertion import END, Insertion
from psyclone_storage.ir.region import describe_depth
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.storage_access import AcquireData, PrefetchData, StoragePlan
from psyclone_storage.ir.transfer import EnterData, Update
from psyclone_storage.ir.view import places_text
from psyclone_storage.ir.walk import kernel_calls, outer_loops, sequential_statements, statements


def explain_halos(schedule: sch.Schedule, rules: Rules) -> str:
    """Return an explanation of all exchanges of `schedule`, and of elided ones.

    Derived exchanges in `schedule` are ignored and planned again; pinned ones are counted.
    """
    if not schedule.distributed:
        return f"{schedule.name}: one process has every value, so nothing is exchanged.\n"
    plan = plan_halos(schedule, rules)
    pinned = sum(
        isinstance(item, sch.HaloExchange) and item.pinned
        for item in sequential_statements(schedule)
    )
    planned, elided = len(plan.exchanges), len(plan.elided)
    title = f"{schedule.name}: {counted(planned, 'halo exchange')}, {elided} proved unnecessary"
    title += f", {pinned} placed by a script" if pinned else ""
    calls = {call.uid: call for call in kernel_calls(schedule)}
    return "\n".join([title, *_explained(plan, calls)]) + "\n"


def explain_messages(schedule: sch.Schedule) -> str:
    """Return the groups of joint exchanges as text; empty if none exist."""
    groups = {
        item.joint: item.overlapped
        for item in sequential_statements(schedule)
        if isinstance(item, sch.HaloExchange) and item.joint
    }
    if not groups:
        return ""
    together = "start before one of them finishes"
    if not any(groups.values()):
        together = "share one message for each neighbour"
    title = f"{schedule.name}: exchanges that {together}"
    return "\n".join([title, *(f"  {', '.join(group)}" for group in groups)]) + "\n"


def explain_tiles(schedule: sch.Schedule) -> str:
    """Return an explanation of loops over tile colours; empty if none exist."""
    names = [f"'{one.uid}'" for one in outer_loops(schedule) if one.over is sch.Over.TILE_COLOURS]
    if not names:
        return ""
    return (
        f"{schedule.name}: tiles of colours in {', '.join(names)}\n"
        "  They are as large as the mesh was made with. On a mesh that was made without tiles\n"
        "  each is a cell, and neighbours are visited apart, as with colours of cells.\n"
        + explained_order(schedule)
    )


def explained_order(schedule: sch.Schedule) -> str:
    """Return the text on coloured loops that one thread runs in mesh order."""
    loops = [one for one in outer_loops(schedule) if one.over is sch.Over.TILE_COLOURS]
    if all(one.for_threads for one in loops):
        return "  One thread visits all cells in the order of the mesh instead.\n"
    return "  On one thread that is slower than no colours.\n"


def explain_columns(schedule: sch.Schedule) -> str:
    """Return the kernels with code for known stencil sizes as text; empty if none exist."""
    found = [
        f"  '{call.uid}': {' or '.join(' and '.join(map(str, one)) for one in columns)} columns\n"
        for call in kernel_calls(schedule)
        if (
            columns := next(
                (code.kernel_use.columns for code in call.codes if code.kernel_use.columns), ()
            )
        )
    ]
    if not found:
        return ""
    return (
        f"{schedule.name}: statements for stencils of known sizes\n"
        + "".join(found)
        + "  A sum over so many columns, as shape and reach tell, is written out and stays\n"
        "  in a register; where the mesh has others, as at edges, the statements for any are run.\n"
        "  Two sizes are those of stencils that reach 1 or 2 cells, where the program decides.\n"
    )


def explain_levels(schedule: sch.Schedule) -> str:
    """Return the loops with a procedure for one-level columns as text; empty if none exist."""
    names = [f"'{one.uid}'" for one in outer_loops(schedule) if one.one_level]
    if not names:
        return ""
    return (
        f"{schedule.name}: a procedure for one level beside {', '.join(names)}\n"
        "  It has no loops over levels. It is asked once, before the loop, whether columns have\n"
        "  one level; all others are computed by the same statements as without it.\n"
    )


def explain_calls(schedule: sch.Schedule) -> str:
    """Return the inlined and the remaining calls of kernels as text; empty if none exist."""
    found: dict[str, None] = {}
    for call in kernel_calls(schedule):
        for code in call.codes:
            if code.kernel_use.placed:
                names = listed(
                    [f"{one.name} ({one.module})" for one in code.kernel_use.placed], "and"
                )
                found[f"  '{call.uid}': {code.name} with {names}\n"] = None
                found |= dict.fromkeys(f"    {line}\n" for line in _calls_that_stay(code))
    if not found:
        return ""
    return f"{schedule.name}: procedures in the place of their calls\n" + "".join(found)


def _calls_that_stay(code: Routine) -> Iterator[str]:
    for place, why in code.kernel_use.left:
        where = f" at {PurePath(place.source.name).name}:{place.line}" if place is not None else ""
        yield f"a call{where} stays: {why}"


def _explained(plan: HaloPlan, calls: dict[str, sch.KernelCall]) -> Iterator[str]:
    grouped: dict[tuple[object, ...], list[Insertion[sch.HaloExchange]]] = defaultdict(list)
    for placed in plan.exchanges:
        exchange = placed.statement
        alike = (placed.before, exchange.datum, exchange.depth, exchange.guarded, exchange.reasons)
        grouped[alike].append(placed)
    for group in grouped.values():
        yield ""
        yield from _exchange_lines(group, calls)
    if plan.fills:
        yield ""
        yield "Filled without a message, as nobody reads what is there before an exchange:"
    for filled in plan.fills:
        yield from _filled_lines(filled, calls)
    if plan.elided:
        yield ""
        yield "Proved unnecessary:"
    texts: dict[tuple[str, ...], list[DatumPart]] = defaultdict(list)
    for elided in plan.elided:
        texts[_spared_text(elided, calls)].append(elided.part)
    for (where, who, why), keys in texts.items():
        yield f"  {_keys_text(keys)}, before {where}: {who}"
        yield f"    {why}"


def _keys_text(keys: list[DatumPart]) -> str:
    """Return the names of exchanged components: `u`, or `u[1], u[2]`."""
    return ", ".join(key.text for key in keys)


def _exchange_lines(
    group: list[Insertion[sch.HaloExchange]], calls: dict[str, sch.KernelCall]
) -> Iterator[str]:
    """Yield the lines about exchanges that differ only in the component."""
    exchange, before = group[0].statement, group[0].before
    keys = [DatumPart(placed.statement.datum, placed.statement.component) for placed in group]
    where = "at the end" if before == END else f"before {before}"
    yield f"{_keys_text(keys)}, {where}: exchanged to level {describe_depth(exchange.depth)}"
    for reason in exchange.reasons:
        yield f"  needed:  {_reader_text(reason.reader, reason.read, keys[0], calls)}"
    yield f"  stale:   {_writer_text(exchange.reasons[0], keys[0], calls)}"
    yield (
        f"  guarded: {_guard_text(exchange)}"
        if exchange.guarded
        else f"  always:  {_always_text(exchange)}"
    )


def _filled_lines(
    filled: Insertion[sch.FillHalo], calls: dict[str, sch.KernelCall]
) -> Iterator[str]:
    fill = filled.statement
    key = DatumPart(fill.datum, fill.component)
    yield f"  {key.text}, before {filled.before}: {places_text(fill)}"
    yield f"    {_call_text(fill.reader, key, calls)} adds to them, and they may be new"


def _guard_text(exchange: sch.HaloExchange) -> str:
    if exchange.reasons[0].writer == OUTSIDE:
        return "how the halo was left before this invoke, only the run-time flags know"
    return "whether that is enough depends on extents that only run time knows"


def _always_text(exchange: sch.HaloExchange) -> str:
    if exchange.reasons[0].writer == OUTSIDE:
        return "the infrastructure has no flags that could tell whether it is clean"
    return "no guard needed"


def _reader_text(reader: str, read: str, key: DatumPart, calls: dict[str, sch.KernelCall]) -> str:
    if reader == END:
        return f"it is read {read}"
    return f"{_call_text(reader, key, calls)} reads it {read}"


def _writer_text(reason: sch.Reason, key: DatumPart, calls: dict[str, sch.KernelCall]) -> str:
    if reason.writer == OUTSIDE:
        return "it was written before this invoke, which may have left its halo stale"
    return f"{_call_text(reason.writer, key, calls)} leaves {reason.written}"


def _call_text(uid: str, key: DatumPart, calls: dict[str, sch.KernelCall]) -> str:
    """Return a call by its kernel and source position: `k_type (alg.x90:12)`."""
    call = calls[uid]
    place = _place_text(_span_of(call, key))
    return f"'{call.kernel.name}'{f' ({place})' if place else ''}"


def _span_of(call: sch.KernelCall, key: DatumPart) -> Span | None:
    for actual in call.args:
        if actual.datum == key.datum and actual.component in (None, key.component):
            return actual.span or call.span
    return call.span


def _place_text(span: Span | None) -> str:
    return "" if span is None else f"{PurePath(span.source.name).name}:{span.line}"


_BECAUSE = {
    ElisionReason.ALWAYS: "annexed dofs are clean before and after every invoke",
    ElisionReason.NO_ANNEXED: "its function space has no annexed dofs",
    ElisionReason.CARRIED: (
        "stale copies only stay stale, and are made right before anything reads them"
    ),
}


def _spared_text(elided: ElidedExchange, calls: dict[str, sch.KernelCall]) -> tuple[str, str, str]:
    """Return the loop, the call and the reason of a read that needs no exchange."""
    who = _call_text(elided.reader, elided.part, calls)
    why = f"reads it {elided.read}, but {_because_text(elided, calls)}"
    return elided.loop, who, why


def _because_text(elided: ElidedExchange, calls: dict[str, sch.KernelCall]) -> str:
    match elided.because:
        case ElisionReason.EXCHANGED:
            return "an exchange before an earlier loop reaches far enough"
        case ElisionReason.LEFT:
            writer = _call_text(elided.writer, elided.part, calls)
            return f"{writer} leaves {elided.written}"
    return _BECAUSE[elided.because]


# ---------------------------------------------------------------------------- transfers


def explain_transfers(schedule: sch.Schedule) -> str:
    """Return the reason for each transfer of `schedule` as text; empty without transfers."""
    items = list(sequential_statements(schedule))
    found = {item.uid: item for item in statements(schedule)}
    parts = [part for item in items if (part := list(_transfer_lines(item, found)))]
    if not parts:
        return ""
    updates = sum(isinstance(item, Update) for item in items)
    lines = [f"{schedule.name}: {counted(updates, 'update')} between host and device"]
    for part in parts:
        lines += ["", *part]
    return "\n".join(lines) + "\n"


def _transfer_lines(item: sch.Statement, found: dict[str, sch.Statement]) -> Iterator[str]:
    match item:
        case EnterData(data=data) if data:
            yield f"{', '.join(data)}: copied to the device, unless they are there already"
        case Update(pinned=True):
            yield f"{item.datum}, {item.uid}: to the {item.to.value}"
            yield "  needed:  a step asked for it"
        case Update():
            only = ", if the device has a copy" if item.guarded else ""
            yield f"{item.datum}, before {item.reader}: to the {item.to.value}{only}"
            yield f"  needed:  {_update_reader(item, found)}"
            yield f"  stale:   {_update_writer(item, found)}"
        case sch.HaloExchange(fetched=fetched, sent=sent, in_strips=strips) if fetched or sent:
            first = "what is sent from the device before" if strips else "from the device before"
            ways = [first] * fetched + ["the halo to it after"] * sent
            yield f"{item.datum}, at {item.uid}: {' and '.join(ways)}"
            yield "  needed:  messages are sent from the host, and the device may have newer values"


def _update_reader(update: Update, found: dict[str, sch.Statement]) -> str:
    reader = found.get(update.reader)
    if reader is None:
        return "it is used there"
    if isinstance(reader, sch.HaloExchange):
        return "it is exchanged, and messages are sent from the host"
    names = [
        call.kernel.name
        for call in _calls_of(reader)
        if any(actual.datum == update.datum for actual in call.args)
    ]
    return f"{_kernels_text(names, reader)} {'use' if len(set(names)) > 1 else 'uses'} it there"


def _update_writer(update: Update, found: dict[str, sch.Statement]) -> str:
    writer = found.get(update.writer)
    if writer is None:
        return "what ran before the invoke may have changed the other copy"
    if isinstance(writer, sch.HaloExchange):
        return "a halo exchange changes the host's copy"
    names = [call.kernel.name for call in _calls_of(writer) if _changes(call, update.datum)]
    verb = "change" if len(set(names)) > 1 else "changes"
    return f"{_kernels_text(names, writer)} {verb} the {update.to.other.value}'s copy"


def _calls_of(item: sch.Statement) -> tuple[sch.KernelCall, ...]:
    if isinstance(item, sch.KernelCall):
        return (item,)
    return kernel_calls(item) if isinstance(item, sch.Compound) else ()


def _changes(call: sch.KernelCall, datum: str) -> bool:
    pairs = zip(call.args, call.kernel.args, strict=True)
    return any(actual.datum == datum and arg.access.writes for actual, arg in pairs)


def _kernels_text(names: list[str], item: sch.Statement) -> str:
    return listed(dict.fromkeys(names) or [item.uid], "and")


# ---------------------------------------------------------------------------- storage accesses


def explain_storage_access(name: str, plan: StoragePlan) -> str:
    """Return the storage accesses of invoke `name` and their reasons; empty if none."""
    if not plan.insertions:
        return ""
    early = sum(isinstance(one.statement, PrefetchData) for one in plan.insertions)
    first = f"{name}: {counted(len(plan.acquired), 'time')} data are acquired of storages"
    lines = [f"{first}, {counted(early, 'time')} brought early" if early else first]
    for before, action, _ in plan.insertions:
        if isinstance(action, AcquireData):
            lines += ["", *_acquire_lines(action)]
        elif isinstance(action, PrefetchData):
            what = _named(action)
            lines += ["", f"{what}: brought to the {action.side.value} early, before {before}"]
            lines.append(f"  stale:   {f'since {action.writer}' if action.writer else 'maybe'}")
    return "\n".join(lines) + "\n"


def _named(action: AcquireData | PrefetchData) -> str:
    return action.datum if action.component is None else f"{action.datum}[{action.component}]"


def _acquire_lines(action: AcquireData) -> Iterator[str]:
    verb = "changed" if action.writes else "read"
    yield f"{_named(action)}: {verb} on the {action.side.value}"
    yield f"  for:     {', '.join(action.users)}"
    match action.covered:
        case Fresh.YES:
            yield f"  brought: never, as {action.why}"
        case Fresh.MAYBE:
            yield f"  brought: only if its halo is wider than its region, as {action.why}"
        case Fresh.NO:
            yield f"  brought: if it is stale there, as {action.why}"
