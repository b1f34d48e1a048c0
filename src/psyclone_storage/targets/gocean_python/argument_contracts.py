"""Requirements on the fields of an invoke, which the runtime checks.

Metadata define for which grid points a kernel is written, and which points share an index. Fields
of Python programs contain this information, so the runtime can compare; Fortran types cannot.
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
    """Return the runtime's description of each field's requirements, by name.

    All kernels of an invoke use the same index offset, or any. A field is checked against the
    points of each of its roles, because a field on all points suits several.
    """
    points: dict[str, set[str]] = {}
    layered: set[str] = set()
    offsets: set[str] = set()
    for call in kernel_calls(context.schedule):
        offsets.add(_OFFSETS.get(call.kernel.points.offset, "") if call.kernel.points else "")
        for position, arg in enumerate(call.kernel.args):
            if arg.kind is ArgKind.FIELD:
                kinds = points.setdefault(context.datum(call, position).name, set())
                kinds |= {_POINTS[arg.space]} if arg.space in _POINTS else set()
                layered |= {context.datum(call, position).name} if arg.layers else set()
    offset = "".join(f" offset={one}" for one in sorted(offsets - {""}))
    return {
        name: (" ".join(f"points={kind}" for kind in sorted(kinds)) or "field")
        + (" layers" if name in layered else "")
        + offset
        for name, kinds in points.items()
    }
