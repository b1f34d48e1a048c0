"""Statements under a directive, as all infrastructures write them.

What a thread needs for itself is read off the lowered lines: the variables that loops count and
the scalars that are assigned, but for those that are reduced. All else is shared. What a region
for a device takes is for each infrastructure to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from psyclone_storage.ir.directive import Directive as Kind
from psyclone_storage.ir.expr import Name
from psyclone_storage.ir.kernel import ReductionOp
from psyclone_storage.ir.rewrite import Masked, blocks_of
from psyclone_storage.ir.schedule import DirectiveRegion
from psyclone_storage.ir.transfer import Wait
from psyclone_storage.ir.unit import Assign, DirectiveLine, Do, Line, ScopedBlock

_OPERATORS = {ReductionOp.SUM: "+", ReductionOp.MIN: "min", ReductionOp.MAX: "max"}
_WITHOUT_FOOT = (Kind.ACC_LOOP,)
_ALL_SHARED = (Kind.OMP_PARALLEL, Kind.OMP_PARALLEL_DO, Kind.OMP_TEAMS_DO)
_PRIVATE = (*_ALL_SHARED, Kind.OMP_TASK, Kind.OMP_TASKLOOP, Kind.ACC_LOOP)

TASK_WAIT = DirectiveLine("omp taskwait")


def wait_line(wait: Wait) -> DirectiveLine:
    """Return the directive that waits for a queue of a device."""
    return DirectiveLine(f"acc wait({wait.queue})")


@dataclass(frozen=True, slots=True)
class DeviceItem:
    """An object or array that a region for a device takes.

    `level` is the number of objects that it lies in; those must be on the device first.
    """

    text: str
    level: int = 0
    written: bool = False


@dataclass(frozen=True, slots=True)
class Inside:
    """What is inside of a construct: its lines, the scalars reduced, what a device has to have.

    `reductions` are the variables that a clause has to combine, each with its operation.
    `own` are variables that each thread needs for itself besides those that the lines assign.
    """

    lines: tuple[Line, ...]
    reductions: Mapping[str, ReductionOp]
    own: tuple[str, ...] = ()
    items: tuple[DeviceItem, ...] = ()


def enclosed(construct: DirectiveRegion, inside: Inside) -> tuple[Line, ...]:
    """Return the lines of a construct, between the directives at its head and its foot."""
    kind = construct.directive
    if kind is Kind.ACC_DATA:
        return _data_region(inside)
    clauses = ", ".join((*_data_clauses(construct, inside), *_other_clauses(construct)))
    head = DirectiveLine(f"{kind.value} {clauses}".strip())
    if kind in _WITHOUT_FOOT:
        return (head, *inside.lines)
    end = kind.value.replace(" ", " end ", 1)
    waits = " nowait" if kind is Kind.OMP_SINGLE and "nowait" in construct.clauses else ""
    return (head, *inside.lines, DirectiveLine(f"{end}{waits}"))


def queue_clause(queue: int) -> tuple[str, ...]:
    """Return the clause that puts something into a queue of a device."""
    return (f"async({queue})",) if queue >= 0 else ()


def enter_lines(items: Iterable[DeviceItem], queue: int = -1) -> Iterator[DirectiveLine]:
    """Yield the directives that give a device what it has not, outer objects first."""
    for level in _levels(items):
        names = ", ".join(item.text for item in level)
        yield DirectiveLine(" ".join((f"acc enter data copyin({names})", *queue_clause(queue))))


def assigned(lines: Iterable[Line]) -> Iterator[str]:
    """Yield the names of scalars that `lines` count or assign, in order."""
    for line in lines:
        match line:
            case Do(variable=variable, body=body):
                yield variable
                yield from assigned(body)
            case Assign(target=Name(text)):
                yield text
            case _ if not isinstance(line, ScopedBlock | Masked):
                for block in blocks_of(line):
                    yield from assigned(block)


def _data_clauses(construct: DirectiveRegion, inside: Inside) -> Iterator[str]:
    kind, scalars = construct.directive, inside.reductions
    sequential = "seq" in construct.clauses
    if kind in _ALL_SHARED:
        yield "default(shared)"
    if kind in _PRIVATE and not sequential:
        names = [name for name in dict.fromkeys(assigned(inside.lines)) if name not in scalars]
        if own := ", ".join((*names, *inside.own)):
            yield f"private({own})"
    if kind.shares_work and not sequential:
        yield from _reduction_clauses(scalars)
    if kind is Kind.OMP_TARGET:
        yield from _maps(inside.items, scalars)
    elif scalars and kind.on_device:
        yield f"copy({', '.join(scalars)})"


def _maps(items: Iterable[DeviceItem], scalars: Iterable[str]) -> Iterator[str]:
    """Yield what is copied to the device, and what is copied back, too.

    Without a clause a compiler copies all of it both ways.
    """
    read = [item.text for item in items if not item.written]
    changed = [*(item.text for item in items if item.written), *scalars]
    for how, names in (("to", read), ("tofrom", changed)):
        if names:
            yield f"map({how}: {', '.join(names)})"


def _reduction_clauses(scalars: Mapping[str, ReductionOp]) -> Iterator[str]:
    by_operation: dict[ReductionOp, list[str]] = {}
    for name, op in scalars.items():
        by_operation.setdefault(op, []).append(name)
    for op, names in by_operation.items():
        yield f"reduction({_OPERATORS[op]}:{', '.join(names)})"


def _other_clauses(construct: DirectiveRegion) -> tuple[str, ...]:
    at_foot = ("nowait",) if construct.directive is Kind.OMP_SINGLE else ()
    kept = tuple(clause for clause in construct.clauses if clause not in at_foot)
    return (*kept, *queue_clause(construct.queue))


def _data_region(inside: Inside) -> tuple[Line, ...]:
    """Return nested regions, one for each level: a compiler wants objects before their parts."""
    levels = _levels(inside.items)
    heads = [DirectiveLine(f"acc data {', '.join(_copies(level))}") for level in levels]
    return (*heads, *inside.lines, *(DirectiveLine("acc end data") for _ in heads))


def _copies(level: Sequence[DeviceItem]) -> Iterator[str]:
    for clause, written in (("copyin", False), ("copy", True)):
        if names := ", ".join(item.text for item in level if item.written is written):
            yield f"{clause}({names})"


def _levels(items: Iterable[DeviceItem]) -> list[list[DeviceItem]]:
    """Return the items level by level, outermost first, each once."""
    levels: dict[int, list[DeviceItem]] = {}
    for item in dict.fromkeys(items):
        levels.setdefault(item.level, []).append(item)
    return [levels[level] for level in sorted(levels)]
