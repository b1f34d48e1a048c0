"""OpenMP device regions, whose data are copied to the device and back each time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.analysis.schedules.races import check_races
from psyclone_storage.analysis.schedules.reduction import check_reductions_in_region
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.directive import Directive
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import DirectiveRegion, Loop, Schedule, Statement
from psyclone_storage.ir.transfer import Side
from psyclone_storage.ir.walk import path_to, place_near, statements
from psyclone_storage.transform.blocks import OnBlock, block_between, check_block
from psyclone_storage.transform.device import check_device_support
from psyclone_storage.transform.step import SharesIterations, StepPlace, check_no_directive

_TEAMS = (Directive.OMP_TEAMS_DO,)
_TARGET = (Directive.OMP_TARGET,)


@dataclass(frozen=True, slots=True)
class TeamsDo(SharesIterations):
    """Distribute the iterations of a loop over the teams of threads of a device.

    The region is created by `openmp-target`, before or after this step; if it is missing at the end
    of the recipe, that is an error.

    Rejected if iterations race, as for `openmp-parallel-do`, and for operations that only the host
    supports. `force` allows kernels to change saved state.

    before: loop1 over rows
    after:  omp-teams-do(loop1) { loop1 over rows }
    """

    name: ClassVar[str] = "openmp-teams-do"

    force: bool = False

    def check_loop(self, schedule: Schedule, rules: Rules, loop: Loop) -> Reasons:
        """Return diagnostics if the loop cannot be distributed."""
        reasons = check_no_directive(schedule, self.loop, around=_TARGET)
        return (
            *reasons,
            *check_device_support((loop,)),
            *check_races(schedule, rules, loop),
        )

    def transform_loop(self, schedule: Schedule, rules: Rules, loop: Loop) -> Statement:
        """Return the loop under `omp teams distribute parallel do`."""
        return DirectiveRegion(f"omp-teams-do({loop.uid})", Directive.OMP_TEAMS_DO, (loop,))


@dataclass(frozen=True, slots=True)
class OpenTarget(OnBlock):
    """Run the statements from `first` to `last` on a device, using OpenMP.

    All data that they use are copied to the device before, and modified data are copied back after,
    so that host copies stay up to date. For LFRic, clauses list these data, which suffices for a
    device with separate memory. For GOcean, field values are components of objects, which compilers
    do not copy: host and device must share memory, as with `requires unified_shared_memory`.
    Alternatively use OpenACC, with which data also persist on the device.

    Rejected under other directives, and if a loop shared by teams is not the only statement in the
    region.

    before: omp-teams-do(loop1) { loop1 }
    after:  omp-target(omp-teams-do(loop1)) { omp-teams-do(loop1) { loop1 } }
    """

    name: ClassVar[str] = "openmp-target"

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[StepPlace]:
        """Yield every loop shared by teams outside a region."""
        for item in statements(schedule):
            if isinstance(item, DirectiveRegion) and item.directive in _TEAMS:
                around = path_to(schedule, item.uid)[:-1]
                if not any(isinstance(one, DirectiveRegion) for one in around):
                    yield {"first": item.uid, "last": item.uid}

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return diagnostics if the region cannot be created."""
        reasons = check_block(schedule, self.first, self.last, inside=_TEAMS)
        block = block_between(schedule, self.first, self.last)
        held = [one for item in block if isinstance(item, Loop | DirectiveRegion)
                for one in (item, *statements(item))]  # fmt: skip
        teams = [one for one in held if isinstance(one, DirectiveRegion)]
        if teams and (len(block) > 1 or block[0] not in teams):
            message = f"'{teams[0].uid}' must be all that its region holds."
            reasons += (Diagnostic("T089", message, place_near(schedule, teams[0].uid)),)
        return (
            *reasons,
            *check_reductions_in_region(schedule, block),
            *check_device_support(block),
        )

    def region(self, block: tuple[Statement, ...]) -> DirectiveRegion:
        """Return the statements under `omp target`."""
        return DirectiveRegion(
            f"omp-target({self.first})",
            Directive.OMP_TARGET,
            block,
            place=Side.DEVICE,
            copies=True,
        )
