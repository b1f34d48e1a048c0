"""A race detector based on the happens-before relation, independent of the execution order.

Each stream has a clock, and so has the host. An operation happens after all previous operations in
its stream, after the operations for which it waits, and after all operations that the host knew to
be complete when it submitted the operation; the host knows those for which it has waited. Two uses
of the same bytes, one of which writes, must be ordered. Otherwise `RaceError` is raised when the
second is requested, even if the stand-in would have executed them in the intended order.

    with watched() as trace:
        ...
    assert trace.at_once("copy", "kernel")

Reference: L. Lamport, "Time, clocks, and the ordering of events in a distributed system", 1978.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

Clock = dict[int, int]
HOST = 0


class RaceError(AssertionError):
    """Be a use of memory that is in order with nothing that makes it safe."""


class Use(NamedTuple):
    """Be the use of some bytes: the first, the number, and whether they are written."""

    start: int
    size: int
    wrote: bool


class Piece(NamedTuple):
    """Be a piece of work: what it is, where it stands, what it comes after, what it uses."""

    what: str
    agent: int
    position: int
    clock: Clock
    uses: tuple[Use, ...]

    def before(self, clock: Clock) -> bool:
        """Say whether this is done where `clock` is."""
        return clock.get(self.agent, 0) >= self.position


@dataclass(slots=True)
class Trace:
    """Keep all that was done, and what the host knows."""

    pieces: list[Piece] = field(default_factory=list)
    host: Clock = field(default_factory=lambda: {HOST: 0})

    def at_once(self, one: str, other: str) -> list[tuple[Piece, Piece]]:
        """Return the pairs of pieces of two kinds that nothing keeps from being done at once."""
        return [
            (a, b)
            for a in self.pieces
            for b in self.pieces
            if (a.what, b.what) == (one, other) and not a.before(b.clock) and not b.before(a.clock)
        ]

    def add(self, piece: Piece) -> None:
        """Note a piece of work. Raises `RaceError` for one that is not in order."""
        for use in piece.uses:
            for other in self.pieces:
                if not other.before(piece.clock) and any(_clash(use, old) for old in other.uses):
                    raise RaceError(
                        f"{piece.what} of agent {piece.agent:#x} and {other.what} of agent "
                        f"{other.agent:#x} use the same {use.size} B in no order."
                    )
        self.pieces.append(piece)

    def learn(self, clock: Clock) -> None:
        """Note that the host has waited for all that `clock` says."""
        _join(self.host, clock)

    def host_uses(self, start: int, size: int, *, wrote: bool) -> None:
        """Note that the host uses bytes, from now on."""
        self.host[HOST] += 1
        uses = (Use(start, size, wrote),)
        self.add(Piece("host", HOST, self.host[HOST], dict(self.host), uses))


class _Watch:
    def __init__(self) -> None:
        self.trace: Trace | None = None


WATCH = _Watch()


@contextmanager
def watched() -> Iterator[Trace]:
    """Look for races in a block; return the trace of what is done there."""
    WATCH.trace = Trace()
    try:
        yield WATCH.trace
    finally:
        WATCH.trace = None


def put(what: str, agent: int, position: int, clocks: list[Clock], uses: Any) -> Clock:
    """Return the clock of a piece of work that comes after `clocks` and after what the host knows.

    Raises `RaceError`.
    """
    clock: Clock = {}
    trace = WATCH.trace
    for other in (*clocks, trace.host if trace is not None else {}):
        _join(clock, other)
    clock[agent] = position
    if trace is not None and uses:
        trace.add(Piece(what, agent, position, clock, tuple(Use(*use) for use in uses)))
    return clock


def learn(clock: Clock) -> None:
    """Note what the host has waited for."""
    if WATCH.trace is not None:
        WATCH.trace.learn(clock)


def _join(clock: Clock, other: Clock) -> None:
    for agent, position in other.items():
        clock[agent] = max(clock.get(agent, 0), position)


def _clash(one: Use, other: Use) -> bool:
    overlap = one.start < other.start + other.size and other.start < one.start + one.size
    return overlap and (one.wrote or other.wrote)
