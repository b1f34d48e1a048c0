"""Redundant computation of halo values, as an alternative to exchanges."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.fresh import Fresh
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir.kernel import Access, Iteration
from psyclone_storage.ir.region import WHOLE, Depth, describe_depth
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Extent, KernelCall, Loop, Over, Reach, Schedule, Statement
from psyclone_storage.ir.walk import calls_in, path_to, place_of, replaced
from psyclone_storage.transform.step import OnLoop, check_no_directive, check_not_split

_LARGER = (Iteration.CELL_COLUMN, Iteration.DOF)


@dataclass(frozen=True, slots=True)
class ComputeRedundantly(OnLoop):
    """Extend a loop into the halo to level `depth` or, with depth 0, through the whole halo.

    A field may have a shallower halo than its mesh. With depth 0, all such loops of an invoke
    extend to the shallowest halo of their fields. With another depth, generated code stops with an
    error if a field has a shallower halo than the loop needs.

    Written data are then clean to that depth (one level less if cells add to shared dofs), so later
    exchanges can become shallower or unnecessary. Data that are read must be clean too, so earlier
    exchanges can become deeper. All exchanges are planned again. Both levels of a coloured loop are
    extended.

    Rejected without distributed memory; under a directive; for kernels whose metadata determine the
    iteration space (owned or halo cells, owned dofs, the domain), for inter-grid kernels, and for
    reductions, which would count halo dofs twice; if the loop already extends that far; if an
    operator has no values there; and if a stencil would read beyond the halo (PSyclone's rules for
    redundant computation, and its defects B3 and B4).

    before: halo(u)@loop2, loop1 over dofs, owned; halo(v)@loop2, loop2 reads v, stencil 1
    after:  loop1 over dofs to halo level 1; loop2 reads v, stencil 1
    """

    name: ClassVar[str] = "compute-redundantly"

    depth: int = 0

    def check_loop(self, schedule: Schedule, rules: Rules, loop: Loop) -> Reasons:
        """Return diagnostics if the loop cannot be extended."""
        outer = _outermost(schedule, loop.uid)
        reasons = [
            *check_no_directive(schedule, outer.uid),
            *check_not_split(schedule, outer.uid),
        ]
        if not schedule.distributed:
            message = "Without distributed memory there is no halo to compute."
            reasons.append(Diagnostic("T010", message, place_of(outer)))
        if outer.over not in (Over.CELLS, Over.COLOURS, Over.TILE_COLOURS, Over.DOFS):
            message = f"'{outer.uid}' runs over {outer.over.value}, of which a halo has none."
            reasons.append(Diagnostic("T011", message, place_of(outer)))
        reasons += self._depth_reasons(outer)
        for around, call in calls_in(outer):
            reasons += _call_reasons(call)
            reasons += rules.check_extent(self._enlarged(around), call)
        return tuple(reasons)

    def transform(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the schedule with the loop and its nested loops extended."""
        outer = _outermost(schedule, self.loop)
        return replaced(schedule, outer.uid, self._enlarged(outer))

    @property
    def _extent(self) -> Extent:
        depth = Depth.of(self.depth) if self.depth > 0 else WHOLE
        return Extent(Reach.HALO, depth, extended=True)

    def _depth_reasons(self, loop: Loop) -> Iterator[Diagnostic]:
        if self.depth < 0:
            message = f"A halo has no level {self.depth}."
            hint = "Give 1 or more, or 0 for the whole halo."
            yield Diagnostic("T014", message, place_of(loop), hint=hint)
            return
        old = loop.extent
        further = self._extent.depth
        if not old.reach.in_halo or old.reach is Reach.HALO_ONLY:
            return
        if further != old.depth and further == WHOLE:
            return
        if further == old.depth or further.covers(old.depth) is not Fresh.YES:
            message = (
                f"'{loop.uid}' runs to halo level {describe_depth(old.depth)} already, and level"
                f" {describe_depth(further)} is not certain to be further."
            )
            yield Diagnostic("T012", message, place_of(loop))

    def _enlarged(self, loop: Loop) -> Loop:
        body: tuple[Statement, ...] = tuple(
            self._enlarged(item) if isinstance(item, Loop) else item for item in loop.body
        )
        return replace(loop, extent=self._extent, body=body)


def _outermost(schedule: Schedule, uid: str) -> Loop:
    """Return the outermost loop that contains the loop `uid`."""
    return next(item for item in path_to(schedule, uid) if isinstance(item, Loop))


def _call_reasons(call: KernelCall) -> Iterator[Diagnostic]:
    kernel = call.kernel
    if kernel.iteration not in _LARGER:
        message = f"'{kernel.name}' operates on '{kernel.iteration.value}' and nothing else."
        yield Diagnostic("T011", message, call.span)
    if kernel.is_intergrid:
        message = f"'{kernel.name}' works on two meshes, whose halos differ."
        yield Diagnostic("T011", message, call.span)
    if any(arg.access is Access.REDUCTION for arg in kernel.args):
        message = f"'{kernel.name}' reduces: what lies in a halo would be counted twice."
        yield Diagnostic("T011", message, call.span)
