"""Profile regions."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import ClassVar

from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir import schedule as sch
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.walk import find, kernel_calls, path_to, place_near, replaced, statements
from psyclone_storage.transform.halos import without_halos
from psyclone_storage.transform.step import CheckedStep, StepPlace, check_present


class ProfileGranularity(Enum):
    """Extent of automatic profile regions: an entire invoke, or the loops of each kernel."""

    INVOKES = "invokes"
    KERNELS = "kernels"


@dataclass(frozen=True, slots=True)
class AddProfileRegion(CheckedStep):
    """Measure the statements from `first` to `last` as one profile region.

    The region has the name `region` in the module `module`. By default the module is the generated
    one, and the name consists of the invoke, the kernel if there is only one, and a number. If
    `first` is an exchange, the exchanges for the following loop are included; if it is a loop, they
    happen before the region.

    Rejected if the statements are not adjacent, and inside a loop or directive: every thread would
    execute the profiler's calls, or they would separate a directive from its loop.

    before: loop1 { k }
    after:  profile(loop1) { loop1 { k } }
    """

    name: ClassVar[str] = "profile"

    first: str
    last: str
    region: str = ""
    module: str = ""

    @classmethod
    def places(cls, schedule: sch.Schedule) -> Iterator[StepPlace]:
        """Yield the whole schedule if it contains no profile region."""
        if schedule.body and not any(isinstance(item, sch.ProfileRegion) for item in schedule.body):
            yield {"first": schedule.body[0].uid, "last": schedule.body[-1].uid}

    def check(self, schedule: sch.Schedule, rules: Rules) -> Reasons:
        """Return diagnostics if the region cannot be created."""
        if problems := check_present(schedule, self.first, self.last):
            return problems
        around = path_to(schedule, self.first)[:-1]
        if outer := [item for item in around if isinstance(item, sch.Loop | sch.DirectiveRegion)]:
            message = f"'{self.first}' lies inside of '{outer[0].uid}'."
            hint = f"Profile '{outer[0].uid}' as a whole."
            return (Diagnostic("T034", message, place_near(schedule, self.first), hint=hint),)
        if not self._inside(schedule):
            message = f"'{self.first}' and '{self.last}' do not stand one after the other."
            return (Diagnostic("T023", message, place_near(schedule, self.first)),)
        if not self._kept(schedule):
            message = f"'{self.first}' follows from the loop before it and has no place of its own."
            return (
                Diagnostic(
                    "T013", message, place_near(schedule, self.first), hint="Profile that loop."
                ),
            )
        return ()

    def transform(self, schedule: sch.Schedule, rules: Rules) -> sch.Schedule:
        """Return the schedule with the statements in a profile region."""
        leads = isinstance(find(schedule, self.first), sch.HaloExchange)
        first, *others = self._kept(schedule)
        body = (_with_pin(first), *map(_with_pin, others))
        name = self.region or _region_name(schedule, body)
        region = sch.ProfileRegion(_free_uid(schedule, first.uid), self.module, name, body, leads)
        for item in others:
            schedule = replaced(schedule, item.uid)
        return replaced(schedule, first.uid, region)

    def _inside(self, schedule: sch.Schedule) -> tuple[sch.Statement, ...]:
        """Return the statements from the first to the last, if they are in one body."""
        path = path_to(schedule, self.first)
        around = path[-2] if len(path) > 1 else schedule
        if not isinstance(around, sch.Schedule | sch.Compound):
            return ()
        places = {item.uid: place for place, item in enumerate(around.body)}
        if self.last not in places:
            return ()
        return around.body[places[self.first] : places[self.last] + 1]

    def _kept(self, schedule: sch.Schedule) -> tuple[sch.Statement, ...]:
        """Return the statements of the region before halos are planned again.

        These are the statements that are not derived or, if all are derived, the exchanges, which
        become pinned.
        """
        inside, bare = self._inside(schedule), without_halos(schedule)
        kept = tuple(item for item in inside if find(bare, item.uid) is not None)
        return kept or tuple(item for item in inside if isinstance(item, sch.HaloExchange))


def regions_for(schedule: sch.Schedule, grain: ProfileGranularity) -> tuple[AddProfileRegion, ...]:
    """Return the steps that profile the whole schedule, or each of its outermost loops.

    Exchanges belong to the region of an invoke but not of a kernel. Loops that a script has put
    into a region get no additional one.
    """
    body = schedule.body
    if grain is ProfileGranularity.INVOKES:
        return (AddProfileRegion(body[0].uid, body[-1].uid),) if body else ()
    loops = [item for item in body if isinstance(item, sch.Loop | sch.DirectiveRegion)]
    return tuple(AddProfileRegion(item.uid, item.uid) for item in loops)


def _region_name(schedule: sch.Schedule, body: tuple[sch.Statement, ...]) -> str:
    """Return the region name: the invoke, the kernel if there is only one, and a number."""
    number = sum(isinstance(item, sch.ProfileRegion) for item in statements(schedule))
    calls = [call for item in body if isinstance(item, sch.Compound) for call in kernel_calls(item)]
    kernels = [call.kernel.procedure or call.kernel.name for call in calls]
    only = [key_of(kernels[0])] if len(kernels) == 1 else []
    return "-".join([schedule.name, *only, f"r{number}"])


def _free_uid(schedule: sch.Schedule, first: str) -> str:
    """Return an unused uid for a region whose first statement is `first`."""
    taken = {item.uid for item in statements(schedule)}
    uid, number = f"profile({first})", 2
    while uid in taken:
        uid, number = f"profile({first})#{number}", number + 1
    return uid


def _with_pin(item: sch.Statement) -> sch.Statement:
    return replace(item, pinned=True) if isinstance(item, sch.HaloExchange) else item
