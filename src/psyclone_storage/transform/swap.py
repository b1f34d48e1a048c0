"""Swapping a loop with the loop that is all of its body."""

from __future__ import annotations

from typing import ClassVar

from psyclone_storage.analysis.bodies.nests import CodeFootprint
from psyclone_storage.analysis.footprints import Reasons, UserAssertions, check_swap
from psyclone_storage.analysis.schedules.nests import LoopFootprint
from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Loop, Schedule
from psyclone_storage.passes.loops import swap_loops
from psyclone_storage.passes.nests import swap
from psyclone_storage.transform.nests import OnKernelNest, OnScheduleNest, check_gain


@dataclass(frozen=True, slots=True)
class SwapLoops(OnScheduleNest):
    """Put a loop over a grid inside the only loop that it contains.

    Both keep their names, so that the one that was inside is the outer one afterwards. Fortran
    stores rows contiguously: columns outside and rows inside are for kernels whose columns, but not
    rows, may run in parallel. With `for_threads` the step applies to such loops alone. It is for
    threads of a device, where neighbours of a row run in adjacent threads; on a host `tile-columns`
    is faster.

    Refused unless the loops are over rows and columns, nothing is between them, and no point
    depends on one to the north-west or south-east of it, which would then come later.

    before: loop1 over rows { columns@loop1 over columns { k } }
    after:  columns@loop1 over columns { loop1 over rows { k } }
    """

    name: ClassVar[str] = "swap-loops"

    for_threads: bool = False

    def check_nest(self, nest: LoopFootprint) -> Reasons:
        """Return all reasons against the other order."""
        if self.for_threads and nest.inner is not None:
            return (*check_gain(nest, swap(nest.loop)), *check_swap(nest))
        return check_swap(nest)

    def transform_loop(self, schedule: Schedule, rules: Rules, loop: Loop) -> Loop:
        """Return the two loops in the other order."""
        return swap(loop)


@dataclass(frozen=True, slots=True)
class SwapInKernel(OnKernelNest):
    """Swap a loop in a kernel with the loop that is all of its body.

    Refused if a dependence between iterations forbids the new order, or if that is not known; if
    the bounds of one loop depend on the other. `sums` allows variables that only accumulate
    to get their terms in another order, which changes the sums by rounding.

    before: do i ... do j ... a(i, j)
    after:  do j ... do i ... a(i, j)
    """

    name: ClassVar[str] = "kernel-swap"

    sums: bool = False

    @property
    def assertions(self) -> UserAssertions:
        """The permission to round sums in another order."""
        return UserAssertions(sums=self.sums)

    def check_nest(self, nest: CodeFootprint) -> Reasons:
        """Return all reasons against another order."""
        return check_swap(nest)

    def transform_code(self, code: Routine) -> Routine:
        """Return `code` with the two loops in the other order."""
        return swap_loops(code, self.loop)
