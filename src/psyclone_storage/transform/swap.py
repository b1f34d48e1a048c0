"""Loop interchange."""

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
    """Interchange a loop over a grid with the only loop that it contains.

    Both keep their names, so the inner loop becomes the outer one. Fortran stores rows
    contiguously, so columns outside and rows inside are for kernels whose columns can run in
    parallel but whose rows cannot. With `for_threads` the step applies only to such loops. It is
    meant for device threads, for which neighbours of a row run in adjacent threads; on a host
    `tile-columns` is faster.

    Rejected unless the loops are over rows and columns with nothing between them, and no point
    depends on a point to the north-west or south-east, which would then be computed later.

    before: loop1 over rows { columns@loop1 over columns { k } }
    after:  columns@loop1 over columns { loop1 over rows { k } }
    """

    name: ClassVar[str] = "swap-loops"

    for_threads: bool = False

    def check_nest(self, nest: LoopFootprint) -> Reasons:
        """Return diagnostics if the loops cannot be interchanged."""
        if self.for_threads and nest.inner is not None:
            return (*check_gain(nest, swap(nest.loop)), *check_swap(nest))
        return check_swap(nest)

    def transform_loop(self, schedule: Schedule, rules: Rules, loop: Loop) -> Loop:
        """Return the two loops in the other order."""
        return swap(loop)


@dataclass(frozen=True, slots=True)
class SwapInKernel(OnKernelNest):
    """Interchange a loop in a kernel with the loop that is its body.

    Rejected if a dependence between iterations prevents it, or if dependences are unknown, and if
    the bounds of one loop depend on the other. `sums` permits reassociation of variables that only
    accumulate, which changes rounding.

    before: do i ... do j ... a(i, j)
    after:  do j ... do i ... a(i, j)
    """

    name: ClassVar[str] = "kernel-swap"

    sums: bool = False

    @property
    def assertions(self) -> UserAssertions:
        """The permission to reassociate sums."""
        return UserAssertions(sums=self.sums)

    def check_nest(self, nest: CodeFootprint) -> Reasons:
        """Return diagnostics if the loops cannot be interchanged."""
        return check_swap(nest)

    def transform_code(self, code: Routine) -> Routine:
        """Return `code` with the two loops interchanged."""
        return swap_loops(code, self.loop)
