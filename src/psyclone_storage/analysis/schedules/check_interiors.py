"""How far the interior of a loop looks, for the adversary of `check`: by numbers, without rules."""

from __future__ import annotations

from psyclone_storage.ir.kernel import GridStencil, KernelArg
from psyclone_storage.ir.peel import Interior, PeelSection
from psyclone_storage.ir.schedule import Loop


def interior_of(loop: Loop) -> Interior | None:
    """Return where the interior ends that a loop is; None if it is none."""
    peel = loop.peel
    return peel.interior if peel is not None and peel.section is PeelSection.INTERIOR else None


def beyond_edge(interior: Interior, described: KernelArg, reach: int, depth: int) -> int:
    """Return the level of the outermost cell that an interior looks at: the edge is at level 0.

    Cells at `depth` look at those within `reach`, points at what their stencil names.
    """
    if interior.margins is None:
        return reach - depth
    kept, stencil = interior.margins, described.stencil
    offsets = stencil.offsets if isinstance(stencil, GridStencil) else ()
    outmost = [
        max(-i - kept.west, i - kept.east, -j - kept.south, j - kept.north) for i, j in offsets
    ]
    return max(0, *outmost, 0)
