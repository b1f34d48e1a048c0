"""The verdict of the checker in `coherence.check_halos` on the mutations of an LFRic suite.

A mutation of the running program corresponds to a change of its schedule. The exchanges remain as
planned for the schedule before the mutation.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from pathlib import Path

from psyclone_storage.coherence.check_halos import check_halos, execute
from psyclone_storage.coherence.execution import prepare
from psyclone_storage.coherence.scenarios import HaloScenario, halo_scenarios
from psyclone_storage.config.load import default_settings
from psyclone_storage.domains.lfric.rules import LfricRules
from psyclone_storage.ir.kernel import Access, ArgKind, ReductionOp
from psyclone_storage.ir.region import NOTHING, Depth
from psyclone_storage.ir.schedule import (
    Extent,
    FillHalo,
    HaloExchange,
    KernelCall,
    Loop,
    MarkHalo,
    Over,
    Reach,
    Schedule,
    Statement,
)
from psyclone_storage.ir.walk import calls_in, replaced, sequential_statements
from psyclone_storage.pipeline.compile import make_compiler
from psyclone_storage.pipeline.request import CompileRequest
from runtime.mutations import Outcome
from runtime.programs import is_filled

RULES = LfricRules()
ONE = Depth.of(1)
EXTREMES = (ReductionOp.MIN, ReductionOp.MAX)
MOST_WORLDS = 300
"""In how many worlds a mutant is looked at; if there are more, in some of them."""


@dataclass(frozen=True)
class Mutant:
    """A schedule with one thing changed.

    Attributes:
        name: what was done and where, as an `Outcome` of a run names it.
        before: the schedule as it was.
        after: the schedule as it is.
        was: the statement before the change.
        now: the statement after it, None where it was dropped.
        worlds_before: what gives the worlds of the schedule as it was, for all its mutants.
    """

    name: str
    before: Schedule
    after: Schedule
    was: Statement
    now: Statement | None
    worlds_before: Callable[[], list[HaloScenario]]

    @property
    def refused(self) -> bool:
        """Whether the rules of LFRic forbid the loop to go that far."""
        if not isinstance(self.now, Loop):
            return False
        return any(RULES.check_extent(self.now, call) for _, call in calls_in(self.now))

    @property
    def reduces(self) -> bool:
        """Whether the loop adds up dofs, of which each is some rank's own."""
        if not isinstance(self.was, Loop):
            return False
        args = [arg for _, call in calls_in(self.was) for arg in call.kernel.args]
        return any(arg.access is Access.REDUCTION for arg in args)

    @property
    def may_run(self) -> bool:
        """Whether the loop may go further without a look at memory that is not there."""
        if not isinstance(self.was, Loop):
            return True
        args = [arg for _, call in calls_in(self.was) for arg in call.kernel.args]
        return not any(arg.kind.is_operator or arg.stencil or arg.mesh for arg in args)

    @property
    def is_asked_for(self) -> bool:
        """Whether the algorithm says how far the loop goes."""
        if not isinstance(self.was, Loop):
            return False
        calls = [call for _, call in calls_in(self.was)]
        return any(call.kernel.iteration.takes_halo_depth for call in calls)

    @property
    def seeks_extremes(self) -> bool:
        """Whether the loop makes minima and maxima, which may be elsewhere than at its last dof."""
        if not isinstance(self.was, Loop):
            return False
        formulas = [call.kernel.formula for _, call in calls_in(self.was)]
        return all(one is not None and one.reduction in EXTREMES for one in formulas)

    @property
    def clears_boundary(self) -> bool:
        """Whether the loop sets boundary dofs to 0, which one cell does as well as several."""
        if not isinstance(self.was, Loop):
            return False
        return any(
            call.kernel.procedure.startswith("enforce_bc_") for _, call in calls_in(self.was)
        )

    @property
    def is_for_annexed_dofs(self) -> bool:
        """Whether the loop goes beyond owned dofs only because annexed ones are always computed."""
        return isinstance(self.was, Loop) and self.was.extent.reach is Reach.ANNEXED

    @property
    def shares_nothing_if(self) -> frozenset[str]:
        """The fields that must be discontinuous for halo cells not to matter; empty if they do."""
        if not isinstance(self.was, Loop) or self.was.extent.reach is not Reach.HALO:
            return frozenset()
        args = [
            (actual.datum, described.kind)
            for _, call in calls_in(self.was)
            for described, actual in zip(call.kernel.args, call.args, strict=True)
            if described.access.writes and actual.datum is not None
        ]
        fields = frozenset(datum for datum, kind in args if kind is ArgKind.FIELD)
        return fields if len(fields) == len({datum for datum, _ in args}) else frozenset()

    @property
    def work(self) -> tuple[object, ...]:
        """What the loop does: the same for the same calls, elsewhere in the algorithm, too."""
        assert isinstance(self.was, Loop)
        calls = tuple(call.kernel.name for _, call in calls_in(self.was))
        return (self.name.split("/")[0], calls, *touched(self.was))

    @property
    def is_unread(self) -> bool:
        """Whether nothing is left of what the loop makes, nor of what is made of that."""
        if not isinstance(self.was, Loop):
            return False
        later = iter(sequential_statements(self.before))
        next(item for item in later if item is self.was)
        left = {datum for datum, access in touched(self.was) if access.writes}
        for _, call in (one for item in later if isinstance(item, Loop) for one in calls_in(item)):
            uses = touched_by(call)
            looks = any(datum in left and access is not Access.WRITE for datum, access in uses)
            made = {datum for datum, access in uses if access.writes}
            anew = {datum for datum, access in uses if access is Access.WRITE}
            left = left | made if looks else left - anew
        return not left

    @cached_property
    def found_out(self) -> bool:
        """Whether some entry state makes the mutant read, or promise, what is stale.

        A mark that calls less clean than it is makes an exchange happen that nothing needs.
        """
        every = worlds_of(self.after) if isinstance(self.was, Loop) else self.worlds_before()
        if isinstance(self.was, HaloExchange) and self.now is not None:
            every = [world for world in every if levels_of(self.was.depth, world) > 1]
        if len(every) > MOST_WORLDS:
            every = random.Random(0).sample(every, MOST_WORLDS)
        after = prepare(self.after)
        if any(check_halos(after, world) for world in every):
            return True
        mark = self.was
        if not isinstance(mark, MarkHalo):
            return False
        before = cache(lambda levels: prepare(asking_later(self.before, mark, levels)))
        behind = cache(lambda levels: prepare(asking_later(self.after, mark, levels)))
        return any(
            execute(before(world.levels), world).exchanged
            != execute(behind(world.levels), world).exchanged
            for world in every
        )


def worlds_of(schedule: Schedule) -> list[HaloScenario]:
    """Return all worlds of a schedule, or of one that was made of it."""
    shared = frozenset(datum.name for datum in schedule.data)
    return list(halo_scenarios(schedule, shared - RULES.without_annexed(schedule)))


def noticed_by(outcome: Outcome | None, mutant: Mutant | None) -> str:
    """Return who notices a mutation first."""
    if outcome is not None and outcome.noticed:
        return "the run"
    if mutant is not None and mutant.refused:
        return "the rules"
    if mutant is not None and mutant.found_out:
        return "the adversary"
    return "nobody"


def beyond_memory(changed: Mapping[str, Mutant]) -> frozenset[str]:
    """Return the names of the mutants that would look at memory that is not there."""
    return frozenset(
        name for name, one in changed.items() if name.startswith("widen") and not one.may_run
    )


def touched(loop: Loop) -> list[tuple[str, Access]]:
    """Return what the calls of a loop touch, in order, and how."""
    return [use for _, call in calls_in(loop) for use in touched_by(call)]


def touched_by(call: KernelCall) -> list[tuple[str, Access]]:
    """Return what a call touches, and how."""
    pairs = zip(call.kernel.args, call.args, strict=True)
    return [(actual.datum, arg.access) for arg, actual in pairs if actual.datum is not None]


def levels_of(depth: Depth, world: HaloScenario) -> int:
    """Return how many levels a depth comes to in a world."""
    sums = [sum(world.extents[name] for name in term.names) + term.constant for term in depth.terms]
    return max([0, *sums])


def asking_later(schedule: Schedule, mark: MarkHalo, levels: int) -> Schedule:
    """Return a schedule with exchanges of all depths behind it: those happen that flags ask for."""
    asked = tuple(
        HaloExchange(f"later({depth})", mark.datum, mark.component, Depth.of(depth), guarded=True)
        for depth in range(1, levels + 1)
    )
    return replace(schedule, body=(*schedule.body, *asked))


def schedules(sources: Path, annexed: bool, by_halves: bool) -> Iterator[tuple[str, Schedule]]:
    """Yield the schedule of each routine of a suite with `algorithm/routine`."""
    settings = default_settings()
    request = CompileRequest("lfric", True, directories=(sources / "kernels",))
    compilers = {
        filled: make_compiler(replace(settings, lfric=lfric), request)
        for filled in (True, False)
        for chosen in [{"compute_annexed_dofs": annexed, "fill_before_increment": filled}]
        for lfric in [replace(settings.lfric, **chosen)]
    }
    for path in sorted(sources.glob("*.x90")):
        compiler = compilers[by_halves and is_filled(path, annexed)]
        for invoke in compiler.compile_algorithm(path).program.invokes:
            yield f"{path.stem.removesuffix('_alg_mod')}/{invoke.name}", invoke.schedule


def mutants(sources: Path, annexed: bool, *, by_halves: bool = False) -> Iterator[Mutant]:
    """Yield every mutant of every schedule of a suite."""
    for routine, schedule in schedules(sources, annexed, by_halves):
        met = Counter[str]()
        worlds_before = cache(partial(worlds_of, schedule))
        for item in sequential_statements(schedule):
            for label, changes in places_in(item):
                met[label] += 1
                place = label if isinstance(item, Loop) else f"{label}/{met[label]}"
                for change, now in changes:
                    after = replaced(schedule, item.uid, *((now,) if now else ()))
                    name = f"{change} {routine}/{place}"
                    yield Mutant(name, schedule, after, item, now, worlds_before)


def places_in(item: Statement) -> Iterator[tuple[str, Iterable[tuple[str, Statement | None]]]]:
    """Yield what each part of a statement is called, and what can be done to it."""
    match item:
        case Loop():
            changes = list(extents_of(item))
            yield (
                item.uid,
                [(change, replace(item, extent=to, filled=NOTHING)) for change, to in changes],
            )
        case FillHalo():
            yield f"fill({component_of(item)})", [("drop", None)]
        case MarkHalo():
            for part in without_parts(item):
                yield f"mark({component_of(item)})", [("drop", part)]
        case HaloExchange():
            shorter = replace(item, depth=item.depth.minus(1))
            changes = [("drop", None), *([("shorten", shorter)] if shorter.depth.terms else ())]
            yield component_of(item), changes


def component_of(item: MarkHalo | HaloExchange | FillHalo) -> str:
    """Return what the layer calls the component of a field."""
    component = "" if item.component is None else f"_proxy({item.component})"
    return f"{item.datum}{component}"


def without_parts(mark: MarkHalo) -> Iterator[MarkHalo | None]:
    """Yield the mark without one of its two parts, None if nothing is left."""
    clean = bool(mark.clean.terms)
    if mark.dirty:
        yield replace(mark, dirty=False) if clean else None
    if clean:
        yield replace(mark, clean=NOTHING) if mark.dirty else None


def extents_of(loop: Loop) -> Iterator[tuple[str, Extent]]:
    """Yield the next extents further out and in that a loop can have, as `BOUNDS` does.

    No extent is less than all that is owned: a loop that stops earlier stays as it is.
    """
    over_dofs = loop.over is Over.DOFS
    computed = loop.computed
    match computed.reach:
        case Reach.OWNED if loop.over is not Over.DOMAIN:
            yield "widen", Extent(Reach.ANNEXED) if over_dofs else Extent(Reach.HALO, ONE)
            yield "narrow", computed
        case Reach.ANNEXED:
            yield "widen", Extent(Reach.HALO, ONE)
            yield "narrow", Extent(Reach.OWNED)
        case Reach.HALO | Reach.HALO_ONLY as reach:
            yield "widen", Extent(reach, computed.depth.plus(ONE))
            inner = computed.depth.minus(1)
            if inner.terms:
                yield "narrow", Extent(reach, inner)
            else:
                yield "narrow", Extent(Reach.OWNED) if reach is Reach.HALO else computed
