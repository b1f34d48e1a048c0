"""What two normal forms of one PSy layer differ in.

Owns the comparison: the work (loops, kernel calls, reductions) must be the same in the same order;
exchanges are compared as sets between one piece of work and the next, halo flags by what they say
after each piece. It knows
nothing of which differences are expected.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest

from differential.normal_form import (
    Event,
    Exchange,
    Flag,
    KernelCall,
    Loop,
    Reduction,
    Routine,
    Start,
    Update,
)

Work = KernelCall | Loop | Reduction


@dataclass(slots=True)
class Step:
    """One piece of work with the exchanges before it and the flag changes after it.

    A routine's first and last steps have no work: they hold what comes before and after all work.
    """

    work: Work | None
    exchanges: Counter[Exchange] = field(default_factory=Counter)
    flags: set[Flag] = field(default_factory=set)


def differences(theirs: Mapping[str, Routine], ours: Mapping[str, Routine]) -> tuple[str, ...]:
    """Return one line for each difference, such as `invoke_0: only theirs: exchange u to 1 ...`."""
    found = [f"{name}: only theirs: routine" for name in theirs if name not in ours]
    found += [f"{name}: only ours: routine" for name in ours if name not in theirs]
    for name in theirs:
        if name in ours:
            lines = _routine_differences(theirs[name], ours[name])
            found += [f"{name}: {line}" for line in lines]
    return tuple(found)


def steps(events: Iterable[Event]) -> list[Step]:
    """Return the work in `events`, each piece with its exchanges and flags."""
    found = [Step(None)]
    waiting: Counter[Exchange] = Counter()
    for event in events:
        match event:
            case Exchange():
                waiting[event] += 1
            case Flag():
                found[-1].flags.add(event)
            case Start():
                pass  # a total may be set anywhere before its loop: compared on its own
            case _:
                found.append(Step(event, waiting))
                waiting = Counter()
    return [*found, Step(None, waiting)]


def _routine_differences(theirs: Routine, ours: Routine) -> Iterator[str]:
    yield from _argument_differences(theirs.arguments, ours.arguments)
    yield from _start_differences(theirs, ours)
    their_flags, our_flags = _Flags(), _Flags()
    *their_steps, their_end = steps(theirs.events)
    *our_steps, our_end = steps(ours.events)
    pairs = [*zip_longest(their_steps, our_steps), (their_end, our_end)]
    for number, (their_step, our_step) in enumerate(pairs):
        if their_step is None or our_step is None:
            side = "ours" if their_step is None else "theirs"
            yield f"step {number}: only {side}: {_label((their_step or our_step).work)}"
            continue
        where = f"step {number} ({_label(our_step.work)})"
        for line in _work_differences(their_step.work, our_step.work):
            yield f"{where}: {line}"
        for side, more in (
            ("theirs", their_step.exchanges - our_step.exchanges),
            ("ours", our_step.exchanges - their_step.exchanges),
        ):
            for exchange in more.elements():
                yield f"{where}: only {side}: {_exchange_label(exchange)}"
        yield from _flag_differences(
            their_flags.after(their_step), our_flags.after(our_step), where
        )


class _Flags:
    """What a routine's fields say of their halos, step by step.

    Each of a step's exchanges and flag changes moves the state of a field: unknown at first, then
    dirty, or clean to a depth. A second `set_dirty` on a dirty field moves nothing.
    """

    def __init__(self) -> None:
        self._states: dict[str, str] = {}

    def after(self, step: Step) -> tuple[dict[str, str], set[str]]:
        """Take a step; return the states after it, and the fields whose flags it changed."""
        for exchange in step.exchanges:
            self._states[exchange.field] = f"clean to {exchange.depth}"
        for flag in sorted(step.flags, key=lambda flag: flag.depth):
            self._states[flag.field] = f"clean to {flag.depth}" if flag.depth else "dirty"
        return dict(self._states), {flag.field for flag in step.flags}


def _flag_differences(
    theirs: tuple[dict[str, str], set[str]], ours: tuple[dict[str, str], set[str]], where: str
) -> Iterator[str]:
    for field_name in sorted(theirs[1] | ours[1]):
        left, right = (states.get(field_name, "unknown") for states in (theirs[0], ours[0]))
        if left != right:
            yield f"{where}: {field_name} is {left} in theirs, {right} in ours"


def _argument_differences(theirs: Mapping[str, str], ours: Mapping[str, str]) -> Iterator[str]:
    for name in sorted(theirs.keys() | ours.keys()):
        if theirs.get(name) != ours.get(name):
            yield f"argument {name}: theirs is {theirs.get(name)}, ours is {ours.get(name)}"


def _start_differences(theirs: Routine, ours: Routine) -> Iterator[str]:
    their_starts, our_starts = _starts(theirs), _starts(ours)
    if their_starts != our_starts:
        yield f"reductions start: theirs from {their_starts}, ours from {our_starts}"


def _starts(routine: Routine) -> list[str]:
    return [f"{e.variable}={e.value}" for e in routine.events if isinstance(e, Start)]


def _work_differences(theirs: Work | None, ours: Work | None) -> Iterator[str]:
    match theirs, ours:
        case Loop(), Loop():
            if (theirs.start, theirs.stop) != (ours.start, ours.stop):
                yield (
                    f"bounds: theirs {theirs.start} to {theirs.stop}, "
                    f"ours {ours.start} to {ours.stop}"
                )
            for their_item, our_item in zip_longest(theirs.body, ours.body):
                yield from _item_differences(their_item, our_item)
        case KernelCall(), KernelCall():
            yield from _item_differences(theirs, ours)
        case _ if theirs != ours:
            yield f"work: theirs {theirs}, ours {ours}"


def _item_differences(
    theirs: KernelCall | Update | None, ours: KernelCall | Update | None
) -> Iterator[str]:
    match theirs, ours:
        case KernelCall(), KernelCall() if theirs.kernel == ours.kernel:
            pairs = zip_longest(theirs.arguments, ours.arguments)
            for position, (their_argument, our_argument) in enumerate(pairs, start=1):
                if their_argument != our_argument:
                    yield f"argument {position}: theirs {their_argument}, ours {our_argument}"
        case _ if theirs != ours:
            yield f"body: theirs {theirs}, ours {ours}"


def _label(work: Work | None) -> str:
    match work:
        case None:
            return "no work"
        case Loop(_, _, (KernelCall(kernel), *_)) | KernelCall(kernel):
            return kernel
        case Loop(_, _, (Update(target), *_)):
            return f"dofs of {target.removesuffix('%data(@)')}"
        case Reduction(variable, operation):
            return f"{operation} of {variable}"
    return str(work)


def _exchange_label(exchange: Exchange) -> str:
    guard = "if dirty" if exchange.guarded else "always"
    return f"exchange {exchange.field} to {exchange.depth} {guard}"
