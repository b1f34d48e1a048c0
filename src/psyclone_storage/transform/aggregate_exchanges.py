"""Aggregation of adjacent halo exchanges: one message to each neighbour, or overlapped messages.

The pass runs on every schedule after its recipe if the settings request it. It does not change
results: each field is exchanged at the same position and to the same depth, and the
infrastructure tests whether its halo is clean. The pass determines the groups; the back end
generates the calls.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from itertools import groupby

from psyclone_storage.base.records import replace
from psyclone_storage.ir.aliases import aliases_in
from psyclone_storage.ir.schedule import HaloExchange, Phase, ProfileRegion, Schedule, Statement
from psyclone_storage.ir.walk import sequential_statements

Runs = Mapping[str, int]
"""The number of the run that each exchange is in: those of one phase with nothing between them."""

Groups = Mapping[str, tuple[str, ...]]
"""The exchanges that are communicated together, under the name of each of them."""


def with_joint_exchanges(
    schedule: Schedule, *, halves: bool = True, overlapped: bool = False
) -> Schedule:
    """Return `schedule` with joint exchanges; the function is idempotent.

    With `halves`, the starts and the ends of split exchanges can be joint too. With `overlapped`,
    the exchanges of a group do not share messages: all start before the first one finishes. Such a
    group contains complete exchanges only, of fields of any type that cannot be the same object.

    A group contains adjacent exchanges of fields of the same type that involve no device. Starts
    are joint only if their ends are. A group is placed at the position of its first exchange.

        before: loop1, halo(u)@loop2, halo(n)@loop2, halo(v)@loop2, loop2   [n holds integers]
        after:  loop1, halo(u)@loop2 and halo(v)@loop2, halo(n)@loop2, loop2
    """
    runs = dict(_runs(schedule.body, 0))
    if overlapped:
        groups = _overlapped_groups(schedule, runs)
    else:
        groups = _groups(schedule, runs, halves=halves)
    body = tuple(_joined(schedule.body, runs, groups, overlapped=overlapped))
    return replace(schedule, body=body)


def _runs(body: tuple[Statement, ...], first: int) -> Iterator[tuple[str, int]]:
    """Yield each exchange in `body` with the number of its sequence of adjacent exchanges."""
    number = first
    for phase, items in groupby(body, key=_phase):
        for item in items:
            if isinstance(item, ProfileRegion):
                inside = list(_runs(item.body, number + 1))
                yield from inside
                number += len(inside) + 1
            elif phase is not None:
                yield item.uid, number
        number += 1


def _phase(item: Statement) -> Phase | None:
    return item.phase if isinstance(item, HaloExchange) else None


def _groups(schedule: Schedule, runs: Runs, *, halves: bool) -> Groups:
    """Return the groups of exchanges that can share messages, without single ones."""
    partners = _partners(schedule)
    alike: dict[Hashable, dict[tuple[str, int | None], str]] = defaultdict(dict)
    for item in sequential_statements(schedule):
        if not isinstance(item, HaloExchange) or item.uid not in runs:
            continue
        if item.fetched or item.sent or not (halves or item.phase is Phase.WHOLE):
            continue
        ends = (item.uid, partners.get(item.uid, item.uid))
        key = (item.phase, schedule.datum(item.datum).type, *(runs.get(uid) for uid in ends))
        alike[key].setdefault((item.datum, item.component), item.uid)
    return _by_member(tuple(members.values()) for members in alike.values())


def _overlapped_groups(schedule: Schedule, runs: Runs) -> Groups:
    """Return the groups of exchanges that can be in progress at the same time."""
    aliases = aliases_in(schedule)
    in_progress: dict[int, list[HaloExchange]] = defaultdict(list)
    for item in sequential_statements(schedule):
        if not isinstance(item, HaloExchange) or item.uid not in runs:
            continue
        if item.fetched or item.sent or item.phase is not Phase.WHOLE:
            continue
        members = in_progress[runs[item.uid]]
        if not any(aliases.overlap(item, member) for member in members):
            members.append(item)
    return _by_member(tuple(item.uid for item in members) for members in in_progress.values())


def _by_member(groups: Iterable[tuple[str, ...]]) -> Groups:
    """Return the groups of several exchanges under the name of each member."""
    return {uid: group for group in groups if len(group) > 1 for uid in group}


def _partners(schedule: Schedule) -> Mapping[str, str]:
    """Return the end of each started exchange, and the start of each ended one."""
    partners: dict[str, str] = {}
    started: dict[tuple[str, int | None], str] = {}
    for item in sequential_statements(schedule):
        if not isinstance(item, HaloExchange):
            continue
        key = (item.datum, item.component)
        if item.phase is Phase.START:
            started[key] = item.uid
        elif item.phase is Phase.FINISH and key in started:
            partners[item.uid] = started.pop(key)
            partners[partners[item.uid]] = item.uid
    return partners


def _joined(
    body: tuple[Statement, ...], runs: Runs, groups: Groups, *, overlapped: bool
) -> Iterator[Statement]:
    """Yield `body` with the exchanges of each group next to each other."""

    def run(item: Statement) -> Hashable:
        number = runs.get(item.uid)
        return item.uid if number is None else number

    for _, items in groupby(body, key=run):
        together = list(items)
        waiting = {item.uid: item for item in together}
        for item in together:
            if isinstance(item, ProfileRegion):
                inside = _joined(item.body, runs, groups, overlapped=overlapped)
                yield replace(item, body=tuple(inside))
            elif not isinstance(item, HaloExchange):
                yield item
            else:
                group = groups.get(item.uid, ())
                members = [waiting.pop(uid, None) for uid in group or (item.uid,)]
                yield from (
                    replace(member, joint=group, overlapped=overlapped and bool(group))
                    for member in members
                    if isinstance(member, HaloExchange)
                )
