"""Requirements on the fields of an invoke, which the runtime checks.

Metadata define for which grid points a kernel is written, and which points share an index. Fields
of Python programs contain this information, so the runtime can compare; Fortran types cannot.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from math import inf

from psyclone_storage.analysis.bodies.min_layers import layer_bounds
from psyclone_storage.infrastructures.gocean import (
    F_POINTS,
    FIELD_FORMS,
    FIELD_TYPE,
    NORTH_EAST,
    REAL,
    SOUTH_WEST,
    T_POINTS,
    U_POINTS,
    V_POINTS,
    FieldForm,
)
from psyclone_storage.ir.kernel import ArgKind, GridStencil
from psyclone_storage.ir.schedule import Datum
from psyclone_storage.ir.types import DerivedType
from psyclone_storage.ir.walk import kernel_calls
from psyclone_storage.lowering.infrastructure import LoweringContext

_POINTS = {T_POINTS: "t", U_POINTS: "u", V_POINTS: "v", F_POINTS: "f"}
_OFFSETS = {NORTH_EAST: "ne", SOUTH_WEST: "sw"}


def field_contracts(context: LoweringContext) -> Mapping[str, str]:
    """Return the runtime's description of each field's requirements, by name.

    All kernels of an invoke use the same index offset, or any. A field is checked against the
    points of each of its roles, because a field on all points suits several.
    """
    layers, others = _least_layers(context)
    depths = {} if context.schedule.distributed else _halo_depths(context)
    points: dict[str, set[str]] = {}
    forms: dict[str, str] = {}
    offsets: set[str] = set()
    for call in kernel_calls(context.schedule):
        if call.kernel.is_builtin:
            continue
        offsets.add(_OFFSETS.get(call.kernel.points.offset, "") if call.kernel.points else "")
        for position, arg in enumerate(call.kernel.args):
            if arg.kind is ArgKind.FIELD:
                datum = context.datum(call, position)
                kinds = points.setdefault(datum.name, set())
                kinds |= {_POINTS[arg.space]} if arg.space in _POINTS else set()
                forms[datum.name] = _words_for(form_of(datum))
    offset = "".join(f" offset={one}" for one in sorted(offsets - {""}))
    return {
        name: (" ".join(f"points={kind}" for kind in sorted(kinds)) or "field")
        + forms[name]
        + offset
        + (f" name={name}" if name in others else "")
        + (f" halo={depths[name]}" if name in depths else "")
        + "".join(f" layers>={least}" for least in layers.get(name, ()))
        for name, kinds in points.items()
    }


def _halo_depths(context: LoweringContext) -> Mapping[str, int]:
    """Return how far kernels read fields around a point, by the names of the fields."""
    depths: dict[str, int] = {}
    for call in kernel_calls(context.schedule):
        for position, arg in enumerate(call.kernel.args):
            if isinstance(arg.stencil, GridStencil):
                name = context.datum(call, position).name
                reached = (abs(one) for offset in arg.stencil.offsets for one in offset)
                depths[name] = max(depths.get(name, 0), *reached)
    return {name: depth for name, depth in depths.items() if depth}


def _least_layers(
    context: LoweringContext,
) -> tuple[Mapping[str, Iterable[str]], Collection[str]]:
    """Return the numbers of layers that kernels need, by field, and the fields that they name.

    A number is `5`, `u+2` or `u-1/u>=3`, where `u` is the number of layers of this field. A
    condition follows the slash.
    """
    found: dict[str, dict[tuple[str, str], int]] = {}
    named: set[str] = set()
    for call in kernel_calls(context.schedule):
        for bound in layer_bounds(call):
            least, given = bound.least, bound.given
            name = context.datum(call, bound.arg).name
            other = "" if least.arg is None else context.datum(call, least.arg).name
            if least.constant <= {"": 1, name: 0}.get(other, -inf):
                continue
            condition = ""
            if given is not None and given.arg is not None:
                needed = context.datum(call, given.arg).name
                condition = f"/{needed}>={given.constant}"
                named.add(needed)
            named.add(other)
            key = other, condition
            own = found.setdefault(name, {})
            own[key] = max(own.get(key, least.constant), least.constant)
    words = {
        name: [
            f"{other}{constant:+}{condition}" if other else f"{constant}{condition}"
            for (other, condition), constant in own.items()
        ]
        for name, own in found.items()
    }
    return words, named


def form_of(datum: Datum) -> FieldForm:
    """Return the form of a field."""
    name = datum.type.name if isinstance(datum.type, DerivedType) else FIELD_TYPE
    return FIELD_FORMS.get(name, FIELD_FORMS[FIELD_TYPE])


def _words_for(form: FieldForm) -> str:
    """Return the words for layers, and for values of another type than usual."""
    layers = " layers" if form.has_layers else ""
    return layers + (f" type={form.numpy}" if form.values != REAL else "")
