"""What must hold of a schedule after any step, whatever the step itself has checked.

Two things can go wrong by a change elsewhere: a loop may come to touch a halo while its exchange
is under way, and an exchange may become necessary between the loops of one construct.
"""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.analysis.touch import (
    Key,
    Touch,
    aliases_of,
    data_by_name,
    key_text,
    touches_of,
)
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Construct, HaloExchange, Loop, Phase, Schedule
from psyclone_storage.ir.walk import in_sequence, statements
from psyclone_storage.transform.step import Reasons, place_of


def check_flights(schedule: Schedule, rules: Rules) -> Reasons:
    """Return which loops touch a halo between the start and the finish of its exchange (T031).

    Owned dofs may be read meanwhile: that is what an asynchronous exchange is for. Replicas
    may not, not even clean ones, for the exchange writes to them.
    """
    data = data_by_name(schedule)
    aliases = aliases_of(data)
    flying: dict[Key, HaloExchange] = {}
    problems: list[Diagnostic] = []
    for item in in_sequence(schedule):
        if isinstance(item, HaloExchange):
            _take_off_or_land(flying, item)
        elif isinstance(item, Loop) and flying:
            busy = dict(flying)
            for key, exchange in flying.items():
                busy |= dict.fromkeys(aliases[key.datum], exchange)
            touches = touches_of(schedule, item, rules, data)
            problems += [
                _touched(item, touch, busy[touch.key]) for touch in touches if touch.key in busy
            ]
    return tuple(problems)


def _take_off_or_land(flying: dict[Key, HaloExchange], exchange: HaloExchange) -> None:
    key = Key(exchange.datum, exchange.component)
    if exchange.phase is Phase.START:
        flying[key] = exchange
    elif exchange.phase is Phase.FINISH:
        flying.pop(key, None)


def _touched(loop: Loop, touch: Touch, exchange: HaloExchange) -> Diagnostic:
    need = touch.need
    how = f"reads it {need.why}" if need else "writes it"
    return Diagnostic(
        "T031",
        f"The exchange '{exchange.uid}' of '{key_text(touch.key)}' would run while '{loop.uid}'"
        f" {how}.",
        place_of(loop),
        hint="Keep the loop before the start or after the finish.",
    )


def check_constructs(schedule: Schedule) -> Reasons:
    """Return which exchanges would happen inside of a construct, where threads run (T025)."""
    return tuple(
        Diagnostic(
            "T025",
            f"'{item.uid}' has to happen inside of '{construct.uid}': a loop of it writes"
            f" '{item.datum}', and a later one reads its halo.",
            place_of(construct),
            hint="End the region before the loop that reads, or let the first loop compute its "
            "halo, too.",
        )
        for construct in _teams(schedule)
        for item in statements(construct)
        if isinstance(item, HaloExchange)
    )


def check_finished(schedule: Schedule) -> Reasons:
    """Return which work lacks the threads that it is dealt out to, or is dealt out to none."""
    return (*_without_team(schedule), *_repeated(schedule))


def _repeated(schedule: Schedule) -> Iterator[Diagnostic]:
    """Yield the loops that every thread of a region would do (T027)."""
    for construct in _teams(schedule):
        if construct.directive.shares_work:
            continue
        for loop in _not_shared(construct):
            yield Diagnostic(
                "T027",
                f"Every thread of '{construct.uid}' would do all of '{loop.uid}'.",
                place_of(loop),
                hint="Apply 'openmp-do' to it.",
            )


def _not_shared(block: Loop | Construct) -> Iterator[Loop]:
    for item in block.body:
        if isinstance(item, Loop):
            inside = any(isinstance(one, Loop | Construct) for one in item.body)
            yield from _not_shared(item) if inside else (item,)


def _without_team(schedule: Schedule) -> Reasons:
    """Return which constructs lack the team of threads that they deal work out to (T026)."""
    inside = {item.uid for construct in _teams(schedule) for item in statements(construct)}
    return tuple(
        Diagnostic(
            "T026",
            f"'{item.uid}' deals out iterations, but nothing starts a team of threads.",
            place_of(item),
            hint="Apply 'openmp-parallel' around it, or 'openmp-parallel-do' instead of it.",
        )
        for item in statements(schedule)
        if isinstance(item, Construct)
        if not item.directive.opens_threads and item.uid not in inside
    )


def _teams(schedule: Schedule) -> Iterator[Construct]:
    for item in statements(schedule):
        if isinstance(item, Construct) and item.directive.opens_threads:
            yield item
