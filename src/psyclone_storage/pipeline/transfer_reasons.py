"""Reasons for transfers: the use that needs a transfer, and the one that made the copy stale."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from psyclone_storage.base.source import Span
from psyclone_storage.ir.device_program import (
    ChoiceStep,
    ProgramCall,
    ProgramProcedure,
    ProgramStep,
    ProgramTransfer,
    RepeatStep,
    StepSequence,
    WorkStep,
)

_CALLER = "the caller"
_BEFORE = " in the iteration before"


class TransferReasons(NamedTuple):
    """The place of a transfer, the use that needs it, the one before it, and if it is in a loop."""

    place: Span | None
    reader: str
    writer: str
    in_loop: bool


class _StepEvent(NamedTuple):
    """A step, or the end of a block, with the first events of the loops around it."""

    step: ProgramStep | None
    block: StepSequence | None
    loops: tuple[int, ...]


def reasons_for(procedure: ProgramProcedure, transfer: ProgramTransfer) -> TransferReasons:
    """Return the place of a transfer of a procedure, and its reasons.

    A use in a loop around the transfer may be in the next iteration, or in the one before.
    """
    events = _events(procedure.body)
    at = next(number for number, event in enumerate(events) if _is_at(event, transfer))
    first = last = at
    after: list[tuple[range, str]] = []
    before: list[tuple[range, str]] = []
    for start in reversed(events[at].loops):
        stop = next(
            (number for number in range(last, len(events)) if start not in events[number].loops),
            len(events),
        )
        after += (range(last, stop), ""), (range(start, first), " in the next iteration")
        before += (range(first - 1, start - 1, -1), ""), (range(stop - 1, last - 1, -1), _BEFORE)
        first, last = start, stop
    after.append((range(last, len(events)), ""))
    before.append((range(first - 1, -1, -1), ""))
    place = next(
        (event.step.place for event in events[at:] if event.step and event.step.place), None
    )
    reader = _first(events, after, transfer, needs=True)
    writer = _first(events, before, transfer, needs=False)
    return TransferReasons(
        place if events[at].step else None, reader, writer, bool(events[at].loops)
    )


def _first(
    events: list[_StepEvent],
    ranges: Iterable[tuple[range, str]],
    transfer: ProgramTransfer,
    *,
    needs: bool,
) -> str:
    """Return the first use that needs the transfer, or that makes it necessary."""
    for numbers, suffix in ranges:
        for number in numbers:
            text = _use(events[number].step, transfer, needs=needs)
            if text:
                return text + suffix
    return _CALLER


def _use(step: ProgramStep | None, transfer: ProgramTransfer, *, needs: bool) -> str:
    """Return the words for a step that reads, or that writes on the other side, or ""."""
    if step is None or transfer.datum not in step.data:
        return ""
    if isinstance(step, ProgramCall):
        what = f"'{step.procedures[0]}'"
    elif isinstance(step, WorkStep):
        use, is_target = step.uses[transfer.datum], step.side is transfer.to
        if not (use.needs and is_target if needs else use.writes and not is_target):
            return ""
        what = f"the {step.side.value}"
    else:
        return ""
    return what if step.place is None else f"{what} in line {step.place.line}"


def _is_at(event: _StepEvent, transfer: ProgramTransfer) -> bool:
    """Return whether a transfer directly precedes an event."""
    position = transfer.position
    if position.block < 0:
        line = None if event.step is None else event.step.line
        return line is not None and id(line) == position.key
    block = event.block
    return block is not None and (id(block.line), block.block) == (position.key, position.block)


def _events(body: StepSequence) -> list[_StepEvent]:
    found: list[_StepEvent] = []

    def add(sequence: StepSequence, loops: tuple[int, ...]) -> None:
        steps = list(sequence.steps)
        # The conditions of a loop follow the end of its block.
        last = len(steps)
        while last and steps[last - 1].line is None:
            last -= 1
        for step in steps[:last]:
            found.append(_StepEvent(step, None, loops))
            inner = (*loops, len(found)) if isinstance(step, RepeatStep) else loops
            for block in _blocks(step):
                add(block, inner)
        found.append(_StepEvent(None, sequence, loops))
        found.extend(_StepEvent(step, None, loops) for step in steps[last:])

    add(body, ())
    return found


def _blocks(step: ProgramStep) -> Iterator[StepSequence]:
    if isinstance(step, ChoiceStep):
        yield from step.branches
    elif isinstance(step, RepeatStep):
        yield step.body
