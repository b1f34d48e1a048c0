"""What a call is passed, and which of it touches the same data: `DataAccess` for scripts."""

from __future__ import annotations

from psyclone_storage.analysis.schedules import access as analysis
from psyclone_storage.analysis.schedules.dependence import uses_of
from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.schedule import HaloExchange, KernelCall, Schedule


@dataclass(frozen=True, slots=True)
class Argument:
    """An access of one call or exchange to one datum."""

    use: analysis.DataUse

    @property
    def name(self) -> str:
        """The name of the datum."""
        return self.use.datum

    @property
    def access(self) -> str:
        """What is done with it: `read`, `write`, `readwrite`, `inc`, `readinc`, `reduction`."""
        return self.use.access.value

    @property
    def components(self) -> tuple[int, ...]:
        """Which components of a field vector are touched, from 1; of what is none, just 1."""
        return tuple(sorted(self.use.components))


class DataAccess:
    """An argument, compared with others, and how much of it the others cover.

    The seed's class of this name (its "Dependence Analysis"): arguments overlap if they are of one
    datum and touch a common component of it; reading and writing make no difference.
    """

    def __init__(self, argument: Argument) -> None:
        self._access = analysis.DataAccess(argument.use)

    def overlaps(self, other: Argument) -> bool:
        """Return whether `other` touches data that the argument touches."""
        return self._access.overlaps(other.use)

    def update_coverage(self, other: Argument) -> None:
        """Count what `other` touches as covered, if it overlaps."""
        self._access.update_coverage(other.use)

    @property
    def covered(self) -> bool:
        """Whether the arguments so far, taken together, touch all that the argument touches."""
        return self._access.covered

    def reset_coverage(self) -> None:
        """Forget the arguments so far."""
        self._access.reset_coverage()


def arguments_of(schedule: Schedule, item: KernelCall | HaloExchange) -> tuple[Argument, ...]:
    """Return the accesses of a call or an exchange in `schedule` to data."""
    return tuple(Argument(use) for use in uses_of(schedule, item) if not use.maybe)
