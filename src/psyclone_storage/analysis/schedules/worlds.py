"""Worlds in which a schedule is legal: enough halo for its loops, every entry the flags allow.

What an adversary may choose, for `check` and `check_devices`; nothing here knows what is planned.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping

from psyclone_storage.analysis.schedules.check import extent_names
from psyclone_storage.analysis.schedules.check_devices import DeviceWorld
from psyclone_storage.analysis.schedules.same_objects import SameObjects, same_objects
from psyclone_storage.analysis.schedules.scenario import HaloScenario
from psyclone_storage.base.records import replace
from psyclone_storage.ir.devices import device_calls, has_device
from psyclone_storage.ir.expr import integer_value, spell
from psyclone_storage.ir.halo_depths import fields_of_loop
from psyclone_storage.ir.kernel import GridStencil, MeshRole
from psyclone_storage.ir.region import NOTHING
from psyclone_storage.ir.schedule import KernelCall, Loop, Schedule
from psyclone_storage.ir.transfer import EnterData
from psyclone_storage.ir.walk import outer_loops, statements

VALUES = (0, 1, 2, 7)


def worlds(schedule: Schedule, shared: frozenset[str]) -> Iterator[HaloScenario]:
    """Yield worlds with every choice of extents and flags, and the smallest halos that do."""
    names = sorted(extent_names(schedule))
    loops = _loops(schedule)
    for values in itertools.product(VALUES, repeat=len(names)):
        extents = dict(zip(names, values, strict=True))
        least = max(_levels_needed(loops, extents), 1)
        for levels in (least, least + 2):
            for flags in range(levels + 1):
                for filled, same in itertools.product((True, False), same_objects(schedule)):
                    world = HaloScenario(
                        levels,
                        extents,
                        _agreeing(shared, same),
                        flags,
                        schedule.annexed_clean,
                        filled,
                        same=same,
                    )
                    yield from _with_shallow_fields(schedule, world)


def typical_worlds(schedule: Schedule, shared: frozenset[str]) -> Iterator[HaloScenario]:
    """Yield worlds that tell most of all mistakes: nothing is filled, and some choices of the rest.

    Extents are all the same, or one differs from the others; flags call clean nothing, one or two
    levels, or all but one or none. There are about as many worlds as extents, not powers of them.
    """
    names = sorted(extent_names(schedule))
    chosen = [dict.fromkeys(names, value) for value in VALUES]
    chosen += [{**dict.fromkeys(names, 1), name: value} for name in names for value in (0, 3)]
    loops = _loops(schedule)
    for extents in chosen if names else chosen[:1]:
        levels = max(_levels_needed(loops, extents), 1) + 1
        chosen_flags = sorted({0, 1, min(2, levels), levels - 1, levels})
        for flags, same in itertools.product(chosen_flags, same_objects(schedule)):
            world = HaloScenario(
                levels,
                extents,
                _agreeing(shared, same),
                flags,
                schedule.annexed_clean,
                filled=False,
                same=same,
            )
            yield from _with_shallow_fields(schedule, world)


def _agreeing(shared: frozenset[str], same: SameObjects) -> frozenset[str]:
    """Return the data whose dofs cells share, where all names of an object agree about that."""
    return shared.difference(*(names for names in same if not names <= shared))


def _with_shallow_fields(schedule: Schedule, world: HaloScenario) -> Iterator[HaloScenario]:
    """Yield a world, and those where fields have no deeper halos than kernels need themselves.

    Steps may rely on deeper ones; which loops they have extended, schedules know.
    """
    yield world
    if not any(loop.extent.extended for loop in outer_loops(schedule)):
        return
    least = {datum.name: 1 for datum in schedule.all_data}
    for loop in outer_loops(schedule):
        if not loop.extent.extended:
            for part, depth in fields_of_loop(schedule, replace(loop, filled=NOTHING)):
                least[part.datum] = max(least[part.datum], world.number_of(depth))
    names = sorted(least)
    for shallow in (names, names[::2], names[1::2]):
        depths = {name: min(least[name], world.levels) for name in shallow}
        yield replace(world, depths=_of_objects(depths, world))


def _of_objects(depths: Mapping[str, int], world: HaloScenario) -> dict[str, int]:
    """Return `depths` with the deepest of its names for each object that has several names."""
    found = dict(depths)
    for names in world.same:
        deepest = max(depths.get(name, world.levels) for name in names)
        found |= dict.fromkeys(names, deepest)
    return found


def _loops(schedule: Schedule) -> list[tuple[Loop, tuple[KernelCall, ...], int]]:
    """Return the loops with the calls directly in them, and how far these look along a grid."""
    found = []
    for loop in statements(schedule):
        if isinstance(loop, Loop):
            calls = tuple(call for call in loop.body if isinstance(call, KernelCall))
            found.append((loop, calls, max(map(_grid_levels, calls), default=0)))
    return found


def _levels_needed(
    loops: list[tuple[Loop, tuple[KernelCall, ...], int]], extents: Mapping[str, int]
) -> int:
    """Return the depth of halo without which loops make no sense."""
    most = 0
    for loop, calls, along_grid in loops:
        most = max(most, along_grid)
        depth = _depth(loop, extents) if loop.extent.reach.in_halo else 0
        for call in calls:
            most = max(most, _call_levels(call, depth, extents))
    return most


def _grid_levels(call: KernelCall) -> int:
    """Return how far a kernel looks along a grid."""
    shapes = (described.stencil for described in call.kernel.args)
    return max((shape.depth for shape in shapes if isinstance(shape, GridStencil)), default=0)


def _depth(loop: Loop, extents: Mapping[str, int]) -> int:
    terms = loop.extent.depth.terms
    sums = [sum(extents[name] for name in term.names) + max(term.constant, 0) for term in terms]
    return max(0, *sums)


def _call_levels(call: KernelCall, depth: int, extents: Mapping[str, int]) -> int:
    most = depth
    asked = call.kernel.iteration.takes_halo_depth
    for described, actual in zip(call.kernel.args, call.args, strict=True):
        if described.stencil and actual.extent:
            known = integer_value(actual.extent)
            extent = extents[spell(actual.extent)] if known is None else known
            most = max(most, extent if asked else extent + depth)
        if described.mesh is MeshRole.FINE:
            most = max(most, 2 * depth)
    return most


def device_worlds(schedule: Schedule, rng: random.Random) -> Iterator[DeviceWorld]:
    """Yield the worlds where all or nothing is on the device, and a few in between.

    Where a region counts on data that nothing has entered, they are there; a schedule that knows of
    no device runs where there is none.
    """
    if not has_device(schedule):
        yield DeviceWorld()
        return
    names = frozenset(datum.name for datum in schedule.data)
    strict = not any(isinstance(item, EnterData) for item in schedule.body) and device_calls(
        schedule
    )
    for exchanges, same in itertools.product((True, False), same_objects(schedule)):
        yield DeviceWorld(names, names, same, exchanges)
        yield DeviceWorld(names, frozenset(), same, exchanges)
        if strict:
            continue
        yield DeviceWorld(frozenset(), frozenset(), same, exchanges)
        some = frozenset(name for name in sorted(names) if rng.random() < 0.5)
        some = some.union(*(group for group in same if some & group))
        yield DeviceWorld(some, some, same, exchanges)
