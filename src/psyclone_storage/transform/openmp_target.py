"""OpenMP: regions for a device, whose data are copied there and back each time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from psyclone_storage.analysis.schedules.races import may_run_parallel
from psyclone_storage.analysis.schedules.reduction import may_share_region
from psyclone_storage.base.diagnostic import Diagnostic, raise_if_any
from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.directive import Directive
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import DirectiveRegion, Loop, Over, Schedule
from psyclone_storage.ir.transfer import Side
from psyclone_storage.ir.walk import path_to, place_near, replaced, statements
from psyclone_storage.transform.blocks import between, check_block, enclosed
from psyclone_storage.transform.device import reasons_for_host
from psyclone_storage.transform.step import (
    Place,
    Reasons,
    calls_inside,
    loop_named,
    not_a_loop,
    under_directive,
)

_TEAMS = (Directive.OMP_TEAMS_DO,)
_TARGET = (Directive.OMP_TARGET,)


@dataclass(frozen=True, slots=True)
class TeamsDo:
    """Deal the iterations of a loop out to the teams of threads that a device has.

    The region comes with `openmp-target`, before or after this step; without it the recipe is not
    finished.

    Refused where iterations race, as `openmp-parallel-do` is, and for what the host alone can do;
    `force` lets a kernel change what it keeps from call to call.

    before: loop1 over rows
    after:  omp-teams-do(loop1) { loop1 over rows }
    """

    name: ClassVar[str] = "openmp-teams-do"

    loop: str
    force: bool = False

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[Place]:
        """Yield every loop but those over colours, outer loops first."""
        for item in statements(schedule):
            if isinstance(item, Loop) and not (item.over.in_sequence or item.over is Over.DOMAIN):
                yield {"loop": item.uid}

    def calls_to_share(self, schedule: Schedule) -> tuple[str, ...]:
        """Return the calls in the loop."""
        return calls_inside(schedule, self.loop)

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return all reasons against sharing the iterations."""
        if problems := not_a_loop(schedule, self.loop):
            return problems
        loop = loop_named(schedule, self.loop)
        reasons = under_directive(schedule, self.loop, around=_TARGET)
        return (*reasons, *reasons_for_host((loop,)), *may_run_parallel(schedule, rules, loop))

    def apply(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the schedule with the loop under `omp teams distribute parallel do`."""
        raise_if_any(self.check(schedule, rules))
        loop = loop_named(schedule, self.loop)
        made = DirectiveRegion(f"omp-teams-do({loop.uid})", Directive.OMP_TEAMS_DO, (loop,))
        return replaced(schedule, loop.uid, made)


@dataclass(frozen=True, slots=True)
class OpenTarget:
    """Run the statements from `first` to `last` on a device, by OpenMP.

    All that they use is copied there before, and what they change is copied back after, so that the
    host's copies stay right. For LFRic clauses say what that is, which is all that a device with
    a memory of its own needs. The values of GOcean's fields are components of objects, which
    compilers do not follow: host and device must share their memory, as with
    `requires unified_shared_memory`, or take OpenACC, under which data also stay where they are.

    Refused under other directives, and if teams share a loop and are not all that is inside.

    before: omp-teams-do(loop1) { loop1 }
    after:  omp-target(omp-teams-do(loop1)) { omp-teams-do(loop1) { loop1 } }
    """

    name: ClassVar[str] = "openmp-target"

    first: str
    last: str

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[Place]:
        """Yield every loop that teams share and no region is around."""
        for item in statements(schedule):
            if isinstance(item, DirectiveRegion) and item.directive in _TEAMS:
                around = path_to(schedule, item.uid)[:-1]
                if not any(isinstance(one, DirectiveRegion) for one in around):
                    yield {"first": item.uid, "last": item.uid}

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return all reasons against the region."""
        reasons = check_block(schedule, self.first, self.last, inside=_TEAMS)
        block = between(schedule, self.first, self.last)
        held = [one for item in block if isinstance(item, Loop | DirectiveRegion)
                for one in (item, *statements(item))]  # fmt: skip
        teams = [one for one in held if isinstance(one, DirectiveRegion)]
        if teams and (len(block) > 1 or block[0] not in teams):
            message = f"'{teams[0].uid}' must be all that its region holds."
            reasons += (Diagnostic("T089", message, place_near(schedule, teams[0].uid)),)
        return (*reasons, *may_share_region(schedule, block), *reasons_for_host(block))

    def apply(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the schedule with the statements under `omp target`."""
        raise_if_any(self.check(schedule, rules))
        block = between(schedule, self.first, self.last)
        made = DirectiveRegion(
            f"omp-target({self.first})",
            Directive.OMP_TARGET,
            block,
            place=Side.DEVICE,
            copies=True,
        )
        return enclosed(schedule, self.last, made)
