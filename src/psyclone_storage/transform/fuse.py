"""Loop fusion: a loop and the loop that follows it become one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import ClassVar

from psyclone_storage.analysis.bodies.nests import CodeFootprint
from psyclone_storage.analysis.footprints import Reasons, UserAssertions, check_fuse
from psyclone_storage.analysis.schedules.nests import check_fuse_neighbours
from psyclone_storage.analysis.schedules.order import bounds_agree, dofs_agree
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Loop, LoopPart, Over, Schedule, Statement
from psyclone_storage.ir.walk import kernel_calls, replaced
from psyclone_storage.passes.loops import fuse_loops
from psyclone_storage.passes.nests import fuse_schedule_loops
from psyclone_storage.transform.halos import without_halos
from psyclone_storage.transform.nests import OnKernelNest
from psyclone_storage.transform.step import (
    CheckedStep,
    StepPlace,
    check_present,
    loop_named,
    loops_in,
)


@dataclass(frozen=True, slots=True)
class FuseLoops(CheckedStep):
    """Fuse a loop and the one that follows it; the result keeps the name of the first.

    Halo exchanges between the two do not prevent this unless they are pinned: those for the second
    loop are made before the first. `same_space` is the user's assertion that two loops over dofs
    have the same bounds where the metadata say `any_space`; generated code checks it at run time,
    and stops if it is wrong. On a grid, the loops over rows come first and then, inside the fused
    one, those over columns.

    Refused unless both run over the same entities to the same depth, and unless no iteration then
    sees the work of the other loop too early or too late, as through a stencil (PSyclone's defect
    B2). A stencil on a grid has directions: rows may be fused if the second loop reads to the south
    in fields that the first writes, but must be computed in order then, so that it needs
    `in_order`.

    Whether fields on two types of points have the same region depends on the grid: on a periodic
    one they have. With `tested`, such loops over rows, and those over columns inside of them, are
    fused under a run-time test of their bounds; the original loops remain as the alternative. A
    later step that changes the fused loop, or encloses it, applies to both versions.

    before: loop1 { k1 } halo(w)@loop2 loop2 { k2(w, stencil) }
    after:  halo(w)@loop1 loop1 { k1 k2(w, stencil) }
    """

    name: ClassVar[str] = "fuse"

    first: str
    second: str
    same_space: bool = False
    in_order: bool = False
    tested: bool = False

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[StepPlace]:
        """Yield every two neighbouring loops, those inside of others last."""
        bare = without_halos(schedule)
        yield from _neighbours(bare.body)
        for loop in loops_in(bare):
            yield from _neighbours(loop.body)

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return all reasons against one loop."""
        if problems := check_present(schedule, self.first, self.second):
            return problems
        bare = without_halos(schedule)
        assertions = UserAssertions(self.same_space, self.in_order, self.tested)
        return check_fuse_neighbours(bare, rules, self.first, self.second, assertions)

    def transform(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the schedule with one loop that has both bodies."""
        bare = without_halos(schedule)
        first, second = loop_named(bare, self.first), loop_named(bare, self.second)
        both = replace(fuse_schedule_loops(first, second), parts=_parts(bare, first, second))
        if first.over is Over.DOFS and not dofs_agree(bare, first, second):
            both = replace(both, asserted=(*both.asserted, _own_part(second)))
        return replaced(replaced(bare, second.uid), first.uid, both)


@dataclass(frozen=True, slots=True)
class FuseInKernel(OnKernelNest):
    """Fuse a loop in a kernel with the loop right after it, which has the same bounds.

    Refused if the second would read or change an element before the first has written it.

    before: do k = 1, n; a(k) = 1; end do; do k = 1, n; b(k) = a(k); end do
    after:  do k = 1, n; a(k) = 1; b(k) = a(k); end do
    """

    name: ClassVar[str] = "kernel-fuse"

    def check_nest(self, nest: CodeFootprint) -> Reasons:
        """Return all reasons against one loop."""
        return check_fuse(nest, nest.following)

    def transform_code(self, code: Routine) -> Routine:
        """Return `code` with one loop that has both bodies."""
        return fuse_loops(code, self.loop)


def _parts(schedule: Schedule, first: Loop, second: Loop) -> tuple[LoopPart, ...]:
    """Return what the fused loop has to be made of again where bounds turn out to differ."""
    if first.over.axis is None:
        return ()
    if not (first.parts or second.parts) and bounds_agree(schedule, first, second):
        return ()
    return tuple(part for loop in (first, second) for part in loop.parts or (_own_part(loop),))


def _own_part(loop: Loop) -> LoopPart:
    return LoopPart(kernel_calls(loop)[0].uid, loop.bounds_from)


def _neighbours(body: tuple[Statement, ...]) -> Iterator[StepPlace]:
    for first, second in pairwise(body):
        if isinstance(first, Loop) and isinstance(second, Loop):
            yield {"first": first.uid, "second": second.uid}
