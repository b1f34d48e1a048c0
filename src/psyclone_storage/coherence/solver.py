"""Coherence solver: a forward analysis that inserts operations to keep replicas valid.

The solver processes the uses of data in order and tracks a state for each part. If a use needs a
replica that may be stale, the solver makes the replica valid as late as possible. Then it applies
the effect of the use. `tables` defines the effect of each event on a replica.

Subclasses handle halos (`halos`), host and device memory (`transfers`) and storages
(`storage_access`). They define the state at entry, the requirements and effects of a use, and the
inserted operations.
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
    """Forward analysis of a schedule; tracks a state for each part of the data."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self.aliases = alias_parts(schedule)
        self.states: dict[DatumPart, State] = {}

    def state(self, part: DatumPart) -> State:
        """Return the current state of a part; initially its state at entry."""
        return self.states[part] if part in self.states else self.entry(part)

    def with_aliases(self, part: DatumPart) -> tuple[DatumPart, ...]:
        """Return a part and its possible aliases."""
        return (part, *self.aliases[part.datum])

    def reach(self, place: str, uses: Sequence[OneUse]) -> None:
        """Insert before the statement `place` the operations that `uses` need.

        Then apply the effects of the uses.
        """
        lacking = [use for use in uses if self.lacks(place, use)]
        self.prepare(place, uses, lacking)
        for use in lacking:
            self.make_right(place, use)
        for use in uses:
            self.apply(place, use)

    # ------------------------------------------------------------------ the instance

    def entry(self, part: DatumPart) -> State:
        """Return the state of a part before the invoke."""
        raise NotImplementedError

    def lacks(self, place: str, use: OneUse) -> bool:
        """Return whether a use needs a replica that may be stale."""
        raise NotImplementedError

    def prepare(self, place: str, uses: Sequence[OneUse], lacking: Sequence[OneUse]) -> None:
        """Insert operations that must precede all others for `uses`."""

    def make_right(self, place: str, use: OneUse) -> None:
        """Insert an operation before `place` that makes the replica for `use` valid."""
        raise NotImplementedError

    def apply(self, place: str, use: OneUse) -> None:
        """Update the states for the effect of a use."""
        raise NotImplementedError
