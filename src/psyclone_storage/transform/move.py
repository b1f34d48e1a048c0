"""Moving of statements within their body."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.analysis.schedules.order import check_move
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import HaloExchange, Schedule, Statement
from psyclone_storage.ir.walk import find, place_near, replaced
from psyclone_storage.transform.halos import without_halos
from psyclone_storage.transform.step import CheckedStep, StepPlace, check_present


@dataclass(frozen=True, slots=True)
class MoveStatement(CheckedStep):
    """Move a statement to just before, or with `after` just after, the statement `target`.

    A moved halo exchange becomes pinned: it stays at its new position. Other exchanges are planned
    again and never prevent a move.

    Rejected if there is a dependence, in either direction, between the statement and one that it
    passes (PSyclone issue 220: components of a field vector are distinguished), and if a loop would
    access a halo during its exchange.

    before: loop1, start(halo(u)@loop2), finish(halo(u)@loop2), loop2
    after:  start(halo(u)@loop2), loop1, finish(halo(u)@loop2), loop2
    """

    name: ClassVar[str] = "move"

    statement: str
    target: str
    after: bool = False

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[StepPlace]:  # noqa: ARG003 - a Step's
        """Yield no place: the step always requires an explicit target."""
        yield from ()

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return diagnostics if the statement cannot be moved."""
        if problems := check_present(schedule, self.statement, self.target):
            return problems
        fixed = self._fixed(schedule)
        if find(fixed, self.target) is None or find(fixed, self.statement) is None:
            message = (
                f"'{self.statement}' cannot be placed by '{self.target}': what is derived from"
                " loops is placed anew after each step."
            )
            return (
                Diagnostic(
                    "T013",
                    message,
                    place_near(schedule, self.statement),
                    hint="Name a loop or a pinned exchange.",
                ),
            )
        return check_move(fixed, self.statement, self.target, after=self.after)

    def transform(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the schedule with the statement moved."""
        fixed = self._fixed(schedule)
        body = [item for item in fixed.body if item.uid != self.statement]
        moved = next(item for item in fixed.body if item.uid == self.statement)
        if self.statement == self.target:
            return fixed
        place = [item.uid for item in body].index(self.target) + self.after
        return replace(fixed, body=(*body[:place], moved, *body[place:]))

    def _fixed(self, schedule: Schedule) -> Schedule:
        """Return the schedule without derived statements, except the exchange to be moved."""
        moved: Statement | None = find(schedule, self.statement)
        if isinstance(moved, HaloExchange) and not moved.pinned:
            schedule = replaced(schedule, moved.uid, replace(moved, pinned=True))
        return without_halos(schedule)
