"""What the adversary of `analysis.check` says of the mutations of the LFRic suite.

A mutation of the running program has a counterpart in the schedule that the program was made of.
The exchanges stay as they were planned for the schedule before the mutation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from properties.worlds import worlds
from psyclone_storage.analysis.check import World, check_halos, execute
from psyclone_storage.analysis.touch import calls_in
from psyclone_storage.config.load import default_settings
from psyclone_storage.domain.lfric.rules import LfricRules
from psyclone_storage.driver.compile import Request, make_compiler
from psyclone_storage.ir.kernel import Access
from psyclone_storage.ir.region import NOTHING, Depth
from psyclone_storage.ir.schedule import (
    Extent,
    HaloExchange,
    Loop,
    MarkHalo,
    Over,
    Reach,
    Schedule,
)
from psyclone_storage.ir.walk import in_sequence, outer_loops, replaced
from runtime.programs import SOURCES

RULES = LfricRules()
ONE = Depth.of(1)


@dataclass(frozen=True, slots=True)
class Mutant:
    """A schedule with one thing changed.

    Attributes:
        name: what was done and where, as an `Outcome` of a run names it.
        before: the schedule as it was.
        after: the schedule as it is.
        loop: the loop that was changed, None for marks.
    """

    name: str
    before: Schedule
    after: Schedule
    loop: Loop | None = None

    @property
    def refused(self) -> bool:
        """Whether the rules of LFRic forbid the loop to go that far."""
        if self.loop is None:
            return False
        return any(RULES.check_extent(self.loop, call) for _, call in calls_in(self.loop))

    @property
    def reduces(self) -> bool:
        """Whether the loop adds up dofs, of which each is some rank's own."""
        if self.loop is None:
            return False
        args = [arg for _, call in calls_in(self.loop) for arg in call.kernel.args]
        return any(arg.access is Access.REDUCTION for arg in args)

    @property
    def may_run(self) -> bool:
        """Whether the loop may go further without a look at memory that is not there."""
        if self.loop is None:
            return True
        args = [arg for _, call in calls_in(self.loop) for arg in call.kernel.args]
        return not any(arg.kind.is_operator or arg.stencil or arg.mesh for arg in args)

    @property
    def is_overtaken(self) -> bool:
        """Whether an exchange that is certain to happen comes next to the halo of a lost mark."""
        later = iter(self.before.body)
        lost = next(item for item in later if item not in self.after.body)
        if not isinstance(lost, MarkHalo):
            return False
        same = (
            item
            for item in later
            if isinstance(item, MarkHalo | HaloExchange)
            and (item.datum, item.component) == (lost.datum, lost.component)
        )
        following = next(same, None)
        return isinstance(following, HaloExchange) and not following.guarded

    @property
    def found_out(self) -> bool:
        """Whether some entry state makes the mutant read, or promise, what is stale.

        A mark that calls less clean than it is makes an exchange happen that nothing needs.
        """
        shared = frozenset(datum.name for datum in self.before.data)
        shared -= RULES.without_annexed(self.before)
        every = list(worlds(self.after, shared))
        return any(check_halos(self.after, world) for world in every) or any(
            costs_more(self.before, self.after, world) for world in every
        )


def costs_more(before: Schedule, after: Schedule, world: World) -> bool:
    """Return whether an exchange after the schedule, of some depth, has become necessary."""
    asked = [
        HaloExchange(f"later({mark.datum})", mark.datum, mark.component, Depth.of(depth), True)
        for mark in before.body
        if isinstance(mark, MarkHalo)
        for depth in range(1, world.levels + 1)
    ]
    done = [
        execute(replace(one, body=(*one.body, later)), world).exchanged
        for later in asked
        for one in (before, after)
    ]
    return done[::2] != done[1::2]


def schedules(annexed: bool) -> Iterator[tuple[str, Schedule]]:
    """Yield the schedule of each routine of the suite with `algorithm/routine`."""
    settings = default_settings()
    lfric = replace(settings.lfric, compute_annexed_dofs=annexed)
    request = Request("lfric", True, directories=(SOURCES / "kernels",))
    compiler = make_compiler(replace(settings, lfric=lfric), request)
    for path in sorted(SOURCES.glob("*.x90")):
        for invoke in compiler.compile_algorithm(Path(path)).program.invokes:
            yield f"{path.stem.removesuffix('_alg_mod')}/{invoke.name}", invoke.schedule


def mutants(annexed: bool) -> Iterator[Mutant]:
    """Yield every mutant of every schedule of the suite."""
    for place, schedule in schedules(annexed):
        for loop in outer_loops(schedule):
            for change, extent in changed_extents(loop):
                changed = replace(loop, extent=extent)
                after = replaced(schedule, loop.uid, changed)
                yield Mutant(f"{change} {place}/{loop.uid}", schedule, after, changed)
        met: list[str] = []
        for mark in in_sequence(schedule):
            if isinstance(mark, MarkHalo):
                for changed_mark in without_parts(mark):
                    met.append(label(mark))
                    name = f"drop {place}/{met[-1]}/{met.count(met[-1])}"
                    changed = (changed_mark,) if changed_mark else ()
                    yield Mutant(name, schedule, replaced(schedule, mark.uid, *changed))


def label(mark: MarkHalo) -> str:
    """Return what a mark is called in the outcomes of a run."""
    component = "" if mark.component is None else f"_proxy({mark.component})"
    return f"mark({mark.datum}{component})"


def without_parts(mark: MarkHalo) -> Iterator[MarkHalo | None]:
    """Yield the mark without one of its two parts, None if nothing is left."""
    clean = bool(mark.clean.terms)
    if mark.dirty:
        yield replace(mark, dirty=False) if clean else None
    if clean:
        yield replace(mark, clean=NOTHING) if mark.dirty else None


def changed_extents(loop: Loop) -> Iterator[tuple[str, Extent]]:
    """Yield the next extents further out and in that a loop can have, as `BOUNDS` does."""
    over_dofs = loop.over is Over.DOFS
    match loop.extent.reach:
        case Reach.OWNED if loop.over is not Over.DOMAIN:
            yield "widen", Extent(Reach.ANNEXED) if over_dofs else Extent(Reach.HALO, ONE)
        case Reach.ANNEXED:
            yield "widen", Extent(Reach.HALO, ONE)
            yield "narrow", Extent(Reach.OWNED)
        case Reach.HALO | Reach.HALO_ONLY as reach:
            yield "widen", Extent(reach, loop.extent.depth.plus(ONE))
            inner = loop.extent.depth.minus(1)
            if inner.terms:
                yield "narrow", Extent(reach, inner)
            elif reach is Reach.HALO:
                yield "narrow", Extent(Reach.OWNED)
