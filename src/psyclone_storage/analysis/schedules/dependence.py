"""Data dependences between the statements of a schedule, and their graph.

The accesses of a loop include those of all nested statements. A halo exchange, and the end of a
split exchange, reads and writes its component, as in PSyclone; the start only reads it. A halo flag
update reads: it must stay between the recorded write and the next halo change. A halo fill reads
and writes its component, a global reduction its scalar, a transfer the transferred data. Calls that
draw random numbers remain in order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from enum import Enum

from psyclone_storage.analysis.schedules.access import AccessCoverage, DataUse, touched_parts
from psyclone_storage.base.records import dataclass
from psyclone_storage.ir import schedule as sch
from psyclone_storage.ir.aliases import aliases_in
from psyclone_storage.ir.datum_parts import data_of, own_accesses
from psyclone_storage.ir.kernel import Access
from psyclone_storage.ir.transfer import EnterData, TaskWait, Update, Wait
from psyclone_storage.ir.walk import kernel_calls, statements


class DependenceKind(Enum):
    """Kind of a data dependence between two accesses."""

    FLOW = "read after write"
    ANTI = "write after read"
    OUTPUT = "write after write"


@dataclass(frozen=True, slots=True)
class Dependence:
    """A dependence of the statement `later` on `earlier` through `datum`.

    `components` are the accessed components of a field vector, 1 for any other datum.
    """

    earlier: str
    later: str
    kind: DependenceKind
    datum: str
    components: frozenset[int]


RANDOM_NUMBERS = "random numbers"
"""What stands for the datum of a dependence that is for the sake of a sequence of numbers."""


def data_uses(schedule: sch.Schedule, statement: sch.Statement) -> tuple[DataUse, ...]:
    """Return the data accesses of `statement`, including nested statements."""
    return tuple(use for use in Uses(schedule).of(statement) if use.datum != RANDOM_NUMBERS)


class Uses:
    """Data accesses of the statements of a schedule, cached by statement.

    Drawing random numbers counts as an access to their sequence.
    """

    def __init__(self, schedule: sch.Schedule) -> None:
        self._aliases = aliases_in(schedule)
        self._known: dict[str, tuple[DataUse, ...]] = {}
        self._closures: dict[str, frozenset[str]] = {}

    def of(self, item: sch.Statement) -> tuple[DataUse, ...]:
        """Return the accesses of `item` to its data and to all possible aliases."""
        if item.uid not in self._known:
            self._known[item.uid] = tuple(self._gathered(item))
        return self._known[item.uid]

    def dependences(self, first: sch.Statement, second: sch.Statement) -> tuple[Dependence, ...]:
        """Return the dependences of `second` on `first`, an earlier statement."""
        if second.uid not in self._closures:
            self._closures[second.uid] = self._aliases.closure(data_of(second))
        if self._closures[second.uid].isdisjoint(data_of(first)) and not (
            draws_random_numbers(first) and draws_random_numbers(second)
        ):
            return ()
        later: dict[str, list[DataUse]] = defaultdict(list)
        for use in self.of(second):
            later[use.datum].append(use)
        found: dict[Dependence, None] = {}
        for use in self.of(first):
            for other in later.get(use.datum, ()):
                if not (use.maybe and other.maybe):
                    found.update(dict.fromkeys(_between(use, other, use.components)))
        return tuple(found)

    def _gathered(self, item: sch.Statement) -> Iterator[DataUse]:
        data, uid = self._aliases.data, item.uid
        inside = statements(item) if isinstance(item, sch.Compound) else (item,)
        for one in inside:
            for datum, component, access in own_accesses(one):
                parts = touched_parts(component, data[datum].vector)
                yield DataUse(uid, datum, parts, access, isinstance(one, sch.HaloExchange))
                for name in self._aliases.others(datum):
                    parts = touched_parts(None, data[name].vector)
                    yield DataUse(uid, name, parts, access, isinstance(one, sch.HaloExchange), True)
        if draws_random_numbers(item):
            yield DataUse(uid, RANDOM_NUMBERS, touched_parts(None, 1), Access.READWRITE)


def edges(schedule: sch.Schedule) -> tuple[Dependence, ...]:
    """Return the dependences between the top-level statements of `schedule`.

    Transitive dependences are left out: a use depends on later uses until writes cover all parts
    that it accesses.
    """
    known = Uses(schedule)
    uses: dict[str, list[DataUse]] = defaultdict(list)
    for item in schedule.body:
        for use in known.of(item):
            uses[use.datum].append(use)
    order = {item.uid: place for place, item in enumerate(schedule.body)}
    found: dict[Dependence, None] = {}
    for of_datum in uses.values():
        for place, use in enumerate(of_datum):
            found.update(dict.fromkeys(_edges_from(use, of_datum[place + 1 :])))
    return tuple(sorted(found, key=lambda edge: (order[edge.earlier], order[edge.later])))


def forward(schedule: sch.Schedule, uid: str) -> tuple[Dependence, ...]:
    """Return the dependences of later statements on `uid`."""
    return tuple(edge for edge in edges(schedule) if edge.earlier == uid)


def backward(schedule: sch.Schedule, uid: str) -> tuple[Dependence, ...]:
    """Return the dependences of `uid` on earlier statements."""
    return tuple(edge for edge in edges(schedule) if edge.later == uid)


def dependences(
    schedule: sch.Schedule, first: sch.Statement, second: sch.Statement
) -> tuple[Dependence, ...]:
    """Return the dependences of `second` on `first`, an earlier statement.

    To query several pairs, create a `Uses` object once.
    """
    return Uses(schedule).dependences(first, second)


def _edges_from(use: DataUse, later: list[DataUse]) -> Iterator[Dependence]:
    access = AccessCoverage(use)
    for other in later:
        common = access.remaining & other.components
        if not common or other.statement == use.statement or (use.maybe and other.maybe):
            continue
        yield from _between(use, other, common)
        if other.access.writes:
            access.update_coverage(other)
            if access.covered:
                return


def _between(first: DataUse, second: DataUse, parts: frozenset[int]) -> Iterator[Dependence]:
    common = parts & second.components
    if not common:
        return
    pairs = (
        (DependenceKind.FLOW, first.access.writes and second.access.reads),
        (DependenceKind.ANTI, first.access.reads and second.access.writes),
        (DependenceKind.OUTPUT, first.access.writes and second.access.writes),
    )
    for kind, holds in pairs:
        if holds:
            yield Dependence(first.statement, second.statement, kind, first.datum, common)


# ---------------------------------------------------------------------------- uses


def draws_random_numbers(item: sch.Statement) -> bool:
    """Return whether `item` or a call nested in it draws random numbers."""
    inside = kernel_calls(item) if isinstance(item, sch.Compound) else (item,)
    return any(isinstance(one, sch.KernelCall) and takes_random_numbers(one) for one in inside)


def takes_random_numbers(call: sch.KernelCall) -> bool:
    """Return whether `call` draws numbers from the shared random sequence."""
    return call.kernel.formula is not None and call.kernel.formula.is_random


# ---------------------------------------------------------------------------- the graph

_STYLES = {
    DependenceKind.FLOW: 'color="#1b7837"',
    DependenceKind.ANTI: 'color="#b2182b", style=dashed',
    DependenceKind.OUTPUT: 'color="#5e5e5e", style=dotted',
}
_SHAPES: dict[type[sch.Statement], str] = {
    sch.Loop: "box",
    sch.DirectiveRegion: "box",
    sch.ProfileRegion: "box",
    sch.KernelCall: "box",
    sch.HaloExchange: "ellipse",
    sch.MarkHalo: "note",
    sch.FillHalo: "note",
    sch.GlobalReduction: "hexagon",
    EnterData: "house",
    Update: "cds",
    Wait: "octagon",
    TaskWait: "octagon",
}


def dag_dot(schedule: sch.Schedule) -> str:
    """Return the dependence graph of `schedule` in Graphviz format.

    An edge points from a statement to a dependent later one and lists the data. A solid green edge
    is a flow dependence, a dashed red one an anti-dependence, a dotted grey one an output
    dependence; if there are several, the first counts. Loops and regions are boxes that list their
    calls, exchanges ellipses, flag updates notes, global reductions hexagons, transfers houses and
    arrows, waits octagons. The graph contains a legend.
    """
    lines = [f'digraph "{schedule.name}" {{', "  node [fontname=Helvetica];"]
    lines += [f"  {_node(item)}" for item in schedule.body]
    between: dict[tuple[str, str], list[Dependence]] = defaultdict(list)
    for edge in edges(schedule):
        between[edge.earlier, edge.later].append(edge)
    for (earlier, later), found in between.items():
        label = ", ".join(dict.fromkeys(edge.datum for edge in found))
        kinds = {edge.kind for edge in found}
        style = next(style for kind, style in _STYLES.items() if kind in kinds)
        lines.append(f'  "{earlier}" -> "{later}" [label="{label}", {style}];')
    rows = "".join(f"{kind.value}: {text}\\l" for kind, text in _LEGEND.items())
    lines += [f'  legend [shape=plaintext, label="{rows}"];', "}"]
    return "\n".join(lines) + "\n"


_LEGEND = {
    DependenceKind.FLOW: "solid green",
    DependenceKind.ANTI: "dashed red",
    DependenceKind.OUTPUT: "dotted grey",
}


def _node(item: sch.Statement) -> str:
    label = item.uid
    if isinstance(item, sch.Compound):
        label += "".join(f"\\n{call.kernel.name}" for call in kernel_calls(item))
    return f'"{item.uid}" [shape={_SHAPES[type(item)]}, label="{label}"];'
