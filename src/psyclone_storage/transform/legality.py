"""Invariants that a schedule must satisfy after every step.

A step elsewhere can violate two of them: a loop may come to access a halo during its exchange, and
an exchange may become necessary between loops of one region.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.memo import kept_by_item, kept_by_version
from psyclone_storage.base.records import dataclass
from psyclone_storage.base.splices import Splice
from psyclone_storage.coherence.halo_effects import HaloEffect, HaloEffects
from psyclone_storage.ir import schedule as sch
from psyclone_storage.ir.aliases import aliases_in
from psyclone_storage.ir.datum_parts import DatumPart, alias_parts, data_of, sequence_using
from psyclone_storage.ir.directive import Directive
from psyclone_storage.ir.region import NOTHING
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.walk import (
    data_in_flight,
    kernel_calls,
    outer_loops,
    path_to,
    place_of,
    statements,
)
from psyclone_storage.transform.device import check_devices


def check_flights(schedule: sch.Schedule, rules: Rules) -> Reasons:
    """Return diagnostics for loops that access a halo during its exchange (T031).

    Owned dofs may be read during an exchange. Replicas must not be accessed, even if they are
    clean, because the exchange writes them.
    """
    flags = (schedule.distributed, schedule.annexed_clean, schedule.fills)
    return _flights(schedule, rules, schedule.data, schedule.imported, *flags).problems


@dataclass(frozen=True, slots=True)
class _Flights:
    """The accesses to halos in flight in one version of a schedule, and to which data."""

    problems: Reasons = ()
    data: frozenset[str] = frozenset()


@kept_by_version(_Flights)
def _flights(
    known: _Flights,
    schedule: sch.Schedule,
    splice: Splice[sch.Statement],
    rules: Rules,
    *_: object,
) -> _Flights:
    """Check the data that changed statements use, what may be the same, and earlier problems."""
    changed = map(data_of, (*splice.removed, *splice.added))
    aliases = aliases_in(schedule)
    flying_data = data_in_flight(schedule, aliases.connected(known.data.union(*changed)))
    data = aliases.connected(flying_data)
    if not data:
        return _Flights()
    halos = HalosInFlight(schedule, rules)
    flying: dict[DatumPart, sch.HaloExchange] = {}
    busy: dict[DatumPart, sch.HaloExchange] = {}
    problems: list[Diagnostic] = []
    for item in sequence_using(schedule, data):
        if isinstance(item, sch.HaloExchange) and item.phase is not sch.Phase.WHOLE:
            if item.datum not in data:
                continue
            key = DatumPart(item.datum, item.component)
            if item.phase is sch.Phase.START:
                flying[key] = item
            else:
                flying.pop(key, None)
            busy = halos.busy(flying)
        elif isinstance(item, sch.Loop) and busy:
            problems += halos.touched_by(item, busy)
    return _Flights(tuple(problems), data if problems else frozenset())


class HalosInFlight:
    """Detects loops that access halos during their exchange."""

    def __init__(self, schedule: sch.Schedule, rules: Rules) -> None:
        self._touches = HaloEffects(schedule, rules)
        self._aliases = alias_parts(schedule)

    def busy(
        self, flying: Mapping[DatumPart, sch.HaloExchange]
    ) -> dict[DatumPart, sch.HaloExchange]:
        """Return the parts that the exchanges `flying` will write, with possible aliases."""
        found = dict(flying)
        for key, exchange in flying.items():
            if others := self._aliases[key.datum]:
                found |= dict.fromkeys(others, exchange)
        return found

    def touched_by(
        self,
        block: sch.Loop | sch.DirectiveRegion | sch.ProfileRegion,
        busy: Mapping[DatumPart, sch.HaloExchange],
    ) -> Reasons:
        """Return diagnostics for loops in `block` that access parts in `busy` (T031)."""
        return tuple(
            _touched(loop, effect, busy[effect.part])
            for loop in ((block,) if isinstance(block, sch.Loop) else outer_loops(block))
            if not self._touches.parts(loop).isdisjoint(busy)
            # What a loop fills besides is planned anew, and with a look at what is under way.
            for effect in self._touches.of(loop, NOTHING)
            if effect.part in busy and (effect.need or effect.left)
        )


def _touched(loop: sch.Loop, effect: HaloEffect, exchange: sch.HaloExchange) -> Diagnostic:
    need = effect.need
    how = f"reads it {need.why}" if need else "writes it"
    return Diagnostic(
        "T031",
        f"The exchange '{exchange.uid}' of '{effect.part.text}' would run"
        f" while '{loop.uid}' {how}.",
        place_of(loop),
        hint="Keep the loop before the start or after the finish.",
    )


def check_point_reductions(schedule: sch.Schedule) -> Reasons:
    """Return diagnostics for changed loops of a reduction that the runtime computes (T050)."""
    return _check_point_reductions(schedule)


@kept_by_item
def _check_point_reductions(outer: sch.Statement) -> Reasons:
    return _reductions_inside(outer)


def _reductions_inside(item: sch.Statement) -> Reasons:
    if isinstance(item, sch.ProfileRegion):
        return tuple(chain.from_iterable(map(_reductions_inside, item.body)))
    calls = kernel_calls(item) if isinstance(item, sch.Compound) else ()
    return tuple(
        Diagnostic(
            "T050",
            f"'{item.uid}' would not be the loops of '{call.kernel.name}' alone, which the "
            "runtime computes as a whole.",
            call.span,
            hint="Apply the step to the loops of kernels only.",
        )
        for call in calls
        if call.kernel.is_builtin and call.kernel.points is not None and item != _nest(item, call)
    )


def _nest(item: sch.Statement, call: sch.KernelCall) -> sch.Statement | None:
    """Return two plain loops around a call, with the names and extents of `item`."""
    match item:
        case sch.Loop(body=(sch.Loop() as inner,)):
            columns = sch.Loop(
                inner.uid, sch.Over.COLUMNS, inner.extent, inner.bounds_from, (call,)
            )
            return sch.Loop(item.uid, sch.Over.ROWS, item.extent, item.bounds_from, (columns,))
    return None


def check_constructs(schedule: sch.Schedule) -> Reasons:
    """Return diagnostics for exchanges and halo fills inside a directive region (T025)."""
    return _check_construct(schedule)


@kept_by_item
def _check_construct(outer: sch.Statement) -> Reasons:
    return tuple(
        Diagnostic(
            "T025",
            f"'{item.uid}' has to happen inside of '{construct.uid}': {_why_inside(item)}.",
            place_of(construct),
            hint="End the region before the loop that reads, or let the first loop compute its "
            "halo, too.",
        )
        for construct in _outermost((outer,))
        for item in statements(construct)
        if isinstance(item, sch.HaloExchange | sch.FillHalo)
    )


def _why_inside(item: sch.HaloExchange | sch.FillHalo) -> str:
    if isinstance(item, sch.FillHalo):
        return f"a loop of it reads what may be '{item.datum}', and a later one adds to its halo"
    return f"a loop of it writes '{item.datum}', and a later one reads its halo"


def _outermost(body: tuple[sch.Statement, ...]) -> Iterator[sch.DirectiveRegion]:
    for item in body:
        if isinstance(item, sch.DirectiveRegion):
            yield item
        elif isinstance(item, sch.ProfileRegion):
            yield from _outermost(item.body)


def check_finished(schedule: sch.Schedule, *, in_storages: bool = False) -> Reasons:
    """Return diagnostics for incomplete parallel constructs at the end of a recipe.

    With `in_storages`, device data need no step, because storages transfer them.
    """
    on_device = check_devices(schedule, in_storages=in_storages)
    return (*_without_surroundings(schedule), *_repeated(schedule), *on_device)


def _repeated(schedule: sch.Schedule) -> Iterator[Diagnostic]:
    """Yield diagnostics for loops that every thread or gang of a region would execute (T027)."""
    for construct in statements(schedule):
        if not isinstance(construct, sch.DirectiveRegion) or construct.directive not in _REPEATING:
            continue
        who, step = _REPEATING[construct.directive]
        for loop in _not_shared(construct):
            yield Diagnostic(
                "T027",
                f"Every {who} of '{construct.uid}' would do all of '{loop.uid}'.",
                place_of(loop),
                hint=f"Apply '{step}' to it.",
                remedies=(step,),
            )


def _not_shared(block: sch.Loop | sch.DirectiveRegion) -> Iterator[sch.Loop]:
    """Yield the innermost loops of `block` that no directive inside it distributes.

    A sequential device loop is not distributed.
    """
    for item in block.body:
        if isinstance(item, sch.Loop):
            inside = any(isinstance(one, sch.Loop | sch.DirectiveRegion) for one in item.body)
            yield from _not_shared(item) if inside else (item,)
        elif isinstance(item, sch.DirectiveRegion) and item.options.sequential:
            yield from _not_shared(item)


def _without_surroundings(schedule: sch.Schedule) -> Iterator[Diagnostic]:
    """Yield diagnostics for directives that lack a required enclosing one (T026)."""
    for item in statements(schedule):
        if not isinstance(item, sch.DirectiveRegion) or not item.directive.surroundings:
            continue
        around = {
            one.directive
            for one in path_to(schedule, item.uid)[:-1]
            if isinstance(one, sch.DirectiveRegion)
        }
        if around.isdisjoint(item.directive.surroundings):
            lacking, hint, *remedies = _LACKING[item.directive]
            message, place = f"'{item.uid}' {lacking}.", place_of(item)
            yield Diagnostic("T026", message, place, hint=hint, remedies=tuple(remedies))


_REPEATING = {
    Directive.OMP_PARALLEL: ("thread", "openmp-do"),
    Directive.ACC_PARALLEL: ("gang", "acc-loop"),
}
"""Regions in which everybody does what is not dealt out, who that is, and the step that deals."""

_NO_TEAM = (
    "is for one thread of a team, but nothing starts a team",
    "Apply 'openmp-parallel' around it.",
    "openmp-parallel",
)
_TASKS_FOR_NOBODY = (
    "makes tasks, but not by one thread of a team",
    "Apply 'openmp-single' and 'openmp-parallel' around it.",
    "openmp-single",
    "openmp-parallel",
)
_LACKING: Mapping[Directive, tuple[str, ...]] = {
    Directive.OMP_DO: (
        "deals out iterations, but nothing starts a team of threads",
        "Apply 'openmp-parallel' around it, or 'openmp-parallel-do' instead of it.",
        "openmp-parallel",
        "openmp-parallel-do",
    ),
    Directive.OMP_SINGLE: _NO_TEAM,
    Directive.OMP_MASTER: _NO_TEAM,
    Directive.OMP_TASK: _TASKS_FOR_NOBODY,
    Directive.OMP_TASKLOOP: _TASKS_FOR_NOBODY,
    Directive.OMP_TEAMS_DO: (
        "deals out iterations to the teams of a device, but is not on one",
        "Apply 'openmp-target' around it.",
        "openmp-target",
    ),
    Directive.ACC_LOOP: (
        "deals out iterations, but is in no region for a device",
        "Apply 'acc-parallel' or 'acc-kernels' around it.",
        "acc-parallel",
        "acc-kernels",
    ),
}
"""What a construct lacks without the one around it, what to do, and the steps that do it."""
