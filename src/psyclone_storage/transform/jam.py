"""Unroll and jam: several iterations of an outer loop run together in the inner loop."""

from __future__ import annotations

from typing import ClassVar

from psyclone_storage.analysis.bodies.nests import CodeFootprint
from psyclone_storage.analysis.footprints import Reasons, check_jam
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Schedule
from psyclone_storage.ir.walk import place_near
from psyclone_storage.passes.loops import jam_loops
from psyclone_storage.transform.nests import OnKernelNest


@dataclass(frozen=True, slots=True)
class JamInKernel(OnKernelNest):
    """Unroll a loop in a kernel by `factor` and jam the copies into the loop that is its body.

    Data shared by the iterations are then loaded and stored once (unroll and jam). A separate loop
    handles the remaining iterations.

    Rejected if the two loops must not be interchanged, or if the step of the outer one is not 1.

    before: do s = 1, n; do k ...; a(k) = a(k) + b(k, s)
    after:  do s = 1, n - 1, 2; do k ...; a(k) = a(k) + b(k, s); a(k) = a(k) + b(k, s + 1); ...
            do s = n - mod(n, 2) + 1, n; do k ...; a(k) = a(k) + b(k, s)
    """

    name: ClassVar[str] = "kernel-jam"

    factor: int = 4

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return diagnostics if the loop cannot be unrolled and jammed."""
        if self.factor < 2:
            message = f"Two iterations or more run together, not {self.factor}."
            return (Diagnostic("T017", message, place_near(schedule, self.call)),)
        return OnKernelNest.check(self, schedule, rules)

    def check_nest(self, nest: CodeFootprint) -> Reasons:
        """Return diagnostics if the loop cannot be unrolled and jammed."""
        return check_jam(nest)

    def transform_code(self, code: Routine) -> Routine:
        """Return `code` with the loop unrolled and jammed."""
        return jam_loops(code, self.loop, self.factor)
