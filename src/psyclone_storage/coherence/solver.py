"""The coherence solver: a forward analysis that makes replicas right before a statement uses them.

The solver passes over the uses of a schedule in order, with a state for each part of the data. If a
replica that a use needs may be stale there, it makes the replica right, as late as possible, and
then applies what the use does to the replicas. `tables` define what an event does to one replica.

A subclass is an instance for one kind of replicas: halos (`halos`), memories of host and device
(`transfers`), and storages (`storage_access`). It defines the state at entry, what a use lacks,
what makes that right, and what the use leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

from psyclone_storage.ir.datum_parts import DatumPart, alias_parts
from psyclone_storage.ir.schedule import Schedule

OUTSIDE = ""
"""The writer of a value that was made before the invoke."""


class ReplicaUse(Protocol):
    """A use of one part of the data."""

    @property
    def part(self) -> DatumPart:
        """The part of the data."""
        ...


State = TypeVar("State")
OneUse = TypeVar("OneUse", bound=ReplicaUse)


class Solver(Generic[State, OneUse]):
    """A forward analysis of a schedule: what is known of each part of the data."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self.aliases = alias_parts(schedule)
        self.states: dict[DatumPart, State] = {}

    def state(self, part: DatumPart) -> State:
        """Return what is known of a part, at entry if no statement has used it."""
        return self.states[part] if part in self.states else self.entry(part)

    def with_aliases(self, part: DatumPart) -> tuple[DatumPart, ...]:
        """Return a part and those that may be the same object."""
        return (part, *self.aliases[part.datum])

    def reach(self, place: str, uses: Sequence[OneUse]) -> None:
        """Make right before the statement `place` what `uses` lack, then apply them."""
        lacking = [use for use in uses if self.lacks(place, use)]
        self.prepare(place, uses, lacking)
        for use in lacking:
            self.make_right(place, use)
        for use in uses:
            self.apply(place, use)

    # ------------------------------------------------------------------ the instance

    def entry(self, part: DatumPart) -> State:
        """Return what is known of a part before the invoke."""
        raise NotImplementedError

    def lacks(self, place: str, use: OneUse) -> bool:
        """Return whether a use needs a replica that may be stale."""
        raise NotImplementedError

    def prepare(self, place: str, uses: Sequence[OneUse], lacking: Sequence[OneUse]) -> None:
        """Do what must precede anything that makes replicas right for `uses`."""

    def make_right(self, place: str, use: OneUse) -> None:
        """Insert before `place` what makes the replica right that a use needs."""
        raise NotImplementedError

    def apply(self, place: str, use: OneUse) -> None:
        """Change the states to those after a use."""
        raise NotImplementedError
