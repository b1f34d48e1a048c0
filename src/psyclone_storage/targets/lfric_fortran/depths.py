"""Halo depths of fields, which may be less than that of their mesh."""

from __future__ import annotations

from collections.abc import Iterable

from psyclone_storage.ir.datum_parts import DatumPart
from psyclone_storage.ir.expr import Expr, Name, intrinsic
from psyclone_storage.ir.halo_depths import fields_of_whole_halo
from psyclone_storage.lowering.infrastructure import LoweringContext
from psyclone_storage.lowering.routine_builder import SetupSection
from psyclone_storage.targets.lfric_fortran import abi
from psyclone_storage.targets.lfric_fortran.field_values import proxy
from psyclone_storage.targets.lfric_fortran.type_bound_names import bound, setup_number


def common_halo_depth(context: LoweringContext) -> Name:
    """Return the minimum halo depth of all fields in loops through the whole halo."""
    value = least_depth(context, fields_of_whole_halo(context.schedule))
    return setup_number(context, SetupSection.MESH, ("whole halo",), "max_halo_depth", value)


def least_depth(context: LoweringContext, parts: Iterable[DatumPart]) -> Expr:
    """Return the minimum halo depth of some fields."""
    depths = [
        bound(
            proxy(context, context.schedule.datum(part.datum), part.component),
            abi.FieldMember.HALO_DEPTH,
        )
        for part in parts
    ]
    return depths[0] if len(depths) == 1 else intrinsic("min", *depths)
