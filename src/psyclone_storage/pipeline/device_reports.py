"""Reports of planned device data: counts, bytes and reasons of transfers, as text and as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping

from psyclone_storage.base.records import dataclass, field
from psyclone_storage.coherence.program_transfers import ProgramPlan
from psyclone_storage.ir.device_program import (
    ProcedureName,
    ProgramCall,
    ProgramProcedure,
    RepeatStep,
    nested_steps,
)
from psyclone_storage.ir.transfer import Side
from psyclone_storage.pipeline.transfer_reasons import reasons_for
from psyclone_storage.pipeline.transfer_sizes import ArraySizes


@dataclass(frozen=True, slots=True)
class TransferReport:
    """A transfer, or what creates a copy on the device, for the report.

    `reader` is the use that needs the transfer, and `writer` the one that made the copy stale.
    `bytes` is the size of the array, as an expression if its extents are variables. `repeated`
    transfers are in loops, or in procedures that loops call.
    """

    datum: str
    to: str
    procedure: str
    line: int
    weight: float
    reader: str
    writer: str
    bytes: int | str
    repeated: bool


@dataclass(frozen=True, slots=True)
class DataPlan:
    """The planned data of a call tree.

    - `data`: the arrays that stay on the device.
    - `transfers`: their transfers.
    - `left_out`: arrays that regions copy themselves, with reasons.
    - `unknown`: called procedures that are not in the files; they are assumed to use only their
      arguments, on the host.
    """

    root: str
    data: tuple[str, ...] = ()
    transfers: tuple[TransferReport, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()


def plan_text(plan: DataPlan) -> str:
    """Return the plan of a call tree in words."""
    to_device = sum(one.to == Side.DEVICE.value for one in plan.transfers)
    counts = f"{_number(to_device, 'transfer')} to it and {len(plan.transfers) - to_device} from it"
    arrays = _number(len(plan.data), "array")
    lines = [f"Device data of '{plan.root}': {arrays} on the device, {counts}"]
    for often, repeated in (("once", False), ("repeatedly", True)):
        some = [one for one in plan.transfers if one.repeated is repeated]
        if some:
            to, back = _bytes(some, Side.DEVICE), _bytes(some, Side.HOST)
            lines.append(f"  {often}: {to} to it, {back} from it")
    for one in plan.transfers:
        place = f"'{one.procedure}'" + (f", line {one.line}" if one.line else "")
        often = " (repeated)" if one.repeated else ""
        lines.append(f"  {one.datum}: {one.bytes} bytes to the {one.to} in {place}{often}")
        lines.append(f"    {one.reader} needs what {one.writer} wrote")
    for datum, why in plan.left_out.items():
        lines.append(f"  {datum}: regions copy it, because {why}")
    if plan.unknown:
        names = ", ".join(plan.unknown)
        lines.append(f"  not in the files, assumed to use only their arguments: {names}")
    return "\n".join(lines) + "\n"


def _number(amount: int, what: str) -> str:
    return f"{amount} {what}" + ("" if amount == 1 else "s")


def _bytes(transfers: list[TransferReport], to: Side) -> str:
    """Return the sum of the bytes of transfers to one side, each executed once."""
    sizes = [one.bytes for one in transfers if one.to == to.value]
    known = sum(one for one in sizes if isinstance(one, int))
    words = Counter(one for one in sizes if isinstance(one, str))
    parts = [str(known)] if known or not words else []
    parts += [one if times == 1 else f"{times} * {one}" for one, times in words.items()]
    return f"{' + '.join(parts)} bytes"


def plan_json(plan: DataPlan) -> str:
    """Return the plan of a call tree as JSON."""
    transfers = [
        {
            "array": one.datum,
            "to": one.to,
            "procedure": one.procedure,
            "line": one.line,
            "estimated_executions": one.weight,
            "bytes": one.bytes,
            "repeated": one.repeated,
            "reader": one.reader,
            "writer": one.writer,
        }
        for one in plan.transfers
    ]
    table = {
        "root": plan.root,
        "arrays": list(plan.data),
        "transfers": transfers,
        "left_out": dict(plan.left_out),
        "unknown_procedures": list(plan.unknown),
    }
    return json.dumps(table, indent=2) + "\n"


def transfer_reports(
    procedures: tuple[ProgramProcedure, ...], plan: ProgramPlan, sizes: ArraySizes
) -> Iterator[TransferReport]:
    """Yield what the reports state about each transfer of a plan."""
    repeated = _repeated(procedures)
    known = {one.name: one for one in procedures}
    for one in plan.transfers:
        procedure = known[one.position.procedure]
        why = reasons_for(procedure, one)
        line = 0 if why.place is None else why.place.line
        again = why.in_loop or procedure.name in repeated
        yield TransferReport(
            str(one.datum), one.to.value, str(procedure.name), line, one.weight,
            why.reader, why.writer, sizes.of(one.datum), again,
        )  # fmt: skip


def _repeated(procedures: tuple[ProgramProcedure, ...]) -> set[ProcedureName]:
    """Return the procedures that loops call, also through other procedures; callers are first."""
    found: set[ProcedureName] = set()
    for procedure in procedures:
        loops = [one for one in nested_steps(procedure.body) if isinstance(one, RepeatStep)]
        bodies = [one.body for one in loops]
        for body in (procedure.body, *bodies) if procedure.name in found else bodies:
            for step in nested_steps(body):
                if isinstance(step, ProgramCall):
                    found.update(step.procedures)
    return found
