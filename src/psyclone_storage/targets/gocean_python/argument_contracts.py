"""The requirements on the fields of an invoke in the runtime's vocabulary.

Metadata define for which points of the grid a kernel is written, and which of them share an index.
A program in Python has fields that know theirs: the runtime compares, where Fortran's types cannot.
"""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.infrastructures.gocean import (
    F_POINTS,
    NORTH_EAST,
    SOUTH_WEST,
    T_POINTS,
    U_POINTS,
    V_POINTS,
)
from psyclone_storage.ir.kernel import ArgKind
from psyclone_storage.ir.walk import kernel_calls
from psyclone_storage.lowering.infrastructure import LoweringContext

_POINTS = {T_POINTS: "t", U_POINTS: "u", V_POINTS: "v", F_POINTS: "f"}
_OFFSETS = {NORTH_EAST: "ne", SOUTH_WEST: "sw"}


def field_contracts(context: LoweringContext) -> Mapping[str, str]:
    """Return the words for each field of an invoke, by its name, where something is meant.

    All kernels of an invoke are for one offset, or for any. A field is checked against the points
    of each of its roles, as a field on all points suits several.
    """
    points: dict[str, set[str]] = {}
    offsets: set[str] = set()
    for call in kernel_calls(context.schedule):
        offsets.add(_OFFSETS.get(call.kernel.points.offset, "") if call.kernel.points else "")
        for position, arg in enumerate(call.kernel.args):
            if arg.kind is ArgKind.FIELD:
                kinds = points.setdefault(context.datum(call, position).name, set())
                kinds |= {_POINTS[arg.space]} if arg.space in _POINTS else set()
    offset = "".join(f" offset={one}" for one in sorted(offsets - {""}))
    return {
        name: (" ".join(f"points={kind}" for kind in sorted(kinds)) or "field") + offset
        for name, kinds in points.items()
    }
