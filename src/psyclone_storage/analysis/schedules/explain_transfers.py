"""Why data move between the host and a device: the planned transfers in plain sentences.

Owns what `--explain` says of them. Each update names what reads the copy and what made it stale.
Transfers that an exchange brings along have the reason that all of them have.
"""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.base.names import listed
from psyclone_storage.base.text import counted
from psyclone_storage.ir.schedule import (
    Compound,
    HaloExchange,
    KernelCall,
    Schedule,
    Statement,
)
from psyclone_storage.ir.transfer import EnterData, Update
from psyclone_storage.ir.walk import in_sequence, kernel_calls, statements


def explain_transfers(schedule: Schedule) -> str:
    """Return why each transfer of `schedule` is there, as text; empty if there is none."""
    items = list(in_sequence(schedule))
    found = {item.uid: item for item in statements(schedule)}
    parts = [part for item in items if (part := list(_explained(item, found)))]
    if not parts:
        return ""
    updates = sum(isinstance(item, Update) for item in items)
    lines = [f"{schedule.name}: {counted(updates, 'update')} between host and device"]
    for part in parts:
        lines += ["", *part]
    return "\n".join(lines) + "\n"


def _explained(item: Statement, found: dict[str, Statement]) -> Iterator[str]:
    match item:
        case EnterData(data=data) if data:
            yield f"{', '.join(data)}: copied to the device, unless they are there already"
        case Update(pinned=True):
            yield f"{item.datum}, {item.uid}: to the {item.to.value}"
            yield "  needed:  a step asked for it"
        case Update():
            only = ", if the device has a copy" if item.guarded else ""
            yield f"{item.datum}, before {item.reader}: to the {item.to.value}{only}"
            yield f"  needed:  {_reader_text(item, found)}"
            yield f"  stale:   {_writer_text(item, found)}"
        case HaloExchange(fetched=fetched, sent=sent, in_strips=strips) if fetched or sent:
            first = "what is sent from the device before" if strips else "from the device before"
            ways = [first] * fetched + ["the halo to it after"] * sent
            yield f"{item.datum}, at {item.uid}: {' and '.join(ways)}"
            yield "  needed:  messages are sent from the host, and the device may have newer values"


def _reader_text(update: Update, found: dict[str, Statement]) -> str:
    reader = found.get(update.reader)
    if reader is None:
        return "it is used there"
    if isinstance(reader, HaloExchange):
        return "it is exchanged, and messages are sent from the host"
    names = [
        call.kernel.name
        for call in _calls(reader)
        if any(actual.datum == update.datum for actual in call.args)
    ]
    return f"{_who(names, reader)} {'use' if len(set(names)) > 1 else 'uses'} it there"


def _writer_text(update: Update, found: dict[str, Statement]) -> str:
    writer = found.get(update.writer)
    if writer is None:
        return "what ran before the invoke may have changed the other copy"
    if isinstance(writer, HaloExchange):
        return "a halo exchange changes the host's copy"
    names = [call.kernel.name for call in _calls(writer) if _changes(call, update.datum)]
    verb = "change" if len(set(names)) > 1 else "changes"
    return f"{_who(names, writer)} {verb} the {update.to.other.value}'s copy"


def _calls(item: Statement) -> tuple[KernelCall, ...]:
    if isinstance(item, KernelCall):
        return (item,)
    return kernel_calls(item) if isinstance(item, Compound) else ()


def _changes(call: KernelCall, datum: str) -> bool:
    pairs = zip(call.args, call.kernel.args, strict=True)
    return any(actual.datum == datum and arg.access.writes for actual, arg in pairs)


def _who(names: list[str], item: Statement) -> str:
    return listed(dict.fromkeys(names) or [item.uid], "and")
