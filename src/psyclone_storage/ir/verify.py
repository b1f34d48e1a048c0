"""Structural checks of a schedule between compilation stages.

A failed check is a defect of the compiler, not of the user's code. Each stage relies on these
invariants. `coherence.check_halos` checks the halos.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.memo import kept_by_item, kept_by_version, kept_with_first
from psyclone_storage.base.records import dataclass
from psyclone_storage.base.splices import Splice
from psyclone_storage.ir import schedule as sch
from psyclone_storage.ir.datum_parts import data_of, sequence_using
from psyclone_storage.ir.kernel import Access
from psyclone_storage.ir.transfer import EnterData, TaskWait, Update, Wait
from psyclone_storage.ir.walk import (
    data_in_flight,
    kernel_calls,
    repeated_uids,
    with_inside,
)

Data = dict[str, sch.Datum]


def check_schedule(schedule: sch.Schedule) -> tuple[Diagnostic, ...]:
    """Return diagnostics for all structural errors of `schedule`."""
    data = sch.data_by_name(schedule)
    problems = [*_repeated_statements(schedule), *_repeated_data(schedule, data)]
    problems += _check_items(schedule, data)
    problems += _phases(schedule).problems
    problems += _check_entering(_entering_in(schedule), data)
    if not schedule.distributed:
        problems += _check_serial(schedule)
    return tuple(problems)


def _repeated_statements(schedule: sch.Schedule) -> Iterator[Diagnostic]:
    for uid in repeated_uids(schedule):
        yield Diagnostic("V001", f"Two statements of '{schedule.name}' are called '{uid}'.")


def _repeated_data(schedule: sch.Schedule, data: Data) -> Iterator[Diagnostic]:
    if len(data) == len(schedule.data) + len(schedule.imported):
        return
    for datum, uses in Counter(datum.name for datum in schedule.all_data).items():
        if uses > 1:
            yield Diagnostic("V002", f"Two data of '{schedule.name}' are called '{datum}'.")


@kept_by_item
def _check_items(item: sch.Statement, data: Data) -> tuple[Diagnostic, ...]:
    """Check a top-level statement and the statements nested in it."""
    return tuple(_check_body((item,), (), data))


@kept_by_item
def _entering_in(item: sch.Statement) -> tuple[EnterData, ...]:
    return tuple(one for one in with_inside(item) if isinstance(one, EnterData))


def _check_body(
    body: tuple[sch.Statement, ...], around: tuple[sch.Compound, ...], data: Data
) -> Iterator[Diagnostic]:
    """Check the statements of `body` recursively; `around` are the enclosing statements."""
    for item in body:
        yield from _check_statement(item, data)
        yield from _check_nesting(item, around)
        if isinstance(item, sch.Compound):
            yield from _check_body(item.body, (*around, item), data)


def _check_nesting(item: sch.Statement, around: tuple[sch.Compound, ...]) -> Iterator[Diagnostic]:
    """Check that nested loops have equal extents and that thread teams do not nest."""
    match item:
        case sch.Loop():
            outer = next((one for one in around if isinstance(one, sch.Loop)), item)
            if item.extent != outer.extent:
                message = f"'{item.uid}' does not go as far as '{outer.uid}' around it."
                yield Diagnostic("V011", message)
        case sch.DirectiveRegion() if item.directive.opens_threads:
            for construct in around:
                if isinstance(construct, sch.DirectiveRegion):
                    message = f"'{item.uid}' starts threads inside '{construct.uid}'."
                    yield Diagnostic("V016", message)
        case sch.ProfileRegion() if around and isinstance(around[-1], sch.Loop):
            yield Diagnostic("V017", f"The region '{item.uid}' is inside of '{around[-1].uid}'.")


def _check_statement(item: sch.Statement, data: Data) -> Iterator[Diagnostic]:
    match item:
        case sch.KernelCall():
            yield from _check_call(item, data)
        case sch.Loop():
            yield from _check_loop(item)
        case sch.DirectiveRegion():
            yield from _check_construct(item)
        case sch.ProfileRegion():
            if not item.body:
                yield Diagnostic("V017", f"There is nothing in the region '{item.uid}'.")
        case sch.HaloExchange() | sch.MarkHalo() | sch.FillHalo() | Update():
            yield from _check_component(item.uid, item.datum, item.component, data)
            yield from _check_levels(item)
        case sch.GlobalReduction(uid=uid, datum=datum):
            yield from _check_datum(uid, datum, data)


def _check_levels(
    item: sch.HaloExchange | sch.MarkHalo | sch.FillHalo | Update,
) -> Iterator[Diagnostic]:
    """Check that a statement about a halo affects at least one level."""
    match item:
        case sch.HaloExchange(uid=uid) if not item.depth.terms:
            yield Diagnostic("V006", f"'{uid}' exchanges no level of the halo.")
        case sch.FillHalo(uid=uid) if not item.annexed and not item.depth.terms:
            yield Diagnostic("V006", f"'{uid}' fills no level of the halo.")
        case sch.MarkHalo(uid=uid) if not item.dirty and not item.clean.terms:
            yield Diagnostic("V007", f"'{uid}' neither makes a halo dirty nor clean.")


def _check_entering(items: Iterable[EnterData], data: Data) -> Iterator[Diagnostic]:
    """Check that data are entered at most once and exist in the schedule."""
    entering = list(items)
    for item in entering[1:]:
        yield Diagnostic("V018", f"'{item.uid}' enters data a second time.")
    for item in entering:
        for name in item.data:
            yield from _check_datum(item.uid, name, data)


def _check_datum(uid: str, datum: str, data: Data) -> Iterator[Diagnostic]:
    if datum not in data:
        yield Diagnostic("V003", f"'{uid}' uses '{datum}', which the schedule does not have.")


def _check_component(
    uid: str, datum: str, component: int | None, data: Data
) -> Iterator[Diagnostic]:
    """Check that a component is given exactly if the datum is a field vector."""
    yield from _check_datum(uid, datum, data)
    size = data[datum].vector if datum in data else 1
    whole = component is None and size == 1
    if datum in data and not whole and not (component and size > 1 and component <= size):
        named = "no component" if component is None else f"component {component}"
        yield Diagnostic("V004", f"'{uid}' names {named} of '{datum}', which has {size}.")


def _check_call(call: sch.KernelCall, data: Data) -> Iterator[Diagnostic]:
    expected, given = len(call.kernel.args), len(call.args)
    if expected != given:
        yield Diagnostic("V005", f"'{call.uid}' passes {given} arguments for {expected}.")
    for actual in (*call.args, *call.quadratures):
        if actual.datum is None:
            continue
        if actual.component is None:
            yield from _check_datum(call.uid, actual.datum, data)
        else:
            yield from _check_component(call.uid, actual.datum, actual.component, data)


def _check_loop(loop: sch.Loop) -> Iterator[Diagnostic]:
    if not loop.body:
        yield Diagnostic("V008", f"'{loop.uid}' has no body.")
    if loop.extent.reach.in_halo != bool(loop.extent.depth.terms):
        reach = loop.extent.reach.value
        yield Diagnostic("V009", f"'{loop.uid}' reaches '{reach}', which its depth contradicts.")
    cells_only = loop.over is not sch.Over.DOFS and loop.extent.reach is sch.Reach.ANNEXED
    dofs_only = loop.over is sch.Over.DOFS and loop.extent.reach is sch.Reach.HALO_ONLY
    if loop.filled.terms and (loop.over is not sch.Over.DOFS or loop.extent.reach.in_halo):
        yield Diagnostic("V009", f"'{loop.uid}' counts {loop.over.value} but fills a halo.")
    if cells_only or dofs_only:
        reach = loop.extent.reach.value
        yield Diagnostic("V009", f"'{loop.uid}' counts {loop.over.value} but reaches '{reach}'.")
    yield from _check_parts(loop)
    calls = kernel_calls(loop)
    if calls and not 0 <= loop.bounds_from < max(1, len(calls[0].args)):
        yield Diagnostic(
            "V010", f"'{loop.uid}' takes its bounds from an argument that '{calls[0].uid}' lacks."
        )


def _check_parts(loop: sch.Loop) -> Iterator[Diagnostic]:
    """Check that a fused loop contains its original loops, in order."""
    if not loop.parts:
        return
    uids = [call.uid for call in kernel_calls(loop)]
    places = [uids.index(part.call) if part.call in uids else -1 for part in loop.parts]
    if places[0] != 0 or places != sorted(set(places)) or loop.over.axis is None:
        yield Diagnostic("V019", f"'{loop.uid}' does not hold the loops that it was made of.")


def _check_construct(construct: sch.DirectiveRegion) -> Iterator[Diagnostic]:
    """Check that a directive region contains loops, and a work-sharing one exactly one."""
    loops = all(
        isinstance(item, sch.Loop | sch.DirectiveRegion | TaskWait | Wait)
        for item in construct.body
    )
    single = len(construct.body) == 1 and isinstance(construct.body[0], sch.Loop)
    if not construct.body or not loops or (construct.directive.shares_work and not single):
        what = construct.directive.value
        yield Diagnostic("V015", f"'{construct.uid}' ({what}) does not hold what it should.")


@dataclass(frozen=True, slots=True)
class _Phases:
    """Diagnostics for the split exchanges of one version of a schedule, with their data."""

    problems: tuple[Diagnostic, ...] = ()
    data: frozenset[str] = frozenset()


def _updated_phases(
    known: _Phases, schedule: sch.Schedule, splice: Splice[sch.Statement]
) -> _Phases:
    """Check the data that changed statements use, and those with earlier problems."""
    data = known.data.union(*map(data_of, (*splice.removed, *splice.added)))
    data = data_in_flight(schedule, data)
    if not data:
        return _Phases()
    problems = tuple(_check_phases(sequence_using(schedule, data), data))
    return _Phases(problems, data if problems else frozenset())


_phases = kept_by_version(_Phases)(_updated_phases)


def _check_phases(items: Iterable[sch.Statement], data: frozenset[str]) -> Iterator[Diagnostic]:
    """Check that each started exchange of `data` finishes once, without a write in between.

    `items` contain all statements that use `data`, in sequence.
    """
    flying: _Flying = {}
    for item in items:
        if isinstance(item, sch.Loop):
            if flying and not _written(item).keys().isdisjoint(flying):
                yield from _check_writes(item, flying)
            continue
        if not isinstance(item, sch.HaloExchange) or item.datum not in data:
            continue
        if item.phase is sch.Phase.WHOLE:
            continue
        parts = flying.setdefault(item.datum, {})
        if (item.phase is sch.Phase.START) == (item.component in parts):
            yield Diagnostic("V013", f"'{item.uid}' has no counterpart where it stands.")
        if item.phase is sch.Phase.START:
            parts[item.component] = item.uid
        else:
            parts.pop(item.component, None)
        if not parts:
            del flying[item.datum]
    for parts in flying.values():
        for uid in parts.values():
            yield Diagnostic("V013", f"'{uid}' starts an exchange that never finishes.")


_Flying = dict[str, dict[int | None, str]]
"""The exchanges that have started, by datum and component."""


def _check_writes(loop: sch.Loop, flying: _Flying) -> Iterator[Diagnostic]:
    for datum, components in _written(loop).items():
        for component in components:
            for part, uid in flying.get(datum, {}).items():
                if component in (None, part):
                    message = f"'{loop.uid}' writes what '{uid}' is sending."
                    yield Diagnostic("V012", message)


@kept_with_first
def _written(loop: sch.Loop) -> dict[str, list[int | None]]:
    """Return the data that a loop writes, with the components."""
    found: dict[str, list[int | None]] = {}
    for call in kernel_calls(loop):
        for described, actual in zip(call.kernel.args, call.args, strict=False):
            changes = described.access.writes and described.access is not Access.REDUCTION
            if actual.datum is not None and changes:
                found.setdefault(actual.datum, []).append(actual.component)
    return found


@kept_by_item
def _check_serial(item: sch.Statement) -> tuple[Diagnostic, ...]:
    """Check that a statement of a serial schedule has no halo operations."""
    problems = []
    for one in with_inside(item):
        if isinstance(one, sch.HaloExchange | sch.MarkHalo | sch.FillHalo | sch.GlobalReduction):
            problems.append(Diagnostic("V014", f"'{one.uid}' has no place in a serial schedule."))
        elif isinstance(one, sch.Loop) and one.extent.reach is not sch.Reach.ALL:
            problems.append(Diagnostic("V014", f"'{one.uid}' reaches '{one.extent.reach.value}'."))
    return tuple(problems)
