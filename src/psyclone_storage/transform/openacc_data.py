"""OpenACC data that persist on a device, and explicit updates.

Transfers are derived (`transform.transfers`). A script requests that data persist on the device,
and can request an update that the schedule does not need, such as for output after the invoke.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.names import listed
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir.devices import DatumUse, device_calls, has_device, moved_data
from psyclone_storage.ir.insertion import END
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import DirectiveRegion, Loop, Schedule
from psyclone_storage.ir.transfer import EnterData, Side, Update
from psyclone_storage.ir.view import component_text
from psyclone_storage.ir.walk import find, kernel_calls, place_near, replaced, statements
from psyclone_storage.transform.halos import without_halos
from psyclone_storage.transform.step import CheckedStep, StepPlace, check_present

_SIDES = {side.value: side for side in Side}


@dataclass(frozen=True, slots=True)
class AccEnterData(CheckedStep):
    """Keep the data of all regions on the device, from the first invoke that uses them.

    Data that are not on the device yet are copied there first; data already on the device are up to
    date and stay unchanged. Fields that the host accesses, including in halo exchanges, are updated
    where necessary. With a `queue` of 0 or more the copies are asynchronous.

    Rejected if the schedule already enters data. At the end of the recipe the schedule must have a
    device region.

    before: acc-parallel(loop1) { ... }
    after:  enter-data, acc-parallel(loop1) { ... }
    """

    name: ClassVar[str] = "acc-enter-data"

    schedule: str
    queue: int = -1

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[StepPlace]:
        """Yield the schedule itself, if it has device regions and does not enter their data yet."""
        if device_calls(schedule) and not _enters(schedule):
            yield {"schedule": schedule.name}

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return diagnostics if data cannot be entered."""
        if self.schedule != schedule.name:
            message = f"This is the schedule of '{schedule.name}', not of '{self.schedule}'."
            return (Diagnostic("T003", message, place_near(schedule, "")),)
        if _enters(schedule):
            message = f"'{schedule.name}' enters its data already."
            return (Diagnostic("T082", message, place_near(schedule, "")),)
        return ()

    def transform(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the schedule with a statement that enters data at its start."""
        made = EnterData("enter-data", queue=self.queue)
        return replace(schedule, body=(made, *schedule.body))


@dataclass(frozen=True, slots=True)
class AccUpdate(CheckedStep):
    """Update data on one side before the statement `at` uses them: `to` is `host` or `device`.

    At `end`, the step updates all data that device regions have written, after the last statement,
    for example for output. `data` selects a single field or operator. The compiler derives the
    updates that the schedule needs; do not request those. If neither a step nor another invoke of
    the file uses a device, the step declares that invokes of other files may have left newer values
    on a device, and the compiler derives the remaining updates.

    before: loop1 [read u]
    after:  update-host(u)@loop1 [if a device has one], loop1
    """

    name: ClassVar[str] = "acc-update"

    at: str
    to: str = "host"
    data: str = ""

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[StepPlace]:
        """Yield the end, or the first loop if nothing runs on a device."""
        if device_calls(schedule):
            yield {"at": END}
        elif not has_device(schedule):
            first = next((item for item in statements(schedule) if isinstance(item, Loop)), None)
            if first is not None:
                yield {"at": first.uid}

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return diagnostics if the update is invalid."""
        if self.to not in _SIDES:
            hint = f"There are {listed(list(_SIDES), 'and')}."
            message, place = (
                f"Nothing can be updated on '{self.to}'.",
                place_near(schedule, self.at),
            )
            return (Diagnostic("T084", message, place, hint=hint),)
        if self.at != END and (problems := check_present(schedule, self.at)):
            return problems
        bare = without_halos(schedule)
        if self.at != END and self.at not in {item.uid for item in bare.body}:
            message = f"'{self.at}' does not stand directly in '{schedule.name}', or is derived."
            return (Diagnostic("T013", message, place_near(schedule, self.at)),)
        if not self._uses(schedule):
            what = f"'{self.data}'" if self.data else "a field or operator"
            message = f"Nothing of {what} is used, or changed by a device, at '{self.at}'."
            return (Diagnostic("T088", message, place_near(schedule, self.at)),)
        known = {item.uid for item in statements(bare)}
        if all(update.uid in known for update in self._updates(schedule)):
            message = f"All of this is updated at '{self.at}' already."
            return (Diagnostic("T082", message, place_near(schedule, self.at)),)
        return ()

    def transform(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the schedule with the requested updates."""
        bare = without_halos(schedule)
        known = {item.uid for item in statements(bare)}
        updates = [item for item in self._updates(bare) if item.uid not in known]
        target = find(bare, self.at)
        if target is None:
            return replace(bare, body=(*bare.body, *updates))
        return replaced(bare, self.at, *updates, target)

    def _uses(self, schedule: Schedule) -> tuple[DatumUse, ...]:
        target = find(schedule, self.at)
        if isinstance(target, Loop | DirectiveRegion):
            uses = moved_data(schedule, kernel_calls(target))
        else:
            uses = tuple(use for use in moved_data(schedule, device_calls(schedule)) if use.writes)
        return tuple(use for use in uses if self.data in ("", use.datum))

    def _updates(self, schedule: Schedule) -> tuple[Update, ...]:
        to = _SIDES[self.to]
        return tuple(
            Update(
                f"asked-{to.value}({component_text(use.datum, use.component)})@{self.at}",
                use.datum,
                use.component,
                to,
                guarded=True,
                pinned=True,
            )
            for use in self._uses(schedule)
        )


def _enters(schedule: Schedule) -> bool:
    return any(isinstance(item, EnterData) for item in statements(schedule))
