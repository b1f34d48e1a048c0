"""Final schedules against the adversaries: nothing stale is read, whatever is so at entry.

Owns `--check`. What a script has pinned is executed where it stands, like anything else. What no
schedule says is beyond an adversary: what a kernel does with its arguments but for its metadata,
and whether an infrastructure keeps its own promises.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from psyclone_storage.analysis.schedules.check import HaloFault, check_halos, prepare
from psyclone_storage.analysis.schedules.check_devices import DeviceFault, check_transfers
from psyclone_storage.analysis.schedules.worlds import device_worlds, typical_worlds
from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.base.records import replace
from psyclone_storage.base.source import Span
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import HaloExchange, KernelCall, Program, Schedule
from psyclone_storage.ir.walk import statements


def check_coherence(program: Program, rules: Rules) -> None:
    """Execute the schedules of `program` against the adversaries.

    Raises:
        InternalError: one reads or promises what is stale; with the invoke, the statement, the
            value, and its place in the algorithm.
    """
    for invoke in program.invokes:
        schedule = invoke.schedule
        problems: list[HaloFault | DeviceFault] = [*_halo_problems(schedule, rules)]
        problems += _device_problems(schedule)
        for found in problems[:1]:
            datum = found.key.datum if isinstance(found, HaloFault) else found.datum
            raise InternalError(
                f"The schedule of '{schedule.name}' is wrong at '{found.uid}': {found.message}",
                _place_of(schedule, found.uid, datum) or invoke.parsed.span,
            )


def _halo_problems(schedule: Schedule, rules: Rules) -> Iterator[HaloFault]:
    if not schedule.distributed:
        return
    shared = frozenset(datum.name for datum in schedule.data) - rules.without_annexed(schedule)
    flagged = rules.knows_clean_halos()
    prepared = prepare(schedule)
    for world in typical_worlds(schedule, shared):
        if flagged or not world.flags:
            yield from check_halos(prepared, replace(world, flagged=flagged))


def _device_problems(schedule: Schedule) -> Iterator[DeviceFault]:
    for world in device_worlds(schedule, random.Random(schedule.name)):
        yield from check_transfers(schedule, world)


def _place_of(schedule: Schedule, uid: str, datum: str) -> Span | None:
    """Return where the algorithm passes `datum` to a call, or to a reader of an exchange."""
    by_uid = {item.uid: item for item in statements(schedule)}
    found = by_uid.get(uid)
    if isinstance(found, HaloExchange) and found.reasons:
        found = by_uid.get(found.reasons[0].reader)
    if not isinstance(found, KernelCall):
        return None
    return next((one.span for one in found.args if one.datum == datum and one.span), found.span)
