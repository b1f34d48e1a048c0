"""Loop fusion."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, pairwise
from typing import ClassVar

from psyclone_storage.analysis.bodies.nests import CodeFootprint
from psyclone_storage.analysis.footprints import Reasons, UserAssertions, check_fuse
from psyclone_storage.analysis.schedules.nests import check_fuse_neighbours
from psyclone_storage.analysis.schedules.order import bounds_agree, dofs_agree
from psyclone_storage.base.memo import kept_by_item
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
    loops_inside,
)


@dataclass(frozen=True, slots=True)
class FuseLoops(CheckedStep):
    """Fuse a loop with the following one; the result keeps the name of the first.

    Halo exchanges between the loops do not prevent fusion unless they are pinned: those for the
    second loop happen before the first. `same_space` asserts that two loops over dofs have the same
    bounds where the metadata contain `any_space`; generated code checks this at run time and stops
    if it is wrong. On a grid, fuse the loops over rows first, then the loops over columns inside.

    Rejected unless both loops iterate over the same entities to the same depth, and unless fusion
    preserves all dependences, for example through a stencil (PSyclone's defect B2). Rows of a grid
    may be fused if the second loop reads values to the south that the first loop writes, but the
    rows must then be computed in order, which requires `in_order`.

    Whether fields on two types of points have the same region depends on the grid: on a periodic
    grid they do. With `tested`, such loops over rows, and the loops over columns inside, are fused
    under a run-time test of their bounds; the original loops remain as the alternative. A later
    step on the fused loop or an enclosing construct applies to both versions.

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
        """Yield all pairs of adjacent loops, nested ones last."""
        bare = without_halos(schedule)
        return chain(_neighbours(bare.body), _neighbours_inside(bare))

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return diagnostics if the loops cannot be fused."""
        if problems := check_present(schedule, self.first, self.second):
            return problems
        bare = without_halos(schedule)
        assertions = UserAssertions(self.same_space, self.in_order, self.tested)
        return check_fuse_neighbours(bare, rules, self.first, self.second, assertions)

    def transform(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the schedule with the two loops fused."""
        bare = without_halos(schedule)
        first, second = loop_named(bare, self.first), loop_named(bare, self.second)
        both = replace(fuse_schedule_loops(first, second), parts=_parts(bare, first, second))
        if first.over is Over.DOFS and not dofs_agree(bare, first, second):
            both = replace(both, asserted=(*both.asserted, _own_part(second)))
        return replaced(replaced(bare, second.uid), first.uid, both)


@dataclass(frozen=True, slots=True)
class FuseInKernel(OnKernelNest):
    """Fuse a loop in a kernel with the directly following loop, which must have the same bounds.

    Rejected if the second loop would access an element before the first has written it.

    before: do k = 1, n; a(k) = 1; end do; do k = 1, n; b(k) = a(k); end do
    after:  do k = 1, n; a(k) = 1; b(k) = a(k); end do
    """

    name: ClassVar[str] = "kernel-fuse"

    def check_nest(self, nest: CodeFootprint) -> Reasons:
        """Return diagnostics if the loops cannot be fused."""
        return check_fuse(nest, nest.following)

    def transform_code(self, code: Routine) -> Routine:
        """Return `code` with the two loops fused."""
        return fuse_loops(code, self.loop)


def _parts(schedule: Schedule, first: Loop, second: Loop) -> tuple[LoopPart, ...]:
    """Return the original loops of the fused loop, if their bounds may differ at run time."""
    if first.over.axis is None:
        return ()
    if not (first.parts or second.parts) and bounds_agree(schedule, first, second):
        return ()
    return tuple(part for loop in (first, second) for part in loop.parts or (_own_part(loop),))


def _own_part(loop: Loop) -> LoopPart:
    return LoopPart(kernel_calls(loop)[0].uid, loop.bounds_from)


def _neighbours(body: tuple[Statement, ...]) -> Iterator[StepPlace]:
    return (
        {"first": first.uid, "second": second.uid}
        for first, second in pairwise(body)
        if isinstance(first, Loop) and isinstance(second, Loop)
    )


@kept_by_item
def _neighbours_inside(item: Statement) -> tuple[StepPlace, ...]:
    return tuple(chain.from_iterable(_neighbours(loop.body) for loop in loops_inside(item)))
