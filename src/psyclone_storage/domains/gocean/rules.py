"""Halo rules of loops over a GOcean grid: the halo that they read, and its state afterwards.

Three facts decide. A point of the internal region belongs to one rank. A kernel touches the
points that its stencil names, at all other fields its own point alone. And `go_write` does not
promise that every point is written: kernels for boundaries test the mask and leave other points
unchanged.

So a loop needs what its stencils reach (spec W16: not always one point), and nothing it writes is
known to be right in the halo: even where it runs over all points, what it computes there is no
fresher than what it was computed from. The points that it must get right are those of its own
rank, and these ask for nothing more. dl_esm_inf has no record of what is clean, so what is not
known when code is generated is exchanged, unless the settings say that fields do keep one.
"""

from __future__ import annotations

from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.fresh import Fresh
from psyclone_storage.base.records import dataclass
from psyclone_storage.base.text import counted
from psyclone_storage.domains.gocean.table import known_bounds
from psyclone_storage.infrastructures.gocean import ALL, ANY_TYPE, INTERNAL
from psyclone_storage.ir.kernel import GridStencil, KernelArg
from psyclone_storage.ir.loop_split import Interior, Margins, PeelSection
from psyclone_storage.ir.region import NOTHING, WHOLE, Depth
from psyclone_storage.ir.rules import HaloLeft, HaloNeed, KnownBounds, WrittenPart
from psyclone_storage.ir.schedule import Extent, KernelCall, Loop, Reach, Schedule
from psyclone_storage.ir.walk import kernel_calls, place_of

_NO_NEED = HaloNeed(NOTHING, False, "at its own points only")
_OWN_POINTS = HaloLeft(NOTHING, Fresh.YES, "its halo stale: only points of each rank are computed")
_ALL_POINTS = HaloLeft(NOTHING, Fresh.YES, "its halo no fresher than what it was computed from")


@dataclass(frozen=True, slots=True)
class GoceanRules:
    """The answers of the GOcean domain to the questions of `ir.rules.Rules`.

    `dirty_flags` says that fields record at run time whether their halos are clean,
    `split_exchanges` that the start and the finish of an exchange are procedures of their own.
    """

    dirty_flags: bool = False
    split_exchanges: bool = False

    def initial_extent(self, call: KernelCall, schedule: Schedule) -> Extent:
        """Return how far the loops around `call` run before any transformation.

        Sets of points other than the internal ones may enter the halo.
        """
        if not schedule.distributed:
            return Extent(Reach.ALL)
        points = call.kernel.points
        internal = points is not None and points.name == INTERNAL
        return Extent(Reach.OWNED) if internal else Extent(Reach.HALO, WHOLE)

    def halo_need(self, schedule: Schedule, loop: Loop, call: KernelCall, arg: int) -> HaloNeed:
        """Return how far the stencil of the argument at `arg` reaches, if it has one.

        From the interior of a loop it reaches what the rank owns, if the margins are wide enough.
        """
        stencil = call.kernel.args[arg].stencil
        if not schedule.distributed or not isinstance(stencil, GridStencil):
            return _NO_NEED
        peel = loop.peel
        if peel is not None and peel.section is PeelSection.INTERIOR:
            margins = peel.interior.margins
            if margins is not None and margins.covers(_reach(stencil)):
                return _NO_NEED
        why = f"with a stencil that reaches {counted(stencil.depth, 'point')} far"
        return HaloNeed(Depth.of(stencil.depth), False, why)

    def halo_left(self, schedule: Schedule, loop: Loop, call: KernelCall, arg: int) -> HaloLeft:
        """Return that the halo of a written field is stale, and why."""
        return _ALL_POINTS if loop.extent.reach.in_halo else _OWN_POINTS

    def written_part(self, loop: Loop, call: KernelCall, arg: int) -> WrittenPart:
        """Return how much of a field lies at the points that `loop` counts.

        A boundary of the domain has points outside of the internal region, and no neighbour has
        their values: a loop over internal points leaves out what is not stale.
        """
        first = kernel_calls(loop)[0]
        looped, points = first.kernel.args[loop.bounds_from], first.kernel.points
        known = self.known_bounds(loop)
        own = known.bounds if known is not None and known.own else None
        if loop.peel is not None:
            return WrittenPart(Fresh.NO, "points of a part of a loop")
        if loop.parts:
            return WrittenPart(Fresh.NO, "points of several loops, whose bounds may differ")
        if points is None or points.bounds is not None or loop.bounds not in (None, own):
            return WrittenPart(Fresh.NO, "points of a range that need not be all")
        if points.name != ALL:
            return WrittenPart(Fresh.NO, "its internal points alone")
        if call.kernel.args[arg].space != looped.space or looped.space == ANY_TYPE:
            return WrittenPart(Fresh.NO, "the points of a field that may be of another type")
        return WrittenPart(Fresh.MAYBE, "all points of its region")

    def keeps_annexed_clean(self, schedule: Schedule) -> bool:
        """Return False: no point belongs to two ranks, so that there is nothing to keep."""
        return False

    def shares_dofs(self, described: KernelArg) -> bool:
        """Return False: a kernel writes its own point only."""
        return False

    def without_annexed(self, schedule: Schedule) -> frozenset[str]:
        """Return every datum: no point of the internal region belongs to another rank."""
        return frozenset(datum.name for datum in schedule.data)

    def may_fill(self, loop: Loop) -> bool:
        """Return False: no kernel adds to points in the halo, and there are no built-ins."""
        return False

    def check_extent(self, loop: Loop, call: KernelCall) -> tuple[Diagnostic, ...]:
        """Return nothing: kernels over all points keep off what is not there by the mask."""
        return ()

    def knows_clean_halos(self) -> bool:
        """Return whether run-time flags record which halos are clean."""
        return self.dirty_flags

    def sums_in_order(self) -> bool:
        """Return False: there are no sums."""
        return False

    def sums_exactly(self) -> bool:
        """Return False: there are no sums."""
        return False

    def overlaps_exchanges(self) -> bool:
        """Return whether the settings say so: dl_esm_inf exchanges in one call."""
        return self.split_exchanges

    def interior(self, loop: Loop) -> Interior:
        """Return the margins that the stencils of `loop` reach over."""
        margins = Margins()
        for call in kernel_calls(loop):
            for described in call.kernel.args:
                if isinstance(described.stencil, GridStencil):
                    margins = margins.max(_reach(described.stencil))
        return Interior(margins=margins)

    def check_split(self, schedule: Schedule, loop: Loop) -> tuple[Diagnostic, ...]:
        """Return that the bounds of a loop are not one range, if a test chooses among several."""
        if not loop.parts:
            return ()
        message = f"'{loop.uid}' was fused under a test of bounds that its parts have now."
        return (Diagnostic("T037", message, place_of(loop), hint="Fuse it without a test."),)

    def exchanges_in_strips(self) -> bool:
        """Return True: fields know how their values are moved, and move strips of them."""
        return True

    def known_bounds(self, loop: Loop) -> KnownBounds | None:
        """Return what the table of GOcean has for the points of `loop` (spec 5.4)."""
        call = kernel_calls(loop)[0]
        points, field = call.kernel.points, call.kernel.args[loop.bounds_from]
        return known_bounds(points.offset, field.space, points.name) if points else None


def _reach(stencil: GridStencil) -> Margins:
    """Return how far a stencil looks to each side."""
    columns = [0, *(i for i, _ in stencil.offsets)]
    rows = [0, *(j for _, j in stencil.offsets)]
    return Margins(-min(columns), max(columns), -min(rows), max(rows))
