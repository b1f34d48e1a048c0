"""Halo rules of loops over a GOcean grid: required halo, and halo state afterwards.

The rules follow from three facts. A point of the internal region belongs to one rank. A kernel
accesses the points in its stencils, and otherwise only its own point. `go_write` does not ensure
that every point is written, because kernels for boundaries test a mask and leave other points
unchanged.

Therefore a loop needs as many halo levels as its stencils reach (spec W16: not always one). A field
that it writes has a stale halo afterwards. Values computed in the halo are not fresher than the
values from which they are computed. Only the points of its own rank must be correct, which requires
no more. dl_esm_inf does not record which halos are clean. If cleanness is unknown at compile time,
the halo is exchanged, unless the settings state that fields record it.
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
from psyclone_storage.ir.schedule import Extent, KernelCall, Loop, Reach, Schedule, names_of_data
from psyclone_storage.ir.walk import kernel_calls, place_of

_NO_NEED = HaloNeed(NOTHING, False, "at its own points only")
_OWN_POINTS = HaloLeft(NOTHING, Fresh.YES, "its halo stale: only points of each rank are computed")
_ALL_POINTS = HaloLeft(NOTHING, Fresh.YES, "its halo no fresher than what it was computed from")


@dataclass(frozen=True, slots=True)
class GoceanRules:
    """Implementation of `ir.rules.Rules` for GOcean.

    - `dirty_flags`: fields record at run time whether their halos are clean.

    - `split_exchanges`: the start and the end of an exchange are separate procedures.
    """

    dirty_flags: bool = False
    split_exchanges: bool = False

    def initial_extent(self, call: KernelCall, schedule: Schedule) -> Extent:
        """Return the initial extent of the loops around `call`.

        Sets of points other than the internal ones may include halo points.
        """
        if not schedule.distributed:
            return Extent(Reach.ALL)
        points = call.kernel.points
        internal = points is not None and points.name == INTERNAL
        return Extent(Reach.OWNED) if internal else Extent(Reach.HALO, WHOLE)

    def halo_need(self, schedule: Schedule, loop: Loop, call: KernelCall, arg: int) -> HaloNeed:
        """Return the halo depth that the stencil of the argument at `arg` requires, if any.

        The interior of a split loop accesses only owned points if its margins are wide enough.
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
        """Return that the halo of a written field is stale, with the reason."""
        return _ALL_POINTS if loop.extent.reach.in_halo else _OWN_POINTS

    def written_part(self, loop: Loop, call: KernelCall, arg: int) -> WrittenPart:
        """Return the part of a field that `loop` writes.

        Boundary points of the domain are outside of the internal region, and no neighbouring rank
        has their values. A loop over internal points therefore omits only points that are not
        stale.
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
        """Return False, because no point belongs to two ranks."""
        return False

    def shares_dofs(self, described: KernelArg) -> bool:
        """Return False, because a kernel writes only its own point."""
        return False

    def without_annexed(self, schedule: Schedule) -> frozenset[str]:
        """Return the names of all data, because no point of the internal region is shared."""
        return names_of_data(schedule.data)

    def may_fill(self, loop: Loop) -> bool:
        """Return False, because no kernel increments halo points, and built-ins write none."""
        return False

    def check_extent(self, loop: Loop, call: KernelCall) -> tuple[Diagnostic, ...]:
        """Return no diagnostics, because kernels over all points use the mask."""
        return ()

    def knows_clean_halos(self) -> bool:
        """Return whether run-time flags record which halos are clean."""
        return self.dirty_flags

    def sums_in_order(self) -> bool:
        """Return False, because the runtime computes sums."""
        return False

    def sums_exactly(self) -> bool:
        """Return False, because no step may change the loops of a sum anyway."""
        return False

    def overlaps_exchanges(self) -> bool:
        """Return whether exchanges can be split; dl_esm_inf itself exchanges in one call."""
        return self.split_exchanges

    def interior(self, loop: Loop) -> Interior:
        """Return the margins that the stencils of `loop` require."""
        margins = Margins()
        for call in kernel_calls(loop):
            for described in call.kernel.args:
                if isinstance(described.stencil, GridStencil):
                    margins = margins.max(_reach(described.stencil))
        return Interior(margins=margins)

    def check_split(self, schedule: Schedule, loop: Loop) -> tuple[Diagnostic, ...]:
        """Return a diagnostic if the loop was fused with a run-time test of its bounds."""
        if not loop.parts:
            return ()
        message = f"'{loop.uid}' was fused under a test of bounds that its parts have now."
        return (Diagnostic("T037", message, place_of(loop), hint="Fuse it without a test."),)

    def exchanges_in_strips(self) -> bool:
        """Return True, because fields can transfer strips of their values."""
        return True

    def known_bounds(self, loop: Loop) -> KnownBounds | None:
        """Return the bounds for the points of `loop` in GOcean's table (spec 5.4), or None."""
        call = kernel_calls(loop)[0]
        points, field = call.kernel.points, call.kernel.args[loop.bounds_from]
        return known_bounds(points.offset, field.space, points.name) if points else None


def _reach(stencil: GridStencil) -> Margins:
    """Return the distance that a stencil reaches in each direction."""
    columns = [0, *(i for i, _ in stencil.offsets)]
    rows = [0, *(j for _, j in stencil.offsets)]
    return Margins(-min(columns), max(columns), -min(rows), max(rows))
