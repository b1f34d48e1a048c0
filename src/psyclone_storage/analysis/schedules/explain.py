"""Why an exchange is there, why another is not: the plan of the halos in plain sentences.

Owns the text of `--explain`. Each exchange names the reads that need it, the write that made the
data stale, and where both stand in the algorithm; each guard says what is not known before run
time; each read that needed no exchange says why.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import PurePath

from psyclone_storage.analysis.schedules.halo import (
    END,
    OUTSIDE,
    ElidedExchange,
    ElisionReason,
    Filled,
    HaloPlan,
    PlacedExchange,
    plan_halos,
)
from psyclone_storage.analysis.schedules.touch import ExchangedComponent, key_text
from psyclone_storage.base.names import listed
from psyclone_storage.base.source import Span
from psyclone_storage.base.text import counted
from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.region import describe_depth
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import HaloExchange, KernelCall, Over, Reason, Schedule
from psyclone_storage.ir.view import places_text
from psyclone_storage.ir.walk import in_sequence, kernel_calls, outer_loops


def explain_halos(schedule: Schedule, rules: Rules) -> str:
    """Return why each exchange of `schedule` is needed and why others are not, as text.

    `schedule` may hold derived exchanges or not: they are planned anew. Pinned ones are named.
    """
    if not schedule.distributed:
        return f"{schedule.name}: one process has every value, so nothing is exchanged.\n"
    plan = plan_halos(schedule, rules)
    pinned = sum(isinstance(item, HaloExchange) and item.pinned for item in in_sequence(schedule))
    planned, elided = len(plan.exchanges), len(plan.elided)
    title = f"{schedule.name}: {counted(planned, 'halo exchange')}, {elided} proved unnecessary"
    title += f", {pinned} placed by a script" if pinned else ""
    calls = {call.uid: call for call in kernel_calls(schedule)}
    return "\n".join([title, *_explained(plan, calls)]) + "\n"


def explain_messages(schedule: Schedule) -> str:
    """Return which exchanges of the finished `schedule` share their messages; empty if none."""
    groups = {
        item.joint: None
        for item in in_sequence(schedule)
        if isinstance(item, HaloExchange) and item.joint
    }
    if not groups:
        return ""
    title = f"{schedule.name}: exchanges that share one message for each neighbour"
    return "\n".join([title, *(f"  {', '.join(group)}" for group in groups)]) + "\n"


def explain_tiles(schedule: Schedule) -> str:
    """Return what loops over colours of tiles ask of the mesh; empty if there are none."""
    names = [f"'{one.uid}'" for one in outer_loops(schedule) if one.over is Over.TILE_COLOURS]
    if not names:
        return ""
    return (
        f"{schedule.name}: tiles of colours in {', '.join(names)}\n"
        "  They are as large as the mesh was made with. On a mesh that was made without tiles\n"
        "  each is a cell, and neighbours are visited apart, as with colours of cells: on one\n"
        "  thread that is slower than no colours.\n"
    )


def explain_columns(schedule: Schedule) -> str:
    """Return which kernels have statements for stencils of known sizes; empty if none has."""
    found = [
        f"  '{call.uid}': {' or '.join(' and '.join(map(str, one)) for one in columns)} columns\n"
        for call in kernel_calls(schedule)
        if (columns := next((code.columns for code in call.codes if code.columns), ()))
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


def explain_levels(schedule: Schedule) -> str:
    """Return which loops have a procedure for columns of one level; empty if none has."""
    names = [f"'{one.uid}'" for one in outer_loops(schedule) if one.one_level]
    if not names:
        return ""
    return (
        f"{schedule.name}: a procedure for one level beside {', '.join(names)}\n"
        "  It has no loops over levels. It is asked once, before the loop, whether columns have\n"
        "  one level; all others are computed by the same statements as without it.\n"
    )


def explain_calls(schedule: Schedule) -> str:
    """Return what stands in the place of calls in kernels, and which stay; empty if nothing."""
    found: dict[str, None] = {}
    for call in kernel_calls(schedule):
        for code in call.codes:
            if code.placed:
                names = listed([f"{one.name} ({one.module})" for one in code.placed], "and")
                found[f"  '{call.uid}': {code.name} with {names}\n"] = None
                found |= dict.fromkeys(f"    {line}\n" for line in _calls_that_stay(code))
    if not found:
        return ""
    return f"{schedule.name}: procedures in the place of their calls\n" + "".join(found)


def _calls_that_stay(code: KernelCode) -> Iterator[str]:
    for place, why in code.left:
        where = f" at {PurePath(place.source.name).name}:{place.line}" if place is not None else ""
        yield f"a call{where} stays: {why}"


def _explained(plan: HaloPlan, calls: dict[str, KernelCall]) -> Iterator[str]:
    grouped: dict[tuple[object, ...], list[PlacedExchange]] = defaultdict(list)
    for placed in plan.exchanges:
        exchange = placed.exchange
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
    texts: dict[tuple[str, ...], list[ExchangedComponent]] = defaultdict(list)
    for elided in plan.elided:
        texts[_spared_text(elided, calls)].append(elided.key)
    for (where, who, why), keys in texts.items():
        yield f"  {_keys_text(keys)}, before {where}: {who}"
        yield f"    {why}"


def _keys_text(keys: list[ExchangedComponent]) -> str:
    """Return the components as they are exchanged: `u`, or `u[1], u[2]`."""
    return ", ".join(map(key_text, keys))


def _exchange_lines(group: list[PlacedExchange], calls: dict[str, KernelCall]) -> Iterator[str]:
    """Yield the lines on exchanges that differ in the component only."""
    exchange, before = group[0].exchange, group[0].before
    keys = [
        ExchangedComponent(placed.exchange.datum, placed.exchange.component) for placed in group
    ]
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


def _filled_lines(filled: Filled, calls: dict[str, KernelCall]) -> Iterator[str]:
    fill = filled.fill
    key = ExchangedComponent(fill.datum, fill.component)
    yield f"  {key_text(key)}, before {filled.before}: {places_text(fill)}"
    yield f"    {_call_text(fill.reader, key, calls)} adds to them, and they may be new"


def _guard_text(exchange: HaloExchange) -> str:
    if exchange.reasons[0].writer == OUTSIDE:
        return "how the halo was left before this invoke, only the run-time flags know"
    return "whether that is enough depends on extents that only run time knows"


def _always_text(exchange: HaloExchange) -> str:
    if exchange.reasons[0].writer == OUTSIDE:
        return "the infrastructure has no flags that could tell whether it is clean"
    return "no guard needed"


def _reader_text(
    reader: str, read: str, key: ExchangedComponent, calls: dict[str, KernelCall]
) -> str:
    if reader == END:
        return f"it is read {read}"
    return f"{_call_text(reader, key, calls)} reads it {read}"


def _writer_text(reason: Reason, key: ExchangedComponent, calls: dict[str, KernelCall]) -> str:
    if reason.writer == OUTSIDE:
        return "it was written before this invoke, which may have left its halo stale"
    return f"{_call_text(reason.writer, key, calls)} leaves {reason.written}"


def _call_text(uid: str, key: ExchangedComponent, calls: dict[str, KernelCall]) -> str:
    """Return a call by its kernel, and the place of its argument: `k_type (alg.x90:12)`."""
    call = calls[uid]
    place = _place_text(_span_of(call, key))
    return f"'{call.kernel.name}'{f' ({place})' if place else ''}"


def _span_of(call: KernelCall, key: ExchangedComponent) -> Span | None:
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


def _spared_text(elided: ElidedExchange, calls: dict[str, KernelCall]) -> tuple[str, str, str]:
    """Return where a read is that needs no exchange, which call it is, and why."""
    who = _call_text(elided.reader, elided.key, calls)
    why = f"reads it {elided.read}, but {_because_text(elided, calls)}"
    return elided.loop, who, why


def _because_text(elided: ElidedExchange, calls: dict[str, KernelCall]) -> str:
    match elided.because:
        case ElisionReason.EXCHANGED:
            return "an exchange before an earlier loop reaches far enough"
        case ElisionReason.LEFT:
            writer = _call_text(elided.writer, elided.key, calls)
            return f"{writer} leaves {elided.written}"
    return _BECAUSE[elided.because]
