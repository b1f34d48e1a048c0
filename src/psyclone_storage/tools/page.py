"""Contents of the report page of a compilation, as JSON values (`cli.page` formats it)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from typing import Any

from psyclone_storage.coherence.dataflow_diagram import DiagramRow, diagram_rows
from psyclone_storage.coherence.explain import explain_halos, explain_transfers
from psyclone_storage.infrastructures.lfric import ANY_W2_MEMBERS, SPACES
from psyclone_storage.ir.schedule import HaloExchange, Invoke, Phase, Reason, Schedule
from psyclone_storage.ir.transfer import Update
from psyclone_storage.ir.view import schedule_text
from psyclone_storage.ir.walk import kernel_calls, sequential_statements, statements
from psyclone_storage.pipeline.compile import Build
from psyclone_storage.transform.catalogue import Refusal, step_text
from psyclone_storage.transform.halos import without_halos
from psyclone_storage.transform.step import Step
from psyclone_storage.transform.workbench import JournalEntry

SYMBOLS = (
    ("R", "the statement reads the field"),
    ("W", "it writes the field"),
    ("RW", "it reads and writes the field"),
    ("+", "it increments values that neighbouring cells share"),
    ("R+", "it increments such values and reads them in the halo"),
    ("sum", "it reduces to the scalar"),
    ("\u03a3", "the scalar is combined over all ranks"),
    ("\u21c4", "the halo is exchanged"),
    ("\u2691", "the program records whether the halo is clean or dirty"),
    ("0", "values are initialised"),
    ("\u2192D", "values are copied to the device"),
    ("\u2192H", "values are copied to the host"),
    ("read", "the loop reads the field and does not change its halo"),
    ("clean", "the halo is clean after the loop, down to the level in the description"),
    ("dirty", "the halo is dirty after the loop"),
)
"""The texts of cells in a diagram, with their meanings."""


def page_object(file: Path, build: Build) -> dict[str, Any]:
    """Return the report on the algorithm `file`."""
    refused = dict(build.refused)
    invokes = [_invoke(item, build, refused.get(item.name, ())) for item in build.program.invokes]
    return {"file": str(file), "invokes": invokes}


def _invoke(item: Invoke, build: Build, refused: tuple[Refusal, ...]) -> dict[str, Any]:
    schedule = item.schedule
    span = item.parsed.span
    return {
        "name": item.name,
        "place": f"{span.source.name}:{span.line}",
        "source": span.text,
        "generated": _routine(build.psy_text, item.name),
        "distributed": schedule.distributed,
        "calls": len(kernel_calls(schedule)),
        "data": [
            {"name": datum.name, "kind": datum.kind.value if datum.kind else datum.role.value}
            for datum in schedule.all_data
        ],
        "rows": [_row(row, schedule) for row in diagram_rows(schedule, build.rules)],
        "why": explain_halos(without_halos(schedule), build.rules),
        "transfers": explain_transfers(schedule),
        "exchanges": exchange_costs(schedule),
        "steps": [*_steps(build.journal.get(item.name, [])), *_refusals(refused)],
    }


def _row(row: DiagramRow, schedule: Schedule) -> dict[str, Any]:
    columns = {datum.name: number for number, datum in enumerate(schedule.all_data)}
    cells = sorted((columns[cell.datum], cell) for cell in _merged(row) if cell.datum in columns)
    return {
        "uid": row.uid,
        "kind": row.kind,
        "text": row.text,
        "depth": row.depth,
        "device": row.on_device,
        "reasons": _reasons(row.uid, schedule),
        "cells": list(_with_gaps(cells, len(columns))),
    }


def _merged(row: DiagramRow) -> Iterator[Any]:
    """Yield one cell for each datum; the components of a vector share one cell."""
    seen: dict[str, Any] = {}
    for cell in row.cells:
        if cell.datum not in seen:
            seen[cell.datum] = cell
    yield from seen.values()


def _with_gaps(cells: list[tuple[int, Any]], width: int) -> Iterator[dict[str, Any]]:
    """Yield the cells of a row from left to right, and the sizes of the gaps between them."""
    after = 0
    for column, cell in cells:
        if column > after:
            yield {"gap": column - after}
        yield {"mark": cell.mark, "state": cell.state, "text": f"{cell.datum}: {cell.text}"}
        after = column + 1
    if width > after:
        yield {"gap": width - after}


def _reasons(uid: str, schedule: Schedule) -> list[str]:
    """Return the reasons for which a planner has inserted the statement `uid`."""
    kernels = {call.uid: call.kernel.name for call in kernel_calls(schedule)}
    for item in statements(schedule):
        if item.uid != uid:
            continue
        if isinstance(item, HaloExchange):
            return [_reason(reason, kernels) for reason in item.reasons]
        if isinstance(item, Update):
            reader, writer = (_who(one, kernels) for one in (item.reader, item.writer))
            return [f"{reader} uses it there; {writer} made that copy stale"]
    return []


def _reason(reason: Reason, kernels: dict[str, str]) -> str:
    written = f": {reason.written}" if reason.written else ""
    return (
        f"{_who(reason.reader, kernels)} reads it {reason.read}; "
        f"{_who(reason.writer, kernels)} left it stale{written}"
    )


def _who(uid: str, kernels: dict[str, str]) -> str:
    if not uid:
        return "what came before the invoke"
    return f"{kernels[uid]} ({uid})" if uid in kernels else uid


def _routine(text: str, name: str) -> str:
    """Return the text of one routine in a generated module; the whole text if not found."""
    word = rf"subroutine\s+{re.escape(name)}\b"
    pattern = rf"^[ ]*{word}.*?^[ ]*end\s+{word}"
    found = re.search(pattern, text, re.IGNORECASE | re.MULTILINE | re.DOTALL)
    return found[0] if found else text


# ------------------------------------------------------------------ steps


def _steps(journal: list[JournalEntry[Schedule, Step]]) -> Iterator[dict[str, Any]]:
    """Yield the requested steps, with the changes or the reasons against them."""
    for entry in journal:
        name = step_text(entry.step)
        if entry.after is None:
            reasons = [f"{one.code}: {one.message}" for one in entry.reasons]
            yield {"text": name, "outcome": "refused", "lines": reasons}
        else:
            outcome = "undone" if entry.undone else "applied"
            changes = _changes(entry.before, entry.after)
            yield {"text": name, "outcome": outcome, "lines": changes}


def _refusals(refused: tuple[Refusal, ...]) -> Iterator[dict[str, Any]]:
    """Yield the rejected steps of the command line."""
    for refusal in refused:
        reasons = [f"{one.code}: {one.message}" for one in refusal.reasons]
        yield {"text": step_text(refusal.step), "outcome": "refused", "lines": reasons}


def _changes(before: Schedule, after: Schedule) -> list[str]:
    """Return the removed and added lines of the schedule, each with a sign."""
    was, comes = (
        schedule_text(one).partition("\n  schedule\n")[2].splitlines() for one in (before, after)
    )
    lines = list(unified_diff(was, comes, n=0, lineterm=""))
    return [line for line in lines[2:] if not line.startswith("@@")]


_UNKNOWN = ANY_W2_MEMBERS[0]
"""The assumed space where kernels leave it open."""


def exchange_costs(schedule: Schedule) -> list[dict[str, Any]]:
    """Return, for each exchange, its field, halo levels, and number of values per column.

    `levels` is 0 if the depth is known only at run time. If the function space is unknown, it is
    assumed to be W2, the largest of the usual ones. In this case `assumed` is true.
    """
    spaces = _spaces(schedule)
    grid = any(call.kernel.points for call in kernel_calls(schedule))
    costs = []
    for item in sequential_statements(schedule):
        if isinstance(item, HaloExchange) and item.phase is not Phase.FINISH:
            space = spaces.get(item.datum, "")
            known = grid or _column(space) is not None
            per_layer, fixed = (1, 0) if grid else _column(space) or _column(_UNKNOWN) or (0, 0)
            times = schedule.datum(item.datum).vector if item.component is None else 1
            costs.append(
                {
                    "uid": item.uid,
                    "datum": item.datum,
                    "space": space or "not known",
                    "assumed": not known,
                    "levels": _levels(item),
                    "guarded": item.guarded,
                    "per_layer": per_layer * times,
                    "fixed": fixed * times,
                }
            )
    return costs


def _column(space: str) -> tuple[int, int] | None:
    return SPACES[space].column if space in SPACES else None


def _levels(item: HaloExchange) -> int:
    terms = item.depth.terms
    if any(term.whole or term.names for term in terms):
        return 0
    return max((term.constant for term in terms), default=0)


def _spaces(schedule: Schedule) -> dict[str, str]:
    """Return the function space of each field: the first one given by a kernel."""
    found: dict[str, str] = {}
    for call in kernel_calls(schedule):
        for described, actual in zip(call.kernel.args, call.args, strict=True):
            if actual.datum is None or not described.spaces:
                continue
            if _column(found.get(actual.datum, "")) is None:
                found[actual.datum] = described.spaces[0]
    return found
