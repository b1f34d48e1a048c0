"""Data-flow diagram of an invoke: the effect of each statement on each datum.

Each row is a statement, with a cell for each datum that it accesses. A cell shows the state after
the statement, or that the state is known only at run time.
"""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.base.fresh import Fresh
from psyclone_storage.base.records import dataclass
from psyclone_storage.coherence.halo_effects import HaloEffect, halo_effects_of
from psyclone_storage.ir import schedule as sch
from psyclone_storage.ir.kernel import Access
from psyclone_storage.ir.region import describe_depth
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.transfer import EnterData, Side, Update
from psyclone_storage.ir.view import statement_text

MARKS = {
    Access.READ: "R",
    Access.WRITE: "W",
    Access.READWRITE: "RW",
    Access.INC: "+",
    Access.READINC: "R+",
    Access.REDUCTION: "sum",
}


@dataclass(frozen=True, slots=True)
class DiagramCell:
    """Effect of a statement on a datum: a mark, the resulting state, and a description."""

    datum: str
    mark: str
    state: str
    text: str


@dataclass(frozen=True, slots=True)
class DiagramRow:
    """A statement: its kind and name, its nesting depth, and the data that it accesses."""

    uid: str
    kind: str
    text: str
    depth: int
    cells: tuple[DiagramCell, ...]
    on_device: bool = False


def diagram_rows(schedule: sch.Schedule, rules: Rules) -> tuple[DiagramRow, ...]:
    """Return the rows of the diagram of `schedule`, in order."""
    return tuple(_rows(schedule.body, 0, _Surroundings(schedule, rules), on_device=False))


class _Surroundings:
    """The schedule of a diagram, and its data by name."""

    def __init__(self, schedule: sch.Schedule, rules: Rules) -> None:
        self.schedule, self.rules = schedule, rules
        self._data = sch.data_by_name(schedule)

    def effects(self, loop: sch.Loop) -> tuple[HaloEffect, ...]:
        """Return the halo effects of an outermost loop; empty without distributed memory."""
        if not self.schedule.distributed:
            return ()
        return halo_effects_of(self.schedule, loop, self.rules, self._data)


def _rows(
    body: tuple[sch.Statement, ...], depth: int, around: _Surroundings, *, on_device: bool
) -> Iterator[DiagramRow]:
    for item in body:
        device = on_device or (isinstance(item, sch.DirectiveRegion) and _is_of_device(item))
        cells = tuple(_cells(item, around, outer=depth == 0 or not _in_loop(item, around)))
        yield DiagramRow(item.uid, _kind(item), statement_text(item), depth, cells, device)
        if isinstance(item, sch.Compound):
            yield from _rows(item.body, depth + 1, around, on_device=device)


def _in_loop(item: sch.Statement, around: _Surroundings) -> bool:
    """Return whether `item` is a loop inside another loop."""
    return isinstance(item, sch.Loop) and not _is_outer(item.uid, around.schedule.body)


def _is_outer(uid: str, body: tuple[sch.Statement, ...]) -> bool:
    for item in body:
        if item.uid == uid:
            return True
        if (
            isinstance(item, sch.Compound)
            and not isinstance(item, sch.Loop)
            and _is_outer(uid, item.body)
        ):
            return True
    return False


def _is_of_device(region: sch.DirectiveRegion) -> bool:
    return region.directive.is_openacc or region.directive.value.startswith(("omp target",))


def _kind(item: sch.Statement) -> str:
    kinds: dict[type, str] = {
        sch.Loop: "loop",
        sch.KernelCall: "call",
        sch.HaloExchange: "exchange",
        sch.MarkHalo: "mark",
        sch.FillHalo: "fill",
        sch.GlobalReduction: "reduction",
        EnterData: "transfer",
        Update: "transfer",
        sch.DirectiveRegion: "construct",
    }
    return kinds.get(type(item), "other")


# ------------------------------------------------------------------ cells


def _cells(item: sch.Statement, around: _Surroundings, *, outer: bool) -> Iterator[DiagramCell]:
    match item:
        case sch.Loop() if outer:
            yield from (_of_effect(effect) for effect in around.effects(item))
        case sch.KernelCall():
            yield from _of_call(item)
        case sch.HaloExchange():
            test = ", if the run-time flags call it dirty" if item.guarded else ""
            text = f"exchanged to level {describe_depth(item.depth)}{test}"
            yield DiagramCell(item.datum, "\u21c4", "clean", text)
        case sch.MarkHalo():
            state = "clean" if item.clean.terms else "dirty"
            yield DiagramCell(item.datum, "\u2691", state, statement_text(item))
        case sch.FillHalo():
            yield DiagramCell(item.datum, "0", "filled", statement_text(item))
        case sch.GlobalReduction():
            yield DiagramCell(item.datum, "\u03a3", "clean", "combined over all ranks")
        case EnterData():
            text = "copied to the device, unless it is there"
            yield from (DiagramCell(name, "\u2192D", "device", text) for name in item.data)
        case Update():
            mark = "\u2192D" if item.to is Side.DEVICE else "\u2192H"
            text = f"the copy on the {item.to.value} is made equal to the other"
            yield DiagramCell(item.datum, mark, item.to.value, text)


def _of_effect(effect: HaloEffect) -> DiagramCell:
    """Return the cell for the halo state that a loop needs and leaves."""
    said = []
    if effect.need is not None:
        beyond = f"level {describe_depth(effect.need.depth)} of the halo"
        said.append(f"needs {beyond}: it is read {effect.need.why}")
    if effect.left is None:
        name = effect.part.datum
        return DiagramCell(name, "", "read", "; ".join(said) or "reads owned values alone")
    clean = describe_depth(effect.left.clean)
    said.append(f"leaves the halo clean to level {clean}: {effect.left.why}")
    annexed = {Fresh.YES: "clean", Fresh.NO: "stale", Fresh.MAYBE: "known at run time only"}
    said.append(f"annexed dofs {annexed[effect.left.annexed]}")
    state = "clean" if effect.left.clean.terms else "dirty"
    return DiagramCell(effect.part.datum, "", state, "; ".join(said))


def _of_call(call: sch.KernelCall) -> Iterator[DiagramCell]:
    found: dict[str, list[tuple[str, str]]] = {}
    for described, actual in zip(call.kernel.args, call.args, strict=True):
        if actual.datum is not None:
            where = " from ".join(described.spaces)
            stencil = f", stencil {described.stencil.value}" if described.stencil else ""
            text = f"{described.access.value} {where}{stencil}".strip()
            found.setdefault(actual.datum, []).append((MARKS[described.access], text))
    for datum, uses in found.items():
        marks = "".join(dict.fromkeys(mark for mark, _ in uses))
        yield DiagramCell(datum, marks, "use", "; ".join(dict.fromkeys(text for _, text in uses)))
