"""Effects of code on the valid copies of an array: functions from the copies before it.

A set of valid copies is a number: 1 for the host, 2 for the device, 3 for both, 0 for neither, and
`WRONG` if the code needs a copy that is not valid. An effect contains one such number for each set
before the code. All effects are monotone: more valid copies before lead to as many or more after.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import NamedTuple, TypeAlias

from psyclone_storage.ir.device_program import Contract, CopyUse, Valid
from psyclone_storage.ir.transfer import Side

CopyEffect: TypeAlias = tuple[int, int, int, int]

WRONG, _CACHED = -1, 1 << 14
NOTHING: CopyEffect = (0, 1, 2, 3)
"""The effect of code that does not use the array."""
_NEVER: CopyEffect = (WRONG, WRONG, WRONG, WRONG)

COPIES = {Valid.HOST: 1, Valid.DEVICE: 2, Valid.BOTH: 3}
"""The numbers of the states in contracts."""
_BITS = {Side.HOST: 1, Side.DEVICE: 2}


class BlockOutcome(NamedTuple):
    """The effect of a block at its end, None if that is not reached, and where it jumps to."""

    after: CopyEffect | None
    jumps: tuple[tuple[tuple[int | None, bool], CopyEffect], ...] = ()


PASSED = BlockOutcome(NOTHING)
"""The outcome of a block that does not use the array."""


@cache
def starting_with(copies: int) -> CopyEffect:
    """Return the effect of the start of a procedure that is entered only with some copies."""
    found = [copies if one == copies else WRONG for one in NOTHING]
    return found[0], found[1], found[2], found[3]


@cache
def effect_of_use(side: Side, use: CopyUse) -> CopyEffect:
    """Return the effect of a use on one side."""
    bit = _BITS[side]

    def after(copies: int) -> int:
        if use.needs and not copies & bit:
            return WRONG
        if not use.writes:
            return copies
        return 3 if use.undefined else bit

    return after(0), after(1), after(2), after(3)


@cache
def effect_of_transfer(to: Side) -> CopyEffect:
    """Return the effect of a transfer, which replaces the values on a side."""
    return (0, 3, 0, 3) if to is Side.DEVICE else (0, 0, 3, 3)


@cache
def after_both(first: CopyEffect, second: CopyEffect) -> CopyEffect:
    """Return the effect of two parts of code, one after the other."""
    after = [WRONG if one < 0 else second[one] for one in first]
    return after[0], after[1], after[2], after[3]


@cache
def one_of(first: CopyEffect, second: CopyEffect) -> CopyEffect:
    """Return the effect of code of which one of two parts is executed."""
    pairs = zip(first, second, strict=True)
    both = [WRONG if one < 0 or other < 0 else one & other for one, other in pairs]
    return both[0], both[1], both[2], both[3]


@cache
def of_a_part(effect: CopyEffect) -> CopyEffect:
    """Return the effect on an array of code that uses a part: the rest keeps its copies."""
    return one_of(effect, NOTHING)


@cache
def at_iterations(body: CopyEffect) -> CopyEffect:
    """Return the valid copies at the start of each iteration of a loop, and after the last."""

    def start(copies: int) -> int:
        while copies >= 0:
            after = body[copies]
            if after >= 0 and after & copies == copies:
                break
            copies = WRONG if after < 0 else copies & after
        return copies

    return start(0), start(1), start(2), start(3)


@cache
def is_at_least(effect: CopyEffect, other: CopyEffect) -> bool:
    """Return whether an effect leaves all copies valid that another leaves valid."""
    return all(
        theirs < 0 or (own >= 0 and own & theirs == theirs)
        for own, theirs in zip(effect, other, strict=True)
    )


def leaves_as_much(outcome: BlockOutcome, other: BlockOutcome) -> bool:
    """Return whether an outcome leaves all copies valid that another leaves valid."""
    if outcome.after is None or other.after is None:
        if outcome.after is not other.after:
            return False
    elif not is_at_least(outcome.after, other.after):
        return False
    pairs = zip(outcome.jumps, other.jumps, strict=False)
    return len(outcome.jumps) == len(other.jumps) and all(
        own[0] == theirs[0] and is_at_least(own[1], theirs[1]) for own, theirs in pairs
    )


@lru_cache(maxsize=_CACHED)
def of_choice(first: BlockOutcome, second: BlockOutcome) -> BlockOutcome | None:
    """Return the outcome of a choice of two blocks, None if it is always wrong."""
    if first.after is None or second.after is None:
        after = second.after if first.after is None else first.after
    else:
        after = one_of(first.after, second.after)
    return _checked(after, (*first.jumps, *second.jumps), (first, second))


@lru_cache(maxsize=_CACHED)
def of_sequence(first: BlockOutcome, second: BlockOutcome) -> BlockOutcome | None:
    """Return the outcome of two parts of a block, None if it is always wrong."""
    before = first.after
    if before is None:
        return first
    after = None if second.after is None else after_both(before, second.after)
    more = tuple((target, after_both(before, effect)) for target, effect in second.jumps)
    return _checked(after, (*first.jumps, *more), (first,))


@lru_cache(maxsize=_CACHED)
def of_loop(body: BlockOutcome, loop: int) -> BlockOutcome | None:
    """Return the outcome of a loop, None if it is always wrong."""
    jumps = dict(body.jumps)
    again, leave = jumps.pop((loop, True), None), jumps.pop((loop, False), None)
    ends = [one for one in (body.after, again) if one is not None]
    start = NOTHING
    if ends:
        start = at_iterations(one_of(ends[0], ends[-1]))
    inside = tuple((target, after_both(start, effect)) for target, effect in jumps.items())
    after = start if leave is None else one_of(start, after_both(start, leave))
    return _checked(after, inside, ())


def at_exit(outcome: BlockOutcome) -> CopyEffect:
    """Return the effect of a procedure whose body has an outcome."""
    every = [effect for _, effect in outcome.jumps]
    every += [] if outcome.after is None else [outcome.after]
    found = every[0]
    for one in every[1:]:
        found = one_of(found, one)
    return found


def _checked(
    after: CopyEffect | None,
    jumps: tuple[tuple[tuple[int | None, bool], CopyEffect], ...],
    parts: tuple[BlockOutcome, ...],
) -> BlockOutcome | None:
    """Return an outcome that is wrong as a whole where one of its effects is wrong."""
    if not jumps and all(one.after is not None for one in parts):
        return None if after == _NEVER else BlockOutcome(after)
    found: dict[tuple[int | None, bool], CopyEffect] = {}
    for target, effect in jumps:
        found[target] = one_of(found[target], effect) if target in found else effect
    ends = [one.after for one in parts if one.after is not None]
    every = [*found.values(), *ends, *([] if after is None else [after])]
    good = [all(effect[at] >= 0 for effect in every) for at in range(4)]
    if not any(good):
        return None

    def limited(effect: CopyEffect) -> CopyEffect:
        kept = [one if fine else WRONG for one, fine in zip(effect, good, strict=True)]
        return kept[0], kept[1], kept[2], kept[3]

    ordered = sorted(found.items(), key=lambda one: (one[0][0] or 0, one[0][1]))
    own = tuple((target, limited(effect)) for target, effect in ordered)
    return BlockOutcome(None if after is None else limited(after), own)


def contracts_of(effect: CopyEffect) -> Iterator[Contract]:
    """Yield the contracts that an effect allows."""
    for entry, before in COPIES.items():
        for after, copies in COPIES.items():
            if effect[before] >= 0 and effect[before] & copies == copies:
                yield Contract(entry, after)


def effect_of(contracts: Iterable[Contract]) -> CopyEffect:
    """Return the effect of a procedure of which only the contracts are known."""
    found = [WRONG] * len(NOTHING)
    for one in contracts:
        before = COPIES[one.entry]
        found[before] = max(found[before], COPIES[one.exit])
    return found[0], found[1], found[2], found[3]
