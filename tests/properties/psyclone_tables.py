"""How often PSyclone 3.3 exchanges a value, by the decision tables that describe it (spec 6).

A value of a field component lives from one write to the next. PSyclone exchanges it at most once,
before its first reader, as deep as any reader asks.

Three entries differ from PSyclone's, which reads stale data there. They are the whole list of the
places where more may be exchanged than PSyclone does:

* a kernel that only writes (GH_WRITE) reads annexed dofs of what else it reads (defect B6);
* a loop over owned dofs alone, or an increment that leaves the outermost owned dofs incomplete,
  makes annexed dofs stale even if all other loops keep them clean (OWNED_DOF, setval_random), so
  that the next reader, or the end of the invoke, needs an exchange;
* an increment over halo cells alone leaves nothing clean.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from psyclone_storage.base.fresh import Fresh
from psyclone_storage.infrastructures.lfric import is_continuous
from psyclone_storage.ir.datum_parts import DatumPart, passed_parts
from psyclone_storage.ir.kernel import Access, ArgKind, KernelArg, MeshRole
from psyclone_storage.ir.region import NOTHING, Depth, deepest
from psyclone_storage.ir.schedule import (
    Actual,
    HaloExchange,
    KernelCall,
    Loop,
    Over,
    Reach,
    Schedule,
    data_by_name,
)
from psyclone_storage.ir.walk import calls_in

Value = tuple[DatumPart, int]
ONE = Depth.of(1)


@dataclass
class Life:
    """One value of a component: what its writer left, and what its readers ask for."""

    known: bool = False
    clean: Depth = NOTHING
    annexed: bool = False
    depths: list[Depth] = field(default_factory=list)
    annexed_readers: int = 0

    def is_exchanged(self, schedule: Schedule) -> bool:
        clean_annexed = self.annexed if self.known else schedule.annexed_clean
        if self.depths:
            return self.clean.covers(deepest(self.depths)) is not Fresh.YES
        at_end = schedule.annexed_clean
        return bool(self.annexed_readers or at_end) and not clean_annexed


def placed_exchanges(schedule: Schedule) -> Counter[Value]:
    """Count the exchanges of each value in `schedule`."""
    versions: Counter[DatumPart] = Counter()
    counted: Counter[Value] = Counter()
    for item in schedule.body:
        if isinstance(item, HaloExchange):
            key = DatumPart(item.datum, item.component)
            counted[key, versions[key]] += 1
        elif isinstance(item, Loop):
            for key in written_keys(schedule, item):
                versions[key] += 1
    return counted


def demanded_exchanges(schedule: Schedule) -> Counter[Value]:
    """Count the exchanges of each value that the tables demand, 0 or 1."""
    data = data_by_name(schedule)
    lives: dict[DatumPart, list[Life]] = {}
    for item in schedule.body:
        if not isinstance(item, Loop):
            continue
        for loop, call in calls_in(item):
            for described, actual in zip(call.kernel.args, call.args, strict=True):
                if described.kind is ArgKind.FIELD:
                    for key in passed_parts(actual, data):
                        life = lives.setdefault(key, [Life()])
                        note_read(life[-1], loop, call, described, actual)
                        if described.access.writes:
                            life.append(life_after(loop, described))
    return Counter(
        (key, number)
        for key, values in lives.items()
        for number, life in enumerate(values)
        if life.is_exchanged(schedule)
    )


def written_keys(schedule: Schedule, outer: Loop) -> list[DatumPart]:
    data = data_by_name(schedule)
    return [
        key
        for _, call in calls_in(outer)
        for described, actual in zip(call.kernel.args, call.args, strict=True)
        if described.kind is ArgKind.FIELD and described.access.writes
        for key in passed_parts(actual, data)
    ]


def note_read(
    life: Life, loop: Loop, call: KernelCall, described: KernelArg, actual: Actual
) -> None:
    if not described.access.reads:
        return
    extent = loop.extent
    stencil = Depth.value(actual.extent) if described.stencil and actual.extent else None
    fine = described.mesh is MeshRole.FINE
    if loop.over is Over.DOFS:
        if extent.reach is Reach.HALO:
            life.depths.append(extent.depth)
        elif extent.reach is Reach.ANNEXED and is_continuous(described.space):
            life.annexed_readers += 1
        return
    depth = extent.depth
    if stencil:
        asked = call.kernel.iteration.takes_halo_depth
        depth = depth.max(stencil) if asked else depth.plus(stencil)
    elif not extent.reach.in_halo:
        life.annexed_readers += is_continuous(described.space)
        return
    elif described.access is Access.INC and not fine:
        depth = depth.minus(1)
        if depth == NOTHING:
            life.annexed_readers += 1
            return
        # For depth 1 at run time, the annexed dofs are asked for.
        depth = depth if depth.covers(ONE) is Fresh.YES else depth.max(ONE)
    life.depths.append(depth.times(2) if fine else depth)


def life_after(loop: Loop, described: KernelArg) -> Life:
    extent, continuous = loop.extent, is_continuous(described.space)
    adds = described.access.increments
    if loop.over is Over.DOFS:
        clean = extent.depth if extent.reach is Reach.HALO else NOTHING
        return Life(True, clean, annexed=extent.reach is not Reach.OWNED or not continuous)
    if adds and extent.reach is not Reach.HALO:
        return Life(True, NOTHING, annexed=not continuous)
    depth = extent.depth.times(2) if described.mesh is MeshRole.FINE else extent.depth
    if extent.reach is Reach.HALO_ONLY:
        return Life(True, depth, annexed=True)
    inner = depth.minus(1) if continuous and extent.reach.in_halo else depth
    return Life(True, inner, annexed=True)
