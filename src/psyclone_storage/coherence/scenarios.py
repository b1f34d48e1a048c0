"""Scenarios for the checkers: sizes, aliases and states at entry.

A scenario is legal: halos are deep enough for the loops, and the runtime allows the state at entry.
Scenarios are independent of the planners.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping

from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.ir import schedule as sch
from psyclone_storage.ir.datum_parts import DatumPart
from psyclone_storage.ir.devices import device_calls, has_device
from psyclone_storage.ir.expr import integer_value, spell
from psyclone_storage.ir.halo_depths import fields_of_loop
from psyclone_storage.ir.kernel import GridStencil, MeshRole
from psyclone_storage.ir.region import NOTHING, Depth
from psyclone_storage.ir.transfer import EnterData
from psyclone_storage.ir.walk import (
    calls_in,
    kernel_calls,
    outer_loops,
    sequential_statements,
    statements,
)

SameObjects = tuple[frozenset[str], ...]
"""Sets of names that mean one object each."""


def same_objects(schedule: sch.Schedule) -> Iterator[SameObjects]:
    """Yield sets of aliases: first none, then sets that together cover all possible pairs.

    All names in a set denote the same object.
    """
    yield ()
    apart = {pair for call in kernel_calls(schedule) for pair in _passed_together(call)}
    may = {
        datum.name: frozenset(
            other for other in datum.may_alias if frozenset((datum.name, other)) not in apart
        )
        for datum in schedule.data
        if datum.may_alias
    }
    left = sorted((one, other) for one, others in may.items() for other in others if one < other)
    while left:
        chosen: list[frozenset[str]] = []
        for pair in left:
            if not any(group.intersection(pair) for group in chosen):
                chosen.append(_grown(frozenset(pair), may, frozenset[str]().union(*chosen)))
        yield tuple(chosen)
        left = [pair for pair in left if not any(group.issuperset(pair) for group in chosen)]


def _grown(
    group: frozenset[str], may: dict[str, frozenset[str]], taken: frozenset[str]
) -> frozenset[str]:
    """Return `group` extended by names that may alias all its members and are not in `taken`."""
    for name in sorted(may.keys() - taken):
        if group <= may[name]:
            group |= {name}
    return group


def _passed_together(call: sch.KernelCall) -> Iterator[frozenset[str]]:
    """Yield pairs of arguments of one call, of which at least one is written."""
    if call.kernel.is_builtin:
        return
    passed = zip(call.kernel.args, call.args, strict=True)
    uses = [(one.datum, described.access.writes) for described, one in passed if one.datum]
    for (first, writes), (second, writes_too) in itertools.combinations(uses, 2):
        if writes or writes_too:
            yield frozenset((first, second))


def representative_parts(
    schedule: sch.Schedule, same: SameObjects
) -> Mapping[DatumPart, DatumPart]:
    """Return, for each part of the names in `same`, the part that represents the object.

    A single field is treated as the first component of a vector.
    """
    found: dict[DatumPart, DatumPart] = {}
    for names in same:
        data = [datum for datum in schedule.data if datum.name in names]
        chosen = max(data, key=lambda datum: datum.vector)
        for datum in data:
            if datum.vector > 1:
                for component in range(1, datum.vector + 1):
                    found[DatumPart(datum.name, component)] = DatumPart(chosen.name, component)
            else:
                one = DatumPart(chosen.name, 1 if chosen.vector > 1 else None)
                found[DatumPart(datum.name, None)] = one
    return found


@dataclass(frozen=True, slots=True)
class HaloScenario:
    """A scenario for halos: sizes, run-time extents and the state at entry.

    - `levels`: halo depth of the mesh. `depths`: depths of fields with shallower halos.
    - `whole`: the depth that generated code uses for the whole halo; by default that of the mesh.
    - `extents`: values of the names in depths.
    - `shared`: data whose dofs are shared between cells.
    - `flags`: number of levels that the run-time flags call clean. `flagged`: whether flags exist.
    - `annexed_clean`: annexed dofs are valid. `filled`: stale values are initialised.
    - `same`: sets of names that denote the same object.
    """

    levels: int
    extents: Mapping[str, int]
    shared: frozenset[str]
    flags: int = 0
    annexed_clean: bool = False
    filled: bool = True
    flagged: bool = True
    depths: Mapping[str, int] = field(default_factory=dict)
    whole: int | None = None
    same: SameObjects = ()

    def depth_of(self, datum: str) -> int:
        """Return the halo depth of a field."""
        return self.depths.get(datum, self.levels)

    def number_of(self, depth: Depth) -> int:
        """Return the number of levels of `depth` in this scenario."""
        most, whole = 0, self.levels if self.whole is None else self.whole
        for term in depth.terms:
            levels = term.constant + (whole if term.whole else 0)
            most = max(most, levels + sum(self.extents[name] for name in term.names))
        return most


@dataclass(frozen=True, slots=True)
class DeviceScenario:
    """A scenario for a device: its state at entry.

    `present` are the objects on the device, `newer` those of them whose host copy is stale. Names
    in one set of `same` denote the same object and must agree. With `exchanges`, guarded halo
    exchanges happen.
    """

    present: frozenset[str] = frozenset()
    newer: frozenset[str] = frozenset()
    same: tuple[frozenset[str], ...] = ()
    exchanges: bool = True


@dataclass(frozen=True, slots=True)
class StorageScenario:
    """A scenario for storages: the state at entry.

    `on_host` and `on_device` are the objects with valid copies there. Names in one set of `same`
    denote the same object and must agree. With `exchanges`, guarded exchanges happen. With `wide`,
    fields have values beyond their regions. `all_points` is the metadata name of the set of
    internal and boundary points.
    """

    on_host: frozenset[str] = frozenset()
    on_device: frozenset[str] = frozenset()
    same: tuple[frozenset[str], ...] = ()
    exchanges: bool = True
    wide: bool = False
    all_points: str = ""


VALUES = (0, 1, 2, 7)


def halo_scenarios(schedule: sch.Schedule, shared: frozenset[str]) -> Iterator[HaloScenario]:
    """Yield scenarios with all combinations of extents and flags and minimal halo depths."""
    names = sorted(extent_names(schedule))
    loops = _loops(schedule)
    aliases = [(same, _agreeing(shared, same)) for same in same_objects(schedule)]
    are_extended = any(loop.extent.extended for loop in outer_loops(schedule))
    for values in itertools.product(VALUES, repeat=len(names)):
        extents = dict(zip(names, values, strict=True))
        least = max(_levels_needed(loops, extents), 1)
        for levels in (least, least + 2):
            for flags in range(levels + 1):
                for filled, (same, agreeing) in itertools.product((True, False), aliases):
                    scenario = HaloScenario(
                        levels,
                        extents,
                        agreeing,
                        flags,
                        schedule.annexed_clean,
                        filled,
                        same=same,
                    )
                    yield scenario
                    if are_extended:
                        yield from _with_shallow_fields(schedule, scenario)


def typical_halo_scenarios(
    schedule: sch.Schedule, shared: frozenset[str]
) -> Iterator[HaloScenario]:
    """Yield a small set of scenarios that detects most mistakes.

    Halos are uninitialised. Extents are equal or differ in one. Flags call zero, one or two levels
    clean, or all, or all but one. The number of scenarios is linear in the number of extents.
    """
    names = sorted(extent_names(schedule))
    chosen = [dict.fromkeys(names, value) for value in VALUES]
    chosen += [{**dict.fromkeys(names, 1), name: value} for name in names for value in (0, 3)]
    loops = _loops(schedule)
    aliases = [(same, _agreeing(shared, same)) for same in same_objects(schedule)]
    are_extended = any(loop.extent.extended for loop in outer_loops(schedule))
    for extents in chosen if names else chosen[:1]:
        levels = max(_levels_needed(loops, extents), 1) + 1
        chosen_flags = sorted({0, 1, min(2, levels), levels - 1, levels})
        for flags, (same, agreeing) in itertools.product(chosen_flags, aliases):
            scenario = HaloScenario(
                levels,
                extents,
                agreeing,
                flags,
                schedule.annexed_clean,
                filled=False,
                same=same,
            )
            yield scenario
            if are_extended:
                yield from _with_shallow_fields(schedule, scenario)


def _agreeing(shared: frozenset[str], same: SameObjects) -> frozenset[str]:
    """Return the data with shared dofs for which all names of an object agree."""
    return shared.difference(*(names for names in same if not names <= shared))


def _with_shallow_fields(schedule: sch.Schedule, scenario: HaloScenario) -> Iterator[HaloScenario]:
    """Yield variants of a scenario in which fields have the minimal halo depths for kernels.

    Steps may require deeper halos; loops record whether a step has extended them.
    """
    least = {datum.name: 1 for datum in schedule.all_data}
    for loop in outer_loops(schedule):
        if not loop.extent.extended:
            for part, depth in fields_of_loop(schedule, replace(loop, filled=NOTHING)):
                least[part.datum] = max(least[part.datum], scenario.number_of(depth))
    names = sorted(least)
    for shallow in (names, names[::2], names[1::2]):
        depths = {name: min(least[name], scenario.levels) for name in shallow}
        yield replace(scenario, depths=_of_objects(depths, scenario))


def _of_objects(depths: Mapping[str, int], scenario: HaloScenario) -> dict[str, int]:
    """Return `depths` with the same (maximum) depth for all names of one object."""
    found = dict(depths)
    for names in scenario.same:
        deepest = max(depths.get(name, scenario.levels) for name in names)
        found |= dict.fromkeys(names, deepest)
    return found


def _loops(schedule: sch.Schedule) -> list[tuple[sch.Loop, tuple[sch.KernelCall, ...], int]]:
    """Return each loop with its direct calls and their maximum stencil depth on a grid."""
    found = []
    for loop in statements(schedule):
        if isinstance(loop, sch.Loop):
            calls = tuple(call for call in loop.body if isinstance(call, sch.KernelCall))
            found.append((loop, calls, max(map(_grid_levels, calls), default=0)))
    return found


def _levels_needed(
    loops: list[tuple[sch.Loop, tuple[sch.KernelCall, ...], int]], extents: Mapping[str, int]
) -> int:
    """Return the minimal halo depth for which the loops are legal."""
    most = 0
    for loop, calls, along_grid in loops:
        most = max(most, along_grid)
        depth = _depth(loop, extents) if loop.extent.reach.in_halo else 0
        for call in calls:
            most = max(most, _call_levels(call, depth, extents))
    return most


def _grid_levels(call: sch.KernelCall) -> int:
    """Return the maximum stencil depth of a kernel on a structured grid."""
    shapes = (described.stencil for described in call.kernel.args)
    return max((shape.depth for shape in shapes if isinstance(shape, GridStencil)), default=0)


def _depth(loop: sch.Loop, extents: Mapping[str, int]) -> int:
    terms = loop.extent.depth.terms
    sums = [sum(extents[name] for name in term.names) + max(term.constant, 0) for term in terms]
    return max(0, *sums)


def _call_levels(call: sch.KernelCall, depth: int, extents: Mapping[str, int]) -> int:
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


def device_scenarios(schedule: sch.Schedule, rng: random.Random) -> Iterator[DeviceScenario]:
    """Yield scenarios with all or no data on the device, and some mixtures.

    If a region requires data that no statement enters, they are present. A schedule without device
    regions has a single scenario without a device.
    """
    if not has_device(schedule):
        yield DeviceScenario()
        return
    names = frozenset(datum.name for datum in schedule.data)
    strict = not any(isinstance(item, EnterData) for item in schedule.body) and device_calls(
        schedule
    )
    for exchanges, same in itertools.product((True, False), same_objects(schedule)):
        yield DeviceScenario(names, names, same, exchanges)
        yield DeviceScenario(names, frozenset(), same, exchanges)
        if strict:
            continue
        yield DeviceScenario(frozenset(), frozenset(), same, exchanges)
        some = frozenset(name for name in sorted(names) if rng.random() < 0.5)
        some = some.union(*(group for group in same if some & group))
        yield DeviceScenario(some, some, same, exchanges)


def storage_scenarios(schedule: sch.Schedule, all_points: str = "") -> Iterator[StorageScenario]:
    """Yield scenarios with values on the host, the device or both, and all other options."""
    names = frozenset(datum.name for datum in schedule.data)
    nothing: frozenset[str] = frozenset()
    aliases = tuple(same_objects(schedule))
    for here, there in ((names, nothing), (nothing, names), (names, names)):
        for same in aliases:
            for exchanges in (True, False):
                for wide in (True, False):
                    yield StorageScenario(here, there, same, exchanges, wide, all_points)


def extent_names(schedule: sch.Schedule) -> frozenset[str]:
    """Return the names of run-time extents for which a scenario needs values."""
    names: set[str] = set()
    for item in sequential_statements(schedule):
        if isinstance(item, sch.HaloExchange):
            names |= names_in_depth(item.depth)
        elif isinstance(item, sch.MarkHalo):
            names |= names_in_depth(item.clean)
        elif isinstance(item, sch.FillHalo):
            names |= names_in_depth(item.depth) | names_in_depth(item.beyond)
        elif isinstance(item, sch.Loop):
            names |= {name for inner in calls_in(item) for name in names_of_call(*inner)}
    return frozenset(names)


def names_of_call(loop: sch.Loop, call: sch.KernelCall) -> set[str]:
    """Return the names of run-time extents in a call and its loop."""
    extents = (actual.extent for actual in call.args)
    spelled = {spell(expr) for expr in extents if expr and integer_value(expr) is None}
    return spelled | names_in_depth(loop.computed.depth)


def names_in_depth(depth: Depth) -> set[str]:
    """Return the names of run-time extents in a depth."""
    return {name for term in depth.terms for name in term.names}
